"""Answers in the terminal: drawn while they denoise, core tokens in the paper's colours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from .core import BANDS, band
from .loading import Model
from .streaming import Frame

OPEN = "░"
STYLES = {
    "extremely high": "bold rgb(200,0,0)",
    "high": "bold rgb(230,100,0)",
    "medium": "bold rgb(180,130,0)",
    "low": "rgb(60,100,200)",
}
MEASURES = ("instability", "divergence")  # the largest S, or the sum of D


@dataclass
class Picture:
    """What has been seen of a run so far, position by position."""

    model: Model
    measure: str = "instability"
    frame: Frame | None = None
    steps: int = 0
    passes: int = 0
    value: list[float] = field(default_factory=list)
    core: set[int] = field(default_factory=set)

    def add(self, frame: Frame) -> None:
        """Take in one more step."""
        self.frame = frame
        self.steps, self.passes = frame.index + 1, self.passes + frame.passes
        now = frame.notes.get(self.measure, [])
        if not self.value:
            self.value = [0.0] * len(now)
        if self.measure == "instability":
            self.value = [max(old, new) for old, new in zip(self.value, now, strict=True)]
        else:
            self.value = [old + new for old, new in zip(self.value, now, strict=True)]
        self.core |= {i for i, chosen in enumerate(frame.notes.get("core", [])) if chosen}

    def text(self, begin: int, end: int) -> Text:
        """The tokens from `begin` to `end`, the core ones coloured by their band."""
        drawn = Text()
        if self.frame is None:
            return drawn
        for position in range(begin, end):
            token = self.frame.tokens[position]
            if token == self.model.mask_id:
                drawn.append(OPEN, "dim")
                continue
            piece = self.model.text.decode([token]) if self.model.text else f"{token} "
            style = STYLES[BANDS[band(self.value[position])][1]] if position in self.core else ""
            drawn.append(piece, style)
        return drawn

    def answer(self) -> Text:
        """The answer so far, up to its first end token once all before that is fixed."""
        if self.frame is None:
            return Text()
        tokens, start = self.frame.tokens, self.frame.start
        ends = (i for i in range(start, len(tokens)) if tokens[i] in self.model.end_ids)
        stop = next(ends, len(tokens))
        if self.model.mask_id in tokens[start:stop]:
            stop = len(tokens)
        return self.text(start, stop)


def legend(measure: str) -> Text:
    """What the colours mean."""
    what = "largest S" if measure == "instability" else "sum of D"
    drawn = Text(f"core tokens by {what}: ", "dim")
    for floor, name in BANDS:
        drawn.append(f"{name} ", STYLES[name])
        drawn.append(f"> {floor:g}  " if floor else "below", "dim")
    return drawn


def draw(console: Console, picture: Picture, frames: Iterable[Frame], title: str) -> None:
    """Draw a run live."""

    def now() -> RenderableType:
        count = f"{title} · step {picture.steps}, {picture.passes} passes"
        return Panel(picture.answer(), title=count, title_align="left")

    with Live(now(), console=console, refresh_per_second=12) as live:
        for frame in frames:
            picture.add(frame)
            live.update(now())


def seen(frames: Iterator[Frame], picture: Picture) -> Picture:
    """The picture of a whole run."""
    for frame in frames:
        picture.add(frame)
    return picture


def side_by_side(
    pictures: dict[str, Picture], seconds: dict[str, float], right: Mapping[str, bool] | None = None
) -> Group:
    """Several methods on one prompt: texts beside each other, then what each took."""
    texts = Table(expand=True, show_lines=True)
    for name in pictures:
        mark = "" if not right else " ✓ right" if right[name] else " ✗ wrong"
        texts.add_column(name + mark, ratio=1, overflow="fold")
    texts.add_row(*(picture.answer() for picture in pictures.values()))
    costs = Table()
    for heading in ("method", "steps", "passes", "seconds"):
        costs.add_column(heading, justify="left" if heading == "method" else "right")
    for name, picture in pictures.items():
        costs.add_row(name, str(picture.steps), str(picture.passes), f"{seconds[name]:.2f}")
    measure = next(iter(pictures.values())).measure
    return Group(texts, legend(measure), costs)
