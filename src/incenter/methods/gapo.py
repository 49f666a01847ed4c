r"""GAPO: the shortest vector in the hull of gradients divided by a power of their norms.

    minimise  || sum_i alpha_i t_i ||_2   over the simplex,   t_i = g_i / |g_i|^rho;   update = sum_i alpha_i t_i   (1)

This is MGDA on vectors of norm |g_i|^(1 - rho), and is solved as that, by the same row-scaled QP. `exponent` is rho:
0 is MGDA; 1 gives the direction of the Chebyshev centre, unchanged when a loss is scaled, with length r*; with 2 the
update grows as the inverse of the gradients. Where all weights are positive, g_i . update is proportional to |g_i|^rho.
Zero rows are dropped; the update is 0 exactly at Pareto-stationary points.
Reference: Li et al., Gradient-Adaptive Policy Optimization: Towards Multi-Objective Alignment of Large Language Models,
ACL 2025.
Differs from it: solved exactly; the length, on which the paper is silent, is that of (1).
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from incenter.geometry.arrays import Weights, namespace
from incenter.geometry.errors import IncenterError
from incenter.geometry.rows import Rows, largest_exponent
from incenter.methods.mgda import MGDA
from incenter.methods.rule import GramRule, Weighing


@dataclass(frozen=True)
class GAPO(GramRule):
    """Minimum-norm point of the hull of rescaled gradients.

    Parameters
    ----------
    exponent
        rho, at least 0. The paper uses 1, which did best there on average, and 2.
    """

    name: ClassVar[str] = "gapo"
    exponent: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.exponent) and self.exponent >= 0):
            raise IncenterError(
                f"`exponent` must be a number >= 0; got {self.exponent!r}. The paper's choices are 1 and 2."
            )

    def weigh(self, rows: Rows, losses: Weights | None = None, state: Any = None, key: Any = None) -> Weighing:
        xp = namespace(rows.cosines)
        norms = rows.relative_norms
        safe = xp.where(norms > 0, norms, 1.0)
        tempered = xp.where(rows.live, safe ** (1.0 - self.exponent), 0.0)
        found = MGDA().weigh(rows._replace(lengths=tempered, exponents=xp.zeros_like(rows.exponents)))
        # (1) has degree 1 - rho in the gradients, so the power of two taken out of the norms does not cancel by itself.
        shared = xp.where(xp.any(rows.live), largest_exponent(xp, rows), 0)
        divisor = safe**self.exponent * xp.exp2(self.exponent * shared)
        return found._replace(weights=xp.where(found.weights > 0, found.weights / divisor, 0.0))
