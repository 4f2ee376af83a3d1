"""The table of methods: the only place that knows them by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..errors import unknown
from . import scores
from .acfg import Unsure
from .commit import Factor, Release, Threshold
from .focore import Burst, Core
from .guidance import Contrast, GivenText
from .klass import Stable
from .method import Context, Method
from .policy import Policy
from .prophet import Clear
from .schedules import Schedule
from .scores import Score
from .soar import Soar
from .sparing import Sparing
from .words import Words, detector


def order(score: Score) -> Callable[[Context], Policy]:
    """Methods that differ in which mask comes first."""
    return lambda c: c.compose(score=score)


def committing(piece: type) -> Callable[[Context], Policy]:
    """Methods that differ in how many masks a step commits."""
    return lambda c: c.compose(commit=c.make(piece, schedule=c.schedule))


def hiding(piece: type) -> Callable[[Context], Policy]:
    """Methods that differ in what the second pass may not see."""
    return lambda c: c.compose(c.make(Contrast, hide=c.make(piece)))


def words(high: bool) -> Callable[[Context], Policy]:
    """Hide tokens by the linguistic rule."""

    def build(c: Context) -> Policy:
        found = detector(c.model.text, c.model.denoiser.vocabulary)
        return c.compose(c.make(Contrast, hide=Words(found, high)))

    return build


def core_contrast(c: Context, core: Core, most: Schedule) -> Contrast:
    """The contrast of FoCore, sparing if asked for; `most` is what a step may commit."""
    sampler = replace(c.sampler(scores.confidence), temperature=0.0)
    sparing = c.make(Sparing, sampler=sampler, most=most)
    spare = sparing if sparing.contrast == "auto" else None
    contrast: Contrast = c.make(Contrast, hide=core, spare=spare)
    return contrast


def focore(c: Context) -> Policy:
    """FoCore, committing what the schedule says."""
    return c.compose(core_contrast(c, c.make(Core), c.schedule))


def focore_a(c: Context) -> Policy:
    """FoCore, with bursts once it has converged."""
    core = c.make(Core, track_open=c.options["monitor"] == "undecoded")
    burst = c.make(Burst, schedule=c.schedule)
    return c.compose(core_contrast(c, core, burst.most), burst)


LLADA = "Large Language Diffusion Models (LLaDA), arXiv 2502.09992"
DREAM = "Dream 7B: Diffusion Large Language Models, arXiv 2508.15487"
FAST = "Fast-dLLM, arXiv 2505.22618"
FOCORE = "Focus on the Core: Empowering Diffusion Large Language Models by Self-Contrast"
CONTRAST = "l = l_given + w (l_given - l_hidden)"

TABLE = (
    Method(
        name="random",
        rule="commits masks in random order",
        paper=LLADA,
        build=order(scores.random),
        formula="score ~ U(0, 1)",
    ),
    Method(
        name="confidence",
        rule="commits the masks whose best token is most probable",
        paper=LLADA,
        build=order(scores.confidence),
        formula="score = p(token)",
        differs="Probabilities are taken in float32 at least, ties go to the smaller position, and "
        "a predicted [MASK] is never written.",
    ),
    Method(
        name="margin",
        rule="commits the masks whose best token leads the second most",
        paper=DREAM,
        build=order(scores.margin),
        formula="score = p(token) - p(best other)",
    ),
    Method(
        name="entropy",
        rule="commits the masks of lowest entropy",
        paper=DREAM,
        build=order(scores.entropy),
        formula="score = sum p log p",
        differs="One public baseline commits the highest entropy first, a sign error.",
    ),
    Method(
        name="greedy",
        rule="the order of `margin`",
        paper="FoCore's paper lists Greedy beside Confidence without defining it",
        build=order(scores.margin),
        formula="score = p(token) - p(best other)",
        differs="What the paper ran is not known; this is our reading.",
    ),
    Method(
        name="origin",
        rule="releases every mask with probability 1 - s/t on Dream's grid of times",
        paper=DREAM,
        build=lambda c: c.compose(commit=Release()),
        formula="P(release at t) = 1 - s/t",
        differs="With blocks, each block has a grid of its own.",
        whole=True,
    ),
    Method(
        name="cfg",
        rule="contrasts with a pass that does not see the prompt",
        paper="Classifier-Free Diffusion Guidance, arXiv 2207.12598, as in LLaDA's code",
        build=hiding(GivenText),
        pieces=(Contrast,),
        passes="2",
        formula=CONTRAST + ", hidden: all given text",
        differs="The public code crashes without an attention mask. Fixed text in the answer "
        "counts as given.",
    ),
    Method(
        name="acfg",
        rule="contrasts with a pass that does not see the least sure generated tokens",
        paper="Adaptive Classifier-Free Guidance, arXiv 2505.20199",
        build=hiding(Unsure),
        pieces=(Contrast, Unsure),
        passes="2 (1 while nothing has been generated)",
        formula=CONTRAST
        + ", hidden: the floor(ratio n) least sure of n generated tokens, at least 1",
        differs="No official code is public. A token's confidence is the largest probability at "
        "its position, not that of the token there.",
    ),
    Method(
        name="klass",
        rule="commits all masks that are sure and whose prediction has stopped moving",
        paper="KLASS: KL-Adaptive Stability Sampling, arXiv 2511.05664",
        build=committing(Stable),
        pieces=(Stable,),
        formula="KL(p_t || p_{t-1}) < kl_threshold in the last `history_length` steps of the "
        "block, and p > confidence_threshold",
        differs="The rule of the LLaDA code on both backbones; the Dream code has no blocks and "
        "compares p >= threshold. Each step commits at least its share of the budget, where the "
        "public code may leave masks.",
    ),
    Method(
        name="prophet",
        rule="fills everything once the answer region is clear",
        paper="Prophet: Diffusion Language Models Know the Answer Before Decoding, "
        "arXiv 2508.19982",
        build=committing(Clear),
        pieces=(Clear,),
        formula="mean of (best - second logit) over the region >= threshold of the phase",
        differs="The region's length is an option, and the region begins right after the fixed "
        "text. Without a region there is no early exit.",
        caches=False,
    ),
    Method(
        name="threshold",
        rule="commits the surest mask and every other at least as sure as the threshold",
        paper=FAST,
        build=committing(Threshold),
        pieces=(Threshold,),
        formula="p >= threshold",
        differs="Each step commits at least its share of the budget, and no pass is spent on a "
        "block that is already done. With a cache on Dream the position before the block is fed "
        "too, instead of committing the block's first token blindly.",
    ),
    Method(
        name="factor",
        rule="commits as many of the surest masks as their joint doubt allows",
        paper=FAST,
        build=committing(Factor),
        pieces=(Factor,),
        formula="the longest run of ranks r with (r + 1)(1 - p_r) <= factor",
        differs="A public loop also commits the last rank when it is the first to fail.",
    ),
    Method(
        name="soar",
        rule="searches over positions with a beam where unsure, commits several where sure",
        paper="Search or Accelerate (SOAR), arXiv 2602.10953; taken to be the paper's Hybrid",
        build=lambda c: c.make(Soar, sampler=c.sampler(scores.confidence), schedule=c.schedule),
        pieces=(Soar,),
        passes="1 per beam",
        formula="beam score = sum of the probabilities committed",
        differs="The rule of the LLaDA code on both backbones; the Dream code averages scores, and "
        "its release cannot run. Written tokens may change while beams compete.",
        caches=False,
        revises=True,
    ),
    Method(
        name="mask_hd",
        rule="contrasts with a pass that does not see nouns, names and numbers",
        paper=FOCORE,
        build=words(high=True),
        pieces=(Contrast,),
        passes="2",
        formula=CONTRAST + ", hidden: written tokens with a noun, proper noun, number or entity",
        differs="No code of the paper is public.",
    ),
    Method(
        name="mask_ld",
        rule="contrasts with a pass that sees nothing but nouns, names and numbers",
        paper=FOCORE,
        build=words(high=False),
        pieces=(Contrast,),
        passes="2",
        formula=CONTRAST + ", hidden: all other written tokens",
        differs="No code of the paper is public.",
    ),
    Method(
        name="focore",
        rule="contrasts with a pass that does not see the tokens whose predictions shift most",
        paper=FOCORE,
        build=focore,
        pieces=(Contrast, Core, Sparing),
        passes='2 (1 in a sure step with contrast="auto")',
        formula="D = JS over the top k tokens of (p_t, p_{t-1}); S <- a S + (1 - a) D; "
        + CONTRAST
        + ", hidden: the K written positions of largest S",
        differs="No code of the paper is public; docs/paper.md says which reading is ours.",
    ),
    Method(
        name="focore_a",
        rule="FoCore that commits more at once when the shifts have died down",
        paper=FOCORE,
        build=focore_a,
        pieces=(Contrast, Core, Sparing, Burst),
        passes='2 (1 in a sure step with contrast="auto")',
        formula="as FoCore; converged when the mean of S < tau",
        differs="No code of the paper is public; `burst` and `monitor` offer its readings.",
    ),
)

METHODS: dict[str, Method] = {method.name: method for method in TABLE}
ALIASES = {"hybrid": "soar"}


def find(name: str) -> Method:
    """The method of that name or alias."""
    method = METHODS.get(ALIASES.get(name, name))
    if method is None:
        raise unknown("method", name, [*METHODS, *ALIASES])
    return method
