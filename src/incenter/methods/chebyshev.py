r"""Chebyshev: the direction whose worst normalised decrease is largest.

    v = argmax { min_i u_i . v : ||v||_q <= 1 },   u_i = g_i / ||g_i||_p,   1/p + 1/q = 1                           (1)
    update = (sum_i g_i . v) v

The value r* is the radius of the largest l_q ball around v inside the cone of common descent; see
`incenter.chebyshev_center`, which does the work. For p = 2 the update is a combination of the gradients with
nonnegative weights c alpha_i / |g_i|, exact also from the Gram matrix alone; for other p it is none, and `weights` is
None. The direction does not change when a loss is scaled. Zero rows are dropped; at a Pareto-stationary point the
update is 0 and the status says so. With `iterations` the dual is solved by Frank-Wolfe instead, as the paper does where
it has no formula: from the centre of the simplex, until the gap, which is reported, is at most `tolerance`.
Reference: Yoon, Bae, Ho-Nguyen and Lee, Chebyshev Center-Based Direction Selection for Multi-Objective Optimization and
Training PINNs, (P), (D) and Algorithm 1.
Differs from it: the dual is solved exactly for any number of losses, and the answer is certified.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from incenter.geometry.arrays import (
    Matrix,
    Scalar,
    Weights,
    compiled,
    epsilon,
    from_small,
    is_jax,
    is_traced,
    namespace,
    to_small,
    wide,
)
from incenter.geometry.center import ChebyshevCenter, certified, chebyshev_center
from incenter.geometry.errors import IncenterError, read_gradients, read_p
from incenter.geometry.euclidean import minimum_norm_weights
from incenter.geometry.frank_wolfe import descend
from incenter.geometry.long_rows import inner_products
from incenter.geometry.rows import Rows, largest_exponent, norms_of, read_rows, reciprocal, scale_rows
from incenter.geometry.status import Status
from incenter.methods.lengths import check_length, length_of
from incenter.methods.rule import GramRule, Update, Weighing, least_cosine, made_known, nothing_to_combine


@dataclass(frozen=True)
class Chebyshev(GramRule):
    """Centre of the dual cone: the unit direction whose worst normalised decrease is largest.

    Parameters
    ----------
    p
        The norm in which gradients are measured, from 1 to `math.inf`.
    length
        What the direction is multiplied by: "projection", the inner product of v with the summed gradient, that
        is sum_i |g_i|_p (u_i . v); or the same with each of the norms |g_i|_p replaced by one number made of
        all: "minimum", "maximum", "arithmetic", "geometric" or "harmonic" mean.
    iterations
        None: exact. A number: at most so many Frank-Wolfe steps from equal weights, for 1 < p < inf.
    tolerance
        Frank-Wolfe ends when its gap, which is between the bounds on r*, is at most this.
    """

    name: ClassVar[str] = "chebyshev"
    p: float = 2.0
    length: str = "projection"
    iterations: int | None = None
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", read_p(self.p))
        check_length(self.length)
        if self.iterations is not None and self.p in (1.0, math.inf):
            raise IncenterError(
                f"Frank-Wolfe needs 1 < p < inf, where the dual is smooth; got p={self.p}: leave out `iterations`."
            )

    @property
    def gram_only(self) -> bool:
        return self.p == 2 and self.iterations is None

    def combine(
        self, G: Matrix, losses: Weights | None = None, state: Any = None, key: Any = None, **extra: Any
    ) -> Update:
        G = read_gradients(G)
        if G.shape[0] == 0:
            return nothing_to_combine(G, state)
        if self.p in (1.0, math.inf) or not is_jax(namespace(G)) or is_traced(G):
            return _combine(G, rule=self)
        return made_known(compiled(_combine, static=("rule",))(G, rule=self))

    def weigh(self, rows: Rows, losses: Weights | None = None, state: Any = None, key: Any = None) -> Weighing:
        """From the Gram matrix alone, which knows r* only to the root of its rounding: STATIONARY below that."""
        if not self.gram_only:
            raise IncenterError(
                f"Chebyshev needs the gradients themselves unless p=2 and it is exact; got p={self.p}, "
                f"iterations={self.iterations}. Call combine(G)."
            )
        xp = namespace(rows.cosines)
        alpha, solved = minimum_norm_weights(rows.cosines, rows.live)
        margins = rows.cosines @ alpha
        squared = alpha @ margins
        stationary = squared <= 4 * len(alpha) * epsilon(alpha)
        radius = xp.sqrt(xp.where(stationary, 1.0, squared))
        length = length_of(self.length, margins / radius, rows.relative_norms, rows.live)
        weights = xp.where(stationary, 0.0, length / radius) * alpha * reciprocal(rows.relative_norms)
        status = xp.where(solved, int(Status.OPTIMAL), int(Status.ITER_LIMIT))
        return Weighing(weights, state, xp.where(stationary, int(Status.STATIONARY), status), {"r*": radius})


def _raw_weights(center: ChebyshevCenter, length: Scalar, norms: Weights, G: Matrix) -> Weights:
    """alpha on the normalised gradients as weights on the raw ones; 0 where there is no direction."""
    xp = namespace(norms)
    lost = (center.radius <= 0) | (center.status == Status.NONFINITE)
    scale = xp.where(lost, 0.0, length / xp.where(lost, 1.0, center.radius))
    return from_small(scale * to_small(center.weights) * reciprocal(norms), G)


def _by_frank_wolfe(G: Matrix, rows: Rows, rule: Chebyshev) -> ChebyshevCenter:
    found, _ = descend(rows, rule.p, rule.iterations or 0, rule.tolerance)
    return certified(G, rule.p, found.weights, found.direction, rows.zero, rows.nonfinite)


def _combine(G: Matrix, *, rule: Chebyshev) -> Update:
    rows = read_rows(G)
    center = chebyshev_center(G, rule.p) if rule.iterations is None else _by_frank_wolfe(G, rows, rule)
    direction = wide(namespace(G), center.direction)
    norms = norms_of(rows, rule.p)
    small = namespace(norms)
    cosines = to_small(inner_products(rows.scaled, direction)) * reciprocal(norms)
    shared = largest_exponent(small, rows)
    relative = small.ldexp(norms, rows.exponents - shared)
    length = length_of(rule.length, cosines, relative, rows.live)
    update = scale_rows((direction * from_small(length, direction))[None], from_small(shared, direction)[None])[0]
    return Update(
        update=namespace(G).astype(update, G.dtype),
        weights=_raw_weights(center, length, relative, G) if rule.p == 2 else None,
        radius=least_cosine(rows, direction),
        state=None,
        status=center.status,
        report={"r*": center.radius, "gap": center.gap},
    )
