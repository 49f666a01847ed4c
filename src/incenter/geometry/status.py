"""How a solve ended. The members' texts are the sentences a user reads."""

from enum import IntEnum


class Status(IntEnum):
    """Outcome of a solve; `Status.X.sentence` says it in words. Inside `jit` it is the plain integer."""

    OPTIMAL = 0
    REDUCED = 1
    STATIONARY = 2
    ZERO_ROW = 3
    NONFINITE = 4
    ITER_LIMIT = 5
    EMPTY = 6

    def __str__(self) -> str:
        return self.name

    @property
    def sentence(self) -> str:
        """What it means, in words."""
        return _SENTENCES[self]

    @property
    def has_direction(self) -> bool:
        """Whether a step along the direction decreases every loss (a dropped zero row excepted)."""
        return self in (Status.OPTIMAL, Status.REDUCED, Status.ZERO_ROW)


_SENTENCES = {
    Status.OPTIMAL: "the direction is optimal, and the gap certifies it",
    Status.REDUCED: "the direction decreases every loss, but its certified gap is above the tolerance",
    Status.STATIONARY: "the point is Pareto-stationary to rounding: no direction decreases every loss",
    Status.ZERO_ROW: "a gradient is zero; it was dropped, and the answer speaks of the others",
    Status.NONFINITE: "a gradient holds NaN or infinity; no direction was computed",
    Status.ITER_LIMIT: "the iteration limit came first; the weights are the best seen, and the gap says how good",
    Status.EMPTY: "there are no losses, so there is nothing to combine",
}
