"""What a server is started with: plain values, so that they can be sent to another process."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .limits import Limits


@dataclass(frozen=True)
class ServeSettings:
    """A server's model, defaults, limits and manners."""

    model: str = "tiny"
    dtype: str = "auto"
    device: str = "auto"
    revision: str | None = None
    name: str | None = None  # what clients call the model, if not by its own name
    method: str = "focore"  # of a request that names none
    options: dict[str, Any] = field(default_factory=dict)  # of a request that says nothing else
    limits: Limits = field(default_factory=Limits)
    api_key: str | None = field(default=None, repr=False)
    cors: tuple[str, ...] = ()  # origins whose pages may call
    hosts: tuple[str, ...] = ()  # names it may be called by; none: any
    log_prompts: bool = False
    served: str = field(init=False)  # the model's name for clients, never a path of this machine

    def __post_init__(self) -> None:
        folder = Path(self.model).expanduser()
        own = Path(os.path.abspath(folder)).name if folder.is_dir() else self.model
        object.__setattr__(self, "served", self.name or own)
