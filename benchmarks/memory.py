"""Peak memory of a decode beyond the weights, each measured in a process of its own.

    python -m benchmarks.memory SHAPE METHOD ours|naive

prints bytes. The peak is the kernel's (VmHWM), set back before the run. `allocated` counts what
tensors take instead, within one process.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

from torch.profiler import ProfilerActivity, profile

from .shapes import BLOCK, LENGTH, decoders

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def resident(field: str) -> int:
    """A field of the process's status in bytes: VmRSS now, VmHWM at its highest."""
    for line in STATUS.read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"{STATUS} has no {field}")


def reset_peak() -> None:
    RESET.write_text("5")


def grown(call: Callable[[], object]) -> int:
    """Bytes that the process takes at most during a call, beyond what it has before."""
    before = resident("VmRSS")
    reset_peak()
    call()
    return resident("VmHWM") - before


def peak(shape: str, method: str, who: str, steps: int = LENGTH // BLOCK) -> int:
    """Bytes of a run beyond what stands before it, measured here; a step a block shows the peak."""
    call = decoders(shape, method, steps)[who]
    decoders("small", method, steps)[who]()  # what only the first run takes: code, threads
    return grown(call)


def peak_apart(shape: str, method: str, who: str) -> int:
    """`peak`, in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.memory", shape, method, who]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout)


def allocated(call: Callable[[], object]) -> int:
    """The most bytes that tensors made by `call` held at one time."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as watched:
        call()
    results = watched.profiler.kineto_results
    events = [e for e in results.events() if e.name() == "[memory]"]
    events.sort(key=lambda event: event.start_ns())
    return max(accumulate((event.nbytes() for event in events), initial=0))


if __name__ == "__main__":
    print(peak(*sys.argv[1:4]))
