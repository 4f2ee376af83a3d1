"""The C library's memory, kept from one pass to the next."""

from __future__ import annotations

import ctypes
import os
import sys

# Of glibc's mallopt: how much free memory is kept, and from which size blocks are mapped alone.
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
KEPT, ALONE = 256 << 20, 32 << 20  # the second is the most that it takes


def keep_freed_memory() -> None:
    """Let the process keep what tensors on the CPU free.

    Every pass frees and takes the same blocks. By default glibc gives large ones back, and each of
    their pages has to be faulted in again: a tenth of the time of a batch on the shipped model, a
    third off the main thread. Whoever has set glibc's own variables is left alone.
    """
    if sys.platform != "linux" or any(
        name.startswith("MALLOC_") or name == "GLIBC_TUNABLES" for name in os.environ
    ):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:
        mallopt(MMAP_THRESHOLD, ALONE)
        mallopt(TRIM_THRESHOLD, KEPT)
