"""A problem that trains in milliseconds and a rule, as a user's own file has them: FILE.py:decay, FILE.py:Halved."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from incenter.geometry.arrays import Weights, namespace
from incenter.geometry.rows import Rows
from incenter.methods import GramRule, Weighing
from incenter.pinn import MLP, Boundary, Box, Initial, Interior, Problem, Reference


def decay(points: int = 16, rate: float = 1.0, width: int = 4) -> Problem:
    """u_t + rate u = 0, the same everywhere in x."""
    return Problem(
        domain=Box(x=(0, 1), t=(0, 1)),
        terms={
            "residual": Interior(points, lambda u: u.t + rate * u),
            "boundary": Boundary(8, lambda u: u.x),
            "initial": Initial(8, lambda u: u - 1.0),
        },
        network=MLP(width=width, depth=1),
        reference=Reference(lambda x, t: np.exp(-rate * t) + 0 * x, x=5, t=7),
    )


@dataclass(frozen=True)
class Halved(GramRule):
    """Half of the sum."""

    name: ClassVar[str] = "halved"

    def weigh(self, rows: Rows, losses: Weights | None = None, state: Any = None, key: Any = None) -> Weighing:
        return Weighing(0.5 * namespace(rows.lengths).ones_like(rows.lengths))
