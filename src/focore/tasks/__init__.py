"""Benchmarks: lm-evaluation-harness task files, their data, their scorers, and the sandbox."""
