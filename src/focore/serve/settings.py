"""What a server is started with: plain values, so that they can be sent to another process."""

from __future__ import annotations

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
    name: str | None = None  # what clients call the model
    method: str = "focore"  # of a request that names none
    options: dict[str, Any] = field(default_factory=dict)  # of a request that says nothing else
    limits: Limits = field(default_factory=Limits)
    api_key: str | None = field(default=None, repr=False)
    cors: tuple[str, ...] = ()  # origins whose pages may call
    hosts: tuple[str, ...] = ()  # names it may be called by; none: any
    log_prompts: bool = False

    @property
    def served(self) -> str:
        """The model's name for clients, never a path of this machine."""
        return self.name or (
            Path(self.model).name if Path(self.model).expanduser().is_dir() else self.model
        )
