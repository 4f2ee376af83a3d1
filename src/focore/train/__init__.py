"""The shipped model: its problems, its tokenizer and its training."""

from .problem import Problem
from .problems import SPLITS, TASKS, held_out
from .recipe import Recipe
from .score import correct
from .train import Progress, train

__all__ = ["SPLITS", "TASKS", "Problem", "Progress", "Recipe", "correct", "held_out", "train"]
