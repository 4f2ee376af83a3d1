"""A new decoding method is one piece and one line in the table.

`patient` commits a mask only when its best token has stayed the same for two steps running; the
schedule's share is committed anyway, so that decoding ends.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import torch
from torch import Tensor

import focore
from focore.canvas import Canvas
from focore.decoding.commit import Choice, Propose, at_least
from focore.decoding.guidance import Guided
from focore.decoding.method import Method
from focore.decoding.noise import Noise
from focore.decoding.options import Piece, option
from focore.decoding.schedules import Schedule


@dataclass(frozen=True)
class Patient(Piece):
    """Commit what is sure and has not changed its mind."""

    schedule: Schedule
    threshold: float = option(0.5, "how sure a position must be", low=0, high=1)

    def start(self) -> RunningPatient:
        return RunningPatient(self)


@dataclass
class RunningPatient:
    rule: Patient
    before: Tensor | None = None  # (rows, length) the tokens proposed one step ago

    def __call__(self, canvas: Canvas, guided: Guided, propose: Propose, noise: Noise) -> Choice:
        proposal = propose(canvas.open)
        before = torch.full_like(proposal.token, -1) if self.before is None else self.before
        same = proposal.token == before
        self.before = proposal.token
        ready = same & (proposal.probability > self.rule.threshold)
        return Choice(at_least(self.rule.schedule(canvas), ready, proposal, canvas), proposal)


focore.METHODS["patient"] = Method(
    name="patient",
    rule="commits masks that are sure and have not changed their mind",
    paper="none",
    build=lambda c: c.compose(commit=c.make(Patient, schedule=c.schedule)),
    pieces=(Patient,),
)


def main(source: str = "tiny") -> None:
    model = focore.load(source)
    prompt = "Ann has 4 apples and buys 3 more. How many apples does she have?"
    for method in ("confidence", "patient"):
        question = prompt if model.text else [1, 2, 3]
        answer = focore.generate(model, question, method=method, gen_length=32)
        print(f"{method}: {answer.text or answer.tokens} ({answer.steps} steps)")


if __name__ == "__main__":
    main(*sys.argv[1:])
