"""Small sets of gradients with known answers: the paper's two worked examples, and a cone to look at.

The paper gives no loss values; they are 1 here, for the rules that ask for some.
"""

import math
from dataclasses import dataclass

import numpy as np

from incenter.geometry.arrays import Matrix, Weights
from incenter.geometry.errors import IncenterError


@dataclass(frozen=True)
class Gradients:
    """One gradient per row, a name for each, and what else is known of them."""

    gradients: Matrix  # (m, n)
    names: tuple[str, ...]
    title: str
    losses: Weights | None = None
    step: int | None = None


def toy() -> Gradients:
    """The paper's comparison of methods: three gradients of lengths 5, 3 and 1, of which two bind."""
    rows = [(5.0, 0.0, 0.0), (0.0, 3.0, 0.0), (1 / 5, 14 / 15, 2 * math.sqrt(5) / 15)]
    return Gradients(np.array(rows), ("g1", "g2", "g3"), "the paper's toy example", np.ones(3))


def worked() -> Gradients:
    """The paper's example against equal cosines: asking for equality costs every loss some of its descent."""
    rows = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (2 / 3, 2 / 3, 1 / 3)]
    return Gradients(np.array(rows), ("g1", "g2", "g3"), "the paper's example (2, 2, 1)/3", np.ones(3))


def cone() -> Gradients:
    """Five gradients in three dimensions, three of which bind: a cone with five facets, two away from the ball."""
    axis = np.array([0.2, 0.3, 1.0]) / np.linalg.norm([0.2, 0.3, 1.0])
    across = np.cross(axis, [0.0, 0.0, 1.0])
    across /= np.linalg.norm(across)
    upward = np.cross(axis, across)
    turns = np.radians([10.0, 140.0, 268.0, 78.0, 203.0])
    heights = np.array([0.40, 0.40, 0.40, 0.49, 0.52])  # cosines to the axis; the least three bind
    outward = np.cos(turns)[:, None] * across + np.sin(turns)[:, None] * upward
    rows = heights[:, None] * axis + np.sqrt(1 - heights**2)[:, None] * outward
    return Gradients(rows, ("g1", "g2", "g3", "g4", "g5"), "five losses, three of which bind")


EXAMPLES = {"toy": toy, "worked": worked, "cone": cone}


def by_name(name: str) -> Gradients:
    """The example called `name`."""
    if name not in EXAMPLES:
        raise IncenterError(f"There is no example called {name!r}. There are: {', '.join(EXAMPLES)}.")
    return EXAMPLES[name]()
