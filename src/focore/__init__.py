"""FoCore: decoding for diffusion language models.

    import focore

    model = focore.load("GSAI-ML/LLaDA-8B-Instruct")
    answer = focore.generate(model, "What is 17 + 25?", method="focore")
    print(answer.text)

Names are imported when they are first used, so that `import focore` does not wait for PyTorch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import CheckpointError, DecodingError, OptionError
from .version import __version__

if TYPE_CHECKING:
    from .core import CoreTokens, core_tokens
    from .decoding.methods import METHODS
    from .generation import Completion, Infilled, generate, infill
    from .loading import Model, load
    from .streaming import Frame, stream

_HOMES = {
    "METHODS": "decoding.methods",
    "Completion": "generation",
    "CoreTokens": "core",
    "Frame": "streaming",
    "Infilled": "generation",
    "Model": "loading",
    "core_tokens": "core",
    "generate": "generation",
    "infill": "generation",
    "load": "loading",
    "stream": "streaming",
}

__all__ = [
    "METHODS",
    "CheckpointError",
    "Completion",
    "CoreTokens",
    "DecodingError",
    "Frame",
    "Infilled",
    "Model",
    "OptionError",
    "__version__",
    "core_tokens",
    "generate",
    "infill",
    "load",
    "stream",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'focore' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
