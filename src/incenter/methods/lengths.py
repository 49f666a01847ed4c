r"""How long the update is, for rules that choose a direction only: chebyshev, config, harmonic and dcgd_center.

For a unit direction v with cosines mu_i = u_i . v to the gradients g_i = s_i u_i:

    projection    sum_i s_i mu_i      the inner product of v with the summed gradient: the paper's choice
    minimum, maximum, arithmetic, geometric, harmonic
                  s sum_i mu_i        with that mean s of the norms in place of each norm

`projection` is even in v: a direction that points the wrong way would be turned round by it in silence, so a rule must
settle the sign first. On IMTL-G's direction it gives ConFIG's update exactly.
"""

from incenter.geometry.arrays import Mask, Namespace, Scalar, Weights, namespace
from incenter.geometry.errors import IncenterError
from incenter.geometry.rows import Rows, reciprocal

LENGTHS = ("projection", "minimum", "maximum", "arithmetic", "geometric", "harmonic")


def check_length(length: str) -> None:
    """Refuse a length rule that does not exist."""
    if length not in LENGTHS:
        raise IncenterError(f"`length` must be one of {', '.join(LENGTHS)}; got {length!r}.")


def length_of(length: str, cosines: Weights, norms: Weights, live: Mask) -> Scalar:
    """Length of the update along a unit direction with these cosines; dropped rows do not count."""
    xp = namespace(norms)
    if length == "projection":
        return xp.sum(norms * cosines)
    return _mean(xp, length, norms, live) * xp.sum(xp.where(live, cosines, 0.0))


def weights_along(length: str, coefficients: Weights, rows: Rows) -> Weights:
    """Weights on the raw gradients of the update along sum_i coefficients_i u_i; never against it."""
    xp = namespace(rows.cosines)
    inner = rows.cosines @ coefficients
    inverse = reciprocal(xp.sqrt(xp.maximum(coefficients @ inner, 0.0)))
    norms = rows.relative_norms
    size = xp.abs(length_of(length, inner * inverse, norms, rows.live))
    weights: Weights = size * inverse * coefficients * reciprocal(norms)
    return weights


def _mean(xp: Namespace, length: str, norms: Weights, live: Mask) -> Scalar:
    count = xp.maximum(xp.sum(live), 1)
    safe = xp.where(live, norms, 1.0)
    if length == "minimum":
        return xp.min(xp.where(live, norms, xp.inf))
    if length == "maximum":
        return xp.max(norms)
    if length == "arithmetic":
        return xp.sum(norms) / count
    if length == "geometric":
        return xp.exp(xp.sum(xp.log(safe)) / count)
    return count / xp.sum(xp.where(live, 1.0 / safe, 0.0))
