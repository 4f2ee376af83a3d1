"""A method: what users are told of it, and how it is built from pieces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import OptionError
from ..loading import Model
from . import scores
from .commit import Commit, TopK
from .guidance import Guidance, Plain
from .options import Option, Settings, options_of, refuse_unknown
from .policy import Compose, Policy
from .sampler import Sampler
from .schedules import Schedule, dream, even
from .scores import Score

SCHEDULES: dict[str, Schedule] = {"even": even, "dream": dream}


@dataclass(frozen=True)
class Context:
    """What a method is built from: the model, the common settings, its own options."""

    model: Model
    settings: Settings
    options: Mapping[str, Any]

    @property
    def schedule(self) -> Schedule:
        return SCHEDULES[self.settings.schedule]

    def make(self, piece: type, **fixed: Any) -> Any:
        """A piece with the user's options, and what is not an option."""
        chosen = {name: self.options[name] for name in options_of(piece)}
        return piece(**chosen, **fixed)

    def sampler(self, score: Score) -> Sampler:
        settings = self.settings
        return Sampler(
            score,
            self.model.mask_id,
            settings.temperature,
            settings.top_p,
            settings.top_k,
            self.model.end_ids if settings.suppress_eos else (),
            self.model.end_ids if settings.defer_eos else (),
        )

    def compose(
        self,
        guidance: Guidance | None = None,
        commit: Commit | None = None,
        score: Score = scores.confidence,
    ) -> Compose:
        """A policy; what is not named is plain."""
        sampler = self.sampler(score)
        return Compose(guidance or Plain(), sampler, commit or TopK(self.schedule))


@dataclass(frozen=True)
class Method:
    """A decoding method as users see it, and how it is built."""

    name: str
    rule: str
    paper: str
    build: Callable[[Context], Policy]
    pieces: tuple[type, ...] = ()
    passes: str = "1"
    formula: str = ""
    differs: str = ""
    caches: bool = True
    whole: bool = False  # without blocks unless asked for
    revises: bool = False  # what a step shows may change until the end

    @property
    def options(self) -> dict[str, Option]:
        """Its own options, by name."""
        return options_of(*self.pieces)

    def policy(self, model: Model, settings: Settings, given: Mapping[str, Any]) -> Policy:
        """The method with the options given, all others at their defaults."""
        refuse_unknown(given, self.options, f"method {self.name!r}")
        if settings.cache != "none" and not self.caches:
            raise OptionError(
                f"method {self.name!r} does not work with cache={settings.cache!r}: it looks at "
                "positions that a cached pass does not predict; use cache='none'"
            )
        chosen = {name: given.get(name, item.default) for name, item in self.options.items()}
        return self.build(Context(model, settings, chosen))
