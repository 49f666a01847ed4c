"""Loss scaling of mixed precision: gradients are computed scaled, judged unscaled, and written scaled.

What stands in `.grad` afterwards is what `GradScaler` expects there: `scaler.unscale_`, clipping, `scaler.step` follow
as always. A gradient that overflowed is written as it is, so that the scaler sees it, skips the step and scales down.
"""

from typing import Any

import torch


class Scale:
    """The factor of a `GradScaler`, as a tensor that stays on its device; 1 without one."""

    def __init__(self, scaler: Any, losses: list[torch.Tensor]) -> None:
        self.active = scaler is not None and scaler.is_enabled()
        self.losses: list[torch.Tensor] = [scaler.scale(loss) for loss in losses] if self.active else losses
        self._factor = scaler.scale(torch.ones((), device=losses[0].device)).double() if self.active else None

    def unscaled_gram(self, K: torch.Tensor) -> torch.Tensor:
        return K if self._factor is None else K / self._factor.to(K.device) ** 2

    def unscaled(self, G: torch.Tensor) -> torch.Tensor:
        return G if self._factor is None else G.div_(self._factor.to(G))

    def scaled(self, update: torch.Tensor) -> torch.Tensor:
        return update if self._factor is None else update.mul_(self._factor.to(update))
