"""The findings as figures (PNG and SVG) and as data (CSV)."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import OptionError
from .sensitivity import Sensitivity
from .summary import Mean, Words

COLOURS = {"HD": "#b5460f", "LD": "#1f5fa8"}  # apart in lightness too
CLOUD = ("#b5460f", "#1f5fa8", "#3d3d3d", "#6a3d8a")  # all readable on white
BESIDE = {"HD": -0.006, "LD": 0.006}  # intervals side by side, not one over the other
DASHES = {"HD": "-", "LD": "--"}


def check_libraries() -> None:
    """An `OptionError` if a library that draws is missing."""
    for name in ("matplotlib", "wordcloud"):
        if find_spec(name) is None:
            raise OptionError(f"the figures need {name}: pip install 'focore[plot]'")


def heatmap(found: Sensitivity, folder: Path) -> None:
    """Finding 1: change of confidence by masked share of the prompt and generated token."""
    figure, axes = _axes(max(6.0, 0.42 * len(found.pieces) + 2), 4.6)
    image = axes.imshow(found.change, cmap="PuOr", vmin=-1, vmax=1, aspect="auto")
    axes.set_xticks(range(len(found.pieces)), [_shown(p) for p in found.pieces], rotation=90)
    for label, is_dense in zip(axes.get_xticklabels(), found.dense, strict=True):
        if is_dense:
            label.set_fontweight("bold")
            label.set_color(COLOURS["HD"])
    axes.set_yticks(range(len(found.ratios)), [f"{ratio:.1f}" for ratio in found.ratios])
    axes.set(xlabel="generated token (HD bold)", ylabel="share of the prompt masked")
    axes.set_title("Change in confidence when the prompt is masked")
    figure.colorbar(image, label="change in probability")
    rows = (
        [ratio, place, piece, found.dense[place], found.change[row][place]]
        for row, ratio in enumerate(found.ratios)
        for place, piece in enumerate(found.pieces)
    )
    header = ["masked_share", "position", "token", "hd", "change"]
    _save(figure, folder, "finding1")
    _write(folder / "finding1.csv", header, rows)


def curves(ratios: Sequence[float], drops: Mapping[str, list[Mean]], folder: Path) -> None:
    """Finding 2: mean drop of confidence of HD and LD tokens."""
    figure, axes = _axes(6.4, 4.2)
    for name, means in drops.items():
        values = [point.value for point in means]
        halves = [point.half for point in means]
        aside = [ratio + BESIDE[name] for ratio in ratios]
        axes.errorbar(aside, values, halves, label=f"{name} tokens", **_style(name))
    axes.set(xlabel="share of the prompt masked", ylabel="mean drop in probability")
    answers = max(point.count for means in drops.values() for point in means)
    axes.set_title(f"Dependence on the prompt, 95% intervals over {answers} answers")
    axes.legend()
    rows = (
        [name, ratio, point.value, point.half, point.count]
        for name, means in drops.items()
        for ratio, point in zip(ratios, means, strict=True)
    )
    header = ["kind", "masked_share", "drop", "half_interval", "answers"]
    _save(figure, folder, "finding2")
    _write(folder / "finding2.csv", header, rows)


def orders(decoded: Mapping[str, list[float]], folder: Path) -> None:
    """Finding 3: share of HD and LD tokens decoded so far."""
    figure, axes = _axes(6.4, 4.2)
    for name, shares in decoded.items():
        steps = [i / (len(shares) - 1) for i in range(len(shares))]
        style = {key: value for key, value in _style(name).items() if key != "capsize"}
        axes.plot(steps, shares, label=f"{name} tokens", **style, markevery=4)
    axes.set(xlabel="share of the steps taken", ylabel="share of the tokens decoded")
    axes.set_title("Order of decoding")
    axes.legend()
    rows = (
        [name, i / (len(shares) - 1), share]
        for name, shares in decoded.items()
        for i, share in enumerate(shares)
    )
    header = ["kind", "step_share", "decoded_share"]
    _save(figure, folder, "finding3")
    _write(folder / "finding3.csv", header, rows)


def clouds(found: Words, task: str, folder: Path) -> None:
    """Word clouds of core tokens, by the automatic detector and by the linguistic one."""
    from matplotlib.colors import ListedColormap
    from wordcloud import WordCloud

    figure, axes = _axes(10, 4, columns=2)
    for place, (name, counts) in zip(
        axes, (("automatic", found.automatic), ("linguistic", found.linguistic)), strict=True
    ):
        if counts:
            cloud = WordCloud(
                width=900, height=600, background_color="white", random_state=0,
                colormap=ListedColormap(CLOUD), regexp=r"\S+", max_font_size=160,
                prefer_horizontal=1.0,  # a 6 on its side could be a 9
            )  # fmt: skip
            place.imshow(cloud.generate_from_frequencies(counts), interpolation="bilinear")
        place.set_title(f"Core tokens of {task}, {name} detector")
        place.axis("off")
    words = sorted(set(found.automatic) | set(found.linguistic))
    rows = ([word, found.automatic[word], found.linguistic[word]] for word in words)
    _save(figure, folder, f"words-{task}")
    _write(folder / f"words-{task}.csv", ["word", "automatic", "linguistic"], rows)


def _style(name: str) -> dict[str, Any]:
    marker = "o" if name == "HD" else "s"
    return {"color": COLOURS[name], "linestyle": DASHES[name], "marker": marker, "capsize": 3}


def _shown(piece: str) -> str:
    return piece.replace("\n", "\\n").replace("$", r"\$").strip() or "␣"


def _axes(width: float, height: float, columns: int = 1) -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot.subplots(1, columns, figsize=(width, height), layout="constrained")


def _save(figure: Any, folder: Path, name: str) -> None:
    from matplotlib import pyplot

    for kind in ("png", "svg"):
        figure.savefig(folder / f"{name}.{kind}", dpi=150)
    pyplot.close(figure)


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
