"""The same answers from workers on a Ray cluster: one model each, work in small pieces.

A piece whose worker dies is given to another, and a new worker takes the place of the dead one.
Answers do not depend on who computes them, so the results are those of one machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from ..errors import OptionError
from ..generation import Plan
from ..joining import join
from .answering import Answer, Job, answers

PATIENCE = 5  # workers that may die before the run gives up


class Worker:
    """A model on some machine, answering pieces of work."""

    def __init__(self, source: str, dtype: str, device: str, revision: str | None):
        from ..loading import load

        self.model = load(source, dtype=dtype, device=device, revision=revision)

    def answer(
        self, method: str, seed: int, options: dict[str, Any], jobs: list[Job]
    ) -> list[tuple[int, Answer]]:
        plan = Plan.make(self.model, method, seed, options)
        return list(answers(plan, jobs, len(jobs)))


@dataclass
class Cluster:
    """Workers on a Ray cluster: that of RAY_ADDRESS, or one made here."""

    source: str
    workers: int | None = None
    dtype: str = "auto"
    device: str = "auto"
    revision: str | None = None
    piece: int = 8  # jobs handed out at a time

    def __enter__(self) -> Cluster:
        self.ray: Any = join("--workers ray", processes=self.workers or 0)
        self.idle = [self._worker() for _ in range(self.workers or self._fitting())]
        self.died = 0
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.idle = []
        self.ray.shutdown()

    def _fitting(self) -> int:
        """One worker for each GPU, or for each machine if there is none."""
        gpus = int(self.ray.cluster_resources().get("GPU", 0))
        return gpus or sum(bool(node["Alive"]) for node in self.ray.nodes())

    def _worker(self) -> Any:
        resources = {"num_gpus": 1} if self.ray.cluster_resources().get("GPU") else {"num_cpus": 1}
        made = self.ray.remote(**resources)(Worker)
        return made.remote(self.source, self.dtype, self.device, self.revision)

    def __call__(self, plan: Plan, jobs: Sequence[Job]) -> Iterator[tuple[int, Answer]]:
        """Hand out pieces to idle workers until all are answered."""
        order = sorted(range(len(jobs)), key=lambda i: len(jobs[i].prompt), reverse=True)
        waiting = [order[i : i + self.piece] for i in range(0, len(order), self.piece)]
        busy: dict[Any, tuple[Any, list[int]]] = {}
        while waiting or busy:
            while waiting and self.idle:
                worker, piece = self.idle.pop(), waiting.pop(0)
                busy[self._ask(worker, plan, [jobs[i] for i in piece])] = worker, piece
            (done,), _ = self.ray.wait(list(busy), num_returns=1)
            worker, piece = busy.pop(done)
            found = self._result(done)
            if found is None:
                waiting.insert(0, piece)
                self.idle.append(self._worker())
                continue
            self.idle.append(worker)
            for place, answer in found:
                yield piece[place], answer

    def _ask(self, worker: Any, plan: Plan, jobs: list[Job]) -> Any:
        return worker.answer.remote(plan.method.name, plan.seed, plan.options, jobs)

    def _result(self, done: Any) -> list[tuple[int, Answer]] | None:
        """The answers of a piece; None if its worker died."""
        try:
            found: list[tuple[int, Answer]] = self.ray.get(done)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self.ray.exceptions.RayActorError:
            self.died += 1
            if self.died > PATIENCE:
                raise OptionError(f"{self.died} Ray workers have died; see Ray's logs") from None
            return None
        return found


def parse_workers(said: str) -> int | None:
    """The number in `ray` or `ray:N`; none means as many as fit."""
    name, colon, count = said.partition(":")
    if name != "ray" or (colon and not (count.isdigit() and int(count) > 0)):
        raise OptionError(f"--workers {said!r} is not allowed; it must be ray or ray:N")
    return int(count) if colon else None
