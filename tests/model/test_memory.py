"""Passes find the memory of those before them."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import pytest

glibc = pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "gnu_get_libc_version"),
    reason="glibc only",
)
# Page faults of a pass over 16 rows of 64 tokens, once the first ones are done.
FAULTS = """
import resource, threading, torch, focore
transformer = focore.load("tiny").denoiser.transformer
tokens = torch.full((16, 64), 7)
def passes(count):
    for _ in range(count):
        transformer(tokens)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def run():
    with torch.inference_mode():
        print((-passes(3) + passes(5)) / 5)
thread = threading.Thread(target=run)  # as in a server, off the main thread
thread.start()
thread.join()
"""


def faults(**environment: str) -> float:
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("MALLOC_", "GLIBC_"))}
    made = subprocess.run(
        [sys.executable, "-c", FAULTS],
        env={**plain, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(made.stdout)


@glibc
def test_a_pass_faults_in_no_pages_that_it_had_before() -> None:
    assert faults() < 200


@glibc
def test_whoever_tunes_glibc_themselves_is_left_alone() -> None:
    assert faults(MALLOC_MMAP_THRESHOLD_="131072") > 2000
