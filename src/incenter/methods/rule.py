"""What a rule is: gradients in, update out. A rule of your own is a frozen dataclass with a name and one method.

    @dataclass(frozen=True)
    class Loudest(GramRule):
        name: ClassVar[str] = "loudest"

        def weigh(self, rows, losses=None, state=None, key=None):
            loudest = rows.relative_norms == rows.relative_norms.max()
            return Weighing(loudest.astype(float))

`GramRule` is for rules that need only the Gram matrix: it says so (`gram_only`), gives `weights(gramian)` to front ends
that never hold the gradients side by side, and forms the update. A rule that needs entries derives from `Rule`.
Whatever is dropped (a zero row) or wrong (NaN) is dealt with here, once, for all of them.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

from incenter.geometry.arrays import (
    Matrix,
    Scalar,
    Square,
    Vector,
    Weights,
    compiled,
    from_small,
    is_jax,
    is_traced,
    namespace,
    to_small,
    wide,
)
from incenter.geometry.errors import IncenterError, read_gradients
from incenter.geometry.long_rows import inner_products, weighted_sum
from incenter.geometry.rows import Rows, largest_exponent, read_gramian, read_rows
from incenter.geometry.status import Status
from incenter.methods.randomness import as_words


class Update(NamedTuple):
    """What a rule answers. Arrays are of the library of the gradients."""

    update: Vector  # what the optimiser gets as "the gradient"
    weights: Weights | None  # on the raw gradients: update = weights @ G; None where the rule is no such combination
    radius: Scalar  # least cosine between the update and a live gradient; 0 where there is no update
    state: Any  # to be handed back at the next step; None for a rule without memory
    status: Status  # inside `jit` the plain integer
    report: dict[str, Scalar]  # what else the rule knows of its answer, such as a residual or a sign


class Weighing(NamedTuple):
    """What a Gram-only rule decides, in small arrays."""

    weights: Weights
    state: Any = None
    status: Scalar = Status.OPTIMAL  # of the rule's own problem; dropped and non-finite rows are added by the caller
    report: dict[str, Scalar] = {}
    projected: bool = False  # only the update's line counts: its length is the projection of the summed gradient on it


class Rule(ABC):
    """Base of all rules. Subclasses are frozen dataclasses; their fields are the variants that matter."""

    name: ClassVar[str]
    own_optimizer: ClassVar[bool] = False  # to be stepped plainly, never under Adam
    needs: ClassVar[frozenset[str]] = frozenset()  # of "losses", "key", "traces"

    @property
    def gram_only(self) -> bool:
        """Whether the Gram matrix of the gradients is all that the rule needs of them."""
        return False

    @abstractmethod
    def combine(self, G: Matrix, losses: Weights | None = None, state: Any = None, key: Any = None) -> Update:
        """The update for gradients `G`, one per row; `losses` their values, `state` from the step before."""


def check_rule(rule: Any) -> None:
    """For the doors that take a rule: a name or a class in its place gets the sentence that says how it becomes one."""
    if isinstance(rule, str):
        raise IncenterError(f"`rule` must be a rule; got the name {rule!r}: pass incenter.methods.by_name({rule!r}).")
    if isinstance(rule, type):
        raise IncenterError(f"`rule` must be a rule; got the class {rule.__name__}: pass {rule.__name__}().")
    if not callable(getattr(rule, "combine", None)):
        raise IncenterError(
            f"`rule` must be a rule, such as incenter.methods.by_name('mgda'); got {type(rule).__name__}."
        )


class GramRule(Rule):
    """A rule whose weights depend on the Gram matrix alone (and on losses, state and key where it says so)."""

    @property
    def gram_only(self) -> bool:
        return True

    @abstractmethod
    def weigh(self, rows: Rows, losses: Weights | None = None, state: Any = None, key: Any = None) -> Weighing:
        """Weights on the raw gradients from their cosines and norms; `rows.scaled` must not be looked at.

        Weights are understood for the gradients divided by the power of two that `rows.relative_norms` takes out, so
        a rule that is homogeneous of degree 1 (most are) may ignore that factor.
        """

    def combine(
        self, G: Matrix, losses: Weights | None = None, state: Any = None, key: Any = None, **extra: Any
    ) -> Update:
        """`extra` goes to `weigh`, for a rule that asks for more than others, such as the traces of `ntk`."""
        G = read_gradients(G)
        if G.shape[0] == 0:
            return nothing_to_combine(G, state)
        if is_jax(namespace(G)) and not is_traced(G):
            combined = compiled(_combine, static=("rule",))(G, losses, state, as_words(key), extra, rule=self)
            return made_known(combined)
        return _combine(G, losses, state, key, extra, rule=self)

    def weights(
        self, gramian: Square, losses: Weights | None = None, state: Any = None, key: Any = None, **extra: Any
    ) -> Weighing:
        """The same weights from a Gram matrix K = G G^T, for callers that never form G."""
        shape = getattr(gramian, "shape", None)
        if shape is None or len(shape) != 2 or shape[0] != shape[1]:
            raise IncenterError(f"`gramian` must be an (m, m) array; got {shape or type(gramian).__name__}.")
        rows = read_gramian(gramian)
        weighing = self.weigh(rows, losses, state, key, **extra)
        weights = from_small(weighing.weights, wide(namespace(gramian), gramian))
        return weighing._replace(weights=weights, status=concrete(overall_status(rows, weighing.status)))


def _combine(
    G: Matrix, losses: Weights | None, state: Any, key: Any, extra: dict[str, Any], *, rule: GramRule
) -> Update:
    rows = read_rows(G)
    return finish(G, rows, rule.weigh(rows, losses, state, key, **extra))


def finish(G: Matrix, rows: Rows, weighing: Weighing) -> Update:
    """The update with given weights on the raw gradients: zero, and said so, where a row is not finite."""
    xp = namespace(G)
    small = namespace(rows.cosines)
    status = overall_status(rows, weighing.status)
    usable = ~small.any(rows.nonfinite)
    weights = small.where(usable & rows.live, weighing.weights, 0.0)
    clean = G if not is_jax(xp) and usable else xp.where(xp.isfinite(G), G, xp.zeros_like(G))
    update = weighted_sum(from_small(weights, wide(xp, G[:0, 0])), clean)
    if weighing.projected:
        stretch = projection_stretch(rows, update)
        weights, update = stretch * weights, from_small(stretch, update) * update
    return Update(
        update=xp.astype(update, G.dtype),
        weights=from_small(weights, G),
        radius=least_cosine(rows, update),
        state=weighing.state,
        status=concrete(status),
        report=weighing.report,
    )


def projection_stretch(rows: Rows, update: Vector) -> Scalar:
    """|(sum_i g_i) . v| / |update| for v the unit vector along `update`; a small array, 1 for a zero update.

    Weights that come from cosines give a length that is off by rounding / r^2, which this takes back.
    """
    small = namespace(rows.cosines)
    unit, length = unit_and_length(update)
    shared = largest_exponent(small, rows)
    products = small.ldexp(to_small(inner_products(rows.scaled, unit)), rows.exponents - shared)
    along = small.abs(small.sum(small.where(rows.live, products, 0.0)))
    relative = small.ldexp(to_small(length), -shared)
    return small.where(relative > 0, along / small.where(relative > 0, relative, 1.0), 1.0)


def unit_and_length(vector: Vector) -> tuple[Vector, Scalar]:
    """`vector` at length 1, and its length; zeros and 0 for zeros. Divided by its largest entry before squaring."""
    xp = namespace(vector)
    largest = xp.max(xp.abs(vector))
    unit = vector / xp.where(largest > 0, largest, 1.0)
    length = xp.linalg.vector_norm(unit)
    return unit / xp.where(length > 0, length, 1.0), largest * length


def least_cosine(rows: Rows, update: Vector) -> Scalar:
    """Least cosine between `update` and a live row, 0 for a zero update."""
    xp = namespace(update)
    products = inner_products(rows.scaled, unit_and_length(update)[0])
    live = rows.live if is_jax(xp) else from_small(rows.live, update)
    lengths = from_small(rows.inverse_lengths, update)
    least = xp.min(xp.where(live, products * lengths, xp.inf))
    least = xp.where(xp.isfinite(least), least, 0.0)
    return least if is_traced(least) else float(least)


def nothing_to_combine(G: Matrix, state: Any) -> Update:
    """The answer for m = 0."""
    xp = namespace(G)
    nothing = xp.sum(G, axis=0)
    return Update(nothing, xp.sum(G, axis=1), 0.0, state, Status.EMPTY, {})


def overall_status(rows: Rows, own: Scalar) -> Scalar:
    """The rule's own status, unless rows were dropped: NONFINITE before all, ZERO_ROW in place of OPTIMAL."""
    small = namespace(rows.cosines)
    zero = small.any(rows.zero) & (small.asarray(int(own) if isinstance(own, Status) else own) == int(Status.OPTIMAL))
    status = small.where(zero, int(Status.ZERO_ROW), own)
    return small.where(small.any(rows.nonfinite), int(Status.NONFINITE), status)


def made_known(update: Update) -> Update:
    """The same update with Python numbers for its scalars, outside `jit`."""
    if is_traced(update.radius):
        return update
    report = {name: float(value) for name, value in update.report.items()}
    return update._replace(radius=float(update.radius), status=concrete(update.status), report=report)


def concrete(status: Scalar) -> Any:
    """A `Status` wherever its value is known, the traced integer inside `jit`."""
    return status if is_traced(status) else Status(int(status))
