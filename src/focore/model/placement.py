"""Where a model lives and in which precision."""

from __future__ import annotations

import torch

from ..errors import OptionError, unknown

DTYPES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "float64": torch.float64,
}


def choose_device(device: str | torch.device) -> torch.device:
    """The device asked for, or the best there is."""
    if device == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        chosen = torch.device(device)
        count = torch.get_device_module(chosen).device_count()
    except RuntimeError:
        raise OptionError(f"unknown device {device!r}; use auto, cpu, cuda or mps") from None
    if (chosen.index or 0) >= count:
        raise OptionError(f"device {str(chosen)!r} is not available here; use auto or cpu")
    return chosen


def choose_dtype(dtype: str, stored: torch.dtype, device: torch.device) -> torch.dtype:
    """The dtype asked for; `auto` keeps the stored one, except float16 on a CPU, which is slow."""
    if dtype != "auto":
        if dtype not in DTYPES:
            raise unknown("dtype", dtype, ["auto", *DTYPES])
        return DTYPES[dtype]
    return torch.float32 if stored == torch.float16 and device.type == "cpu" else stored
