r"""The door: gradients in, Chebyshev centre of their dual cone out, certified.

    maximise  r   subject to   u_i . v >= r,  ||v||_q <= 1,       u_i = g_i / ||g_i||_p              (P)
    minimise  || sum_i alpha_i u_i ||_p   over the simplex                                           (D)

The values are equal: r*, the radius. It is 0 exactly where some convex combination of the gradients vanishes, that is
at Pareto-stationary points (no gradient being zero).
"""

import math
from typing import NamedTuple

import numpy as np

from incenter.geometry.arrays import (
    Mask,
    Matrix,
    Scalar,
    Vector,
    Weights,
    compiled,
    from_small,
    is_jax,
    is_traced,
    namespace,
    select,
    to_host,
)
from incenter.geometry.certificate import Bounds, bound
from incenter.geometry.errors import IncenterError, read_gradients, read_p
from incenter.geometry.euclidean import few_losses
from incenter.geometry.rows import read_rows
from incenter.geometry.smooth import solve_smooth
from incenter.geometry.status import Status

# Certified gaps up to these count as optimal. They are cosines, so absolute: 1e-9 is what double precision gives with
# ten thousand parameters and room to spare; 1e-5 is a hundred roundings of single precision.
OPTIMAL_GAP = {"float64": 1e-9, "float32": 1e-5}

OPTIMAL, REDUCED, STATIONARY, ZERO_ROW, NONFINITE, ITER_LIMIT, EMPTY = (int(status) for status in Status)


class ChebyshevCenter(NamedTuple):
    """The deepest direction of common descent; arrays are of the library and dtype of the gradients.

    Numbers are Python floats and `status` is a `Status`, except inside `jit`, where all are traced arrays.
    """

    direction: Vector  # unit in l_q; zeros where there is none
    weights: Weights  # alpha, on the simplex of the l_p-normalised gradients
    radius: Scalar  # r*
    gap: Scalar  # certified: upper minus lower bound on r*
    active: Mask  # which losses bind: their cosine cannot be told from r*
    status: Status  # what became of the solve
    dropped: Mask  # rows left out: zero, or not finite

    def raise_for_status(self) -> "ChebyshevCenter":
        """Itself where there is a direction or the point is stationary; else an error that names the rows."""
        if self.status in (Status.NONFINITE, Status.EMPTY, Status.ITER_LIMIT):
            rows = [i for i, out in enumerate(self.dropped.tolist()) if out]
            named = f" (rows {rows})" if rows else ""
            raise IncenterError(f"{self.status.name}: {self.status.sentence}{named}.")
        return self


@np.errstate(over="ignore", invalid="ignore")  # what overflows is found, scaled and done again
def chebyshev_center(G: Matrix, p: float = 2.0) -> ChebyshevCenter:
    """Centre of the cone of directions that decrease every loss; `G` holds one gradient per row.

    >>> import numpy as np, incenter
    >>> center = incenter.chebyshev_center(np.array([[5.0, 0.0], [0.0, 3.0]]))
    >>> center.direction.round(4).tolist(), round(center.radius, 4), center.status.name
    ([0.7071, 0.7071], 0.7071, 'OPTIMAL')
    """
    G, p = read_gradients(G), read_p(p)
    if G.shape[0] == 0:
        return _empty(G)
    if p in (1.0, math.inf):
        return _polyhedral(G, p)
    xp = namespace(G)
    if is_jax(xp) and not is_traced(G):
        return _made_known(ChebyshevCenter(*compiled(_smooth, static=("p",))(G, p=p)))
    return _smooth(G, p)


def _smooth(G: Matrix, p: float) -> ChebyshevCenter:
    xp = namespace(G)
    if p == 2 and xp is np and G.shape[0] in (2, 3) and G.dtype == np.float64:
        center = _few(G)
        if center is not None:
            return center
    rows = read_rows(G)
    if not is_jax(xp) and not rows.live.all():
        return _without_dropped(G, p, rows.zero, rows.nonfinite)
    found = solve_smooth(rows, p)
    return certified(G, p, found.weights, found.direction, rows.zero, rows.nonfinite)


def _few(G: Matrix) -> ChebyshevCenter | None:
    """Two or three NumPy rows in closed form; None where rounding left something to mend, or to report."""
    found = few_losses(G)
    if found is None:
        return None
    weights, w = found
    bounds = bound(G, weights, w, 2.0)
    if not bounds.norm > bounds.rounding >= bounds.norm - bounds.least:
        return None
    gap = bounds.upper - bounds.lower
    active = bounds.cosines <= bounds.upper + bounds.rounding
    return ChebyshevCenter(w / bounds.norm, weights, bounds.norm, gap, active, Status.OPTIMAL, active & False)


def _polyhedral(G: Matrix, p: float) -> ChebyshevCenter:
    """p = 1 and inf, which are linear programs, on the host."""
    if is_traced(G):
        raise IncenterError(f"p={p} is a linear program, which does not run inside jit; use 1 < p < inf there.")
    if namespace(G) is not np:
        center = _polyhedral(to_host(G), p)
        arrays = {name: from_small(getattr(center, name), G) for name in ("direction", "weights", "active", "dropped")}
        return center._replace(**arrays)
    rows = read_rows(G)
    if not rows.live.all():
        return _without_dropped(G, p, rows.zero, rows.nonfinite)
    from incenter.geometry.polyhedral import solve_polyhedral  # SciPy's solvers take a while to import

    found = solve_polyhedral(rows.scaled, p)
    return certified(G, p, found.weights, found.direction, rows.zero, rows.nonfinite)


def _without_dropped(G: Matrix, p: float, zero: Mask, nonfinite: Mask) -> ChebyshevCenter:
    """The answer for the live rows alone, bit for bit, spread over all rows."""
    xp = namespace(G)
    live = ~(zero | nonfinite)
    dropped = from_small(~live, G)
    status = Status.NONFINITE if nonfinite.any() else Status.ZERO_ROW
    if status is Status.NONFINITE or not live.any():
        nothing = xp.zeros_like(G[:, 0])
        gap = 1.0 if status is Status.NONFINITE else 0.0
        direction = xp.zeros_like(xp.where(xp.isfinite(G[0]), G[0], 0.0))
        return ChebyshevCenter(direction, nothing, 0.0, gap, ~dropped & False, status, dropped)
    found = chebyshev_center(G[from_small(live, G)], p)
    weights, active = xp.zeros_like(G[:, 0]), ~dropped & False
    weights[~dropped], active[~dropped] = found.weights, found.active
    status = Status.ZERO_ROW if found.status is Status.OPTIMAL else found.status
    return found._replace(weights=weights, active=active, status=status, dropped=dropped)


def certified(G: Matrix, p: float, weights: Weights, direction: Vector, zero: Mask, nonfinite: Mask) -> ChebyshevCenter:
    """The answer that these weights and this direction are, whoever found them: REDUCED where their gap is open."""
    weights, direction = from_small(weights, G), namespace(G).astype(direction, G.dtype, copy=False)
    bounds = bound(G, weights, direction, p)
    status = _status(G, bounds, zero, nonfinite)
    return _answer(G, weights, direction, bounds, from_small(zero | nonfinite, G), status)


def _answer(
    G: Matrix, weights: Weights, direction: Vector, bounds: Bounds, dropped: Mask, status: Scalar
) -> ChebyshevCenter:
    nonfinite = status == NONFINITE
    nowhere = nonfinite | (status == STATIONARY) | ((status == ZERO_ROW) & (bounds.norm <= 0))
    xp = namespace(G)
    binding = bounds.cosines <= bounds.upper + bounds.rounding
    return ChebyshevCenter(
        direction=select(nowhere, 0 * direction, direction),
        weights=select(nonfinite, 0 * weights, weights),
        radius=select(nowhere, 0.0, bounds.norm),
        gap=select(nonfinite, 1.0, bounds.upper - bounds.lower),
        active=xp.logical_and(select(nowhere, weights > 0, binding), ~dropped),
        status=status if is_traced(status) else Status(status),
        dropped=dropped,
    )


def _status(G: Matrix, bounds: Bounds, zero: Mask, nonfinite: Mask) -> Scalar:
    status = select(bounds.upper - bounds.lower <= OPTIMAL_GAP[_dtype_name(G)], OPTIMAL, REDUCED)
    status = select(zero.any() & (status == OPTIMAL), ZERO_ROW, status)
    status = select(bounds.least > 0, status, ITER_LIMIT)
    status = select(bounds.norm <= bounds.rounding, STATIONARY, status)
    status = select((zero | nonfinite).all(), ZERO_ROW, status)
    return select(nonfinite.any(), NONFINITE, status)


def _dtype_name(G: Matrix) -> str:
    return str(G.dtype).rsplit(".", 1)[-1]


def _made_known(center: ChebyshevCenter) -> ChebyshevCenter:
    """Python numbers and a `Status` for what came out of a compiled call."""
    return center._replace(radius=float(center.radius), gap=float(center.gap), status=Status(int(center.status)))


def _empty(G: Matrix) -> ChebyshevCenter:
    xp = namespace(G)
    rows = xp.sum(G, axis=1)
    return ChebyshevCenter(xp.sum(G, axis=0), rows, 0.0, 0.0, rows > 0, Status.EMPTY, rows > 0)
