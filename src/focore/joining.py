"""Joining a Ray cluster: the one that is named, or a new one on this machine."""

from __future__ import annotations

import logging
import os
import sys
from importlib import import_module
from typing import Any

from .errors import OptionError


def join(what: str, address: str | None = None, processes: int = 0) -> Any:
    """Ray, connected to the cluster at `address` or RAY_ADDRESS, or to one made here.

    `what` is the option that wants it. A cluster made here has a processor for each of `processes`,
    however few the machine has, and takes nobody's orders without its token.
    """
    address = named(address)
    where = {"address": address} if address else _here(processes)
    try:
        ray: Any = import_module("ray")
    except ImportError:
        raise OptionError(f"{what} needs Ray: pip install 'focore[ray]'") from None
    if ray.is_initialized():
        return ray
    try:
        ray.init(**where, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, ValueError):  # the second: it is no address
        raise OptionError(f"no Ray cluster answers at {address}") from None
    return ray


def named(address: str | None) -> str | None:
    """The address of the cluster that is there already, if one is named."""
    return address or os.environ.get("RAY_ADDRESS")


def _here(processes: int) -> dict[str, Any]:
    """How to make a cluster on this machine."""
    if "ray" not in sys.modules:  # Ray reads these when it is imported
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    enough = {"num_cpus": max(os.cpu_count() or 1, processes)} if processes else {}
    # Without "local" Ray joins whatever cluster it finds, which is not ours to take down.
    return {"address": "local", "include_dashboard": False, **enough}
