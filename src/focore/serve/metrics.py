"""What the server counts, in Prometheus' format."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import (
    GC_COLLECTOR,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
ROWS = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """The counts of one server; each has a registry of its own."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        registry.register(GC_COLLECTOR)
        self.requests = Counter(
            "focore_requests", "requests answered", ["path", "status"], registry=registry
        )
        self.seconds = Histogram(
            "focore_request_seconds", "until the last byte", ["path"], buckets=SECONDS,
            registry=registry,
        )  # fmt: skip
        self.first = Histogram(
            "focore_first_text_seconds", "until the first final text of a stream",
            buckets=SECONDS, registry=registry,
        )  # fmt: skip
        self.waited = Histogram(
            "focore_waiting_seconds", "a row's time in the queue", buckets=SECONDS,
            registry=registry,
        )  # fmt: skip
        self.step_seconds = Histogram(
            "focore_step_seconds", "one step of rows side by side", buckets=SECONDS,
            registry=registry,
        )  # fmt: skip
        self.step_rows = Histogram(
            "focore_step_rows", "rows side by side in a step", buckets=ROWS, registry=registry
        )
        self.tokens = Counter(
            "focore_tokens", "tokens of prompts and answers", ["kind"], registry=registry
        )
        self.rows = Counter(
            "focore_rows", "rows by how they ended", ["end"], registry=registry
        )  # done, cancelled, failed, stopped
        self.passes = Counter("focore_passes", "forward passes of rows", registry=registry)
        self.late = Counter(
            "focore_steps_after_cancel", "steps that a row took after its client had gone",
            registry=registry,
        )  # fmt: skip

    def watch(self, name: str, about: str, read: Callable[[], float]) -> None:
        """A value that is read when it is asked for."""
        Gauge(name, about, registry=self._registry).set_function(read)

    def value(self, name: str, labels: dict[str, str]) -> float:
        """What a count has come to."""
        return self._registry.get_sample_value(name, labels) or 0.0

    def text(self) -> bytes:
        return generate_latest(self._registry)
