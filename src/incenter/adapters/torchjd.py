"""TorchJD: the Chebyshev centre as an aggregator for any p, and as a weighting of the Gramian for p = 2.

    jac_to_grad(model.parameters(), ChebyshevCenter())             # p = 2; p=1.5, math.inf, ...
    GramianWeightedAggregator(ChebyshevCenterWeighting())          # from the Gramian alone: less memory, less accurate

Both are zero at Pareto-stationary points, weakly stationary ones included, so they are not "strongly stationary", and
they turn with no scaling of a row, so they are not "linear under scaling"; see docs/adapters.md.
"""

import torch
from torch import Tensor

from incenter.geometry.errors import IncenterError
from incenter.geometry.status import Status
from incenter.methods.chebyshev import Chebyshev

try:
    from torchjd.aggregation import Aggregator, Weighting
    from torchjd.linalg import PSDMatrix
except ModuleNotFoundError as error:
    raise IncenterError("This adapter needs TorchJD, which is not installed: pip install 'torchjd>=0.11'") from error


class ChebyshevCenterWeighting(Weighting[PSDMatrix]):
    """Weights of the Chebyshev centre for p = 2, from the Gramian.

    Below a radius of about 3e-4 the rounding of a Gramian in single precision hides the centre: `ChebyshevCenter`,
    which sees the Jacobian, does not have that limit. Zeros where the point is stationary or an entry is not finite.
    """

    def __init__(self, length: str = "projection") -> None:
        super().__init__()
        self.length = length

    @torch.no_grad()
    def forward(self, gramian: PSDMatrix, /) -> Tensor:
        weighing = self._rule.weights(gramian)
        if weighing.status == Status.NONFINITE:
            return gramian.new_zeros(gramian.shape[0])
        weights: Tensor = weighing.weights
        return weights.to(gramian.dtype)

    @property
    def length(self) -> str:
        """How long the update is: see docs/methods/chebyshev.md."""
        return self._rule.length

    @length.setter
    def length(self, value: str) -> None:
        self._rule = Chebyshev(length=value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(length={self.length!r})"


class ChebyshevCenter(Aggregator):
    """The direction whose worst normalised decrease is largest, for any p from 1 to infinity."""

    def __init__(self, p: float = 2.0, length: str = "projection") -> None:
        super().__init__()
        self._rule = Chebyshev(p=p, length=length)

    @torch.no_grad()
    def forward(self, matrix: Tensor, /) -> Tensor:
        update: Tensor = self._rule.combine(matrix).update
        return update.to(matrix.dtype)

    @property
    def p(self) -> float:
        """The norm in which gradients are measured, from 1 to inf."""
        return self._rule.p

    @p.setter
    def p(self, value: float) -> None:
        self._rule = Chebyshev(p=value, length=self.length)

    @property
    def length(self) -> str:
        """How long the update is: see docs/methods/chebyshev.md."""
        return self._rule.length

    @length.setter
    def length(self, value: str) -> None:
        self._rule = Chebyshev(p=self.p, length=value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p}, length={self.length!r})"
