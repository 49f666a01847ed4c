"""Small networks with several losses, and what their gradients are."""

from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray


class Tasks(torch.nn.Module):
    """A shared trunk and one head per loss; losses of scales 1, 10 and 100."""

    def __init__(self, dtype: torch.dtype = torch.float64, count: int = 3) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.trunk = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Tanh(), torch.nn.Linear(7, 6)).to(dtype)
        self.heads = torch.nn.ModuleList(torch.nn.Linear(6, 1) for _ in range(count)).to(dtype)

    def forward(self, points: torch.Tensor) -> list[torch.Tensor]:
        features = self.trunk(points)
        return [head(features) for head in self.heads]


def points(count: int = 24, seed: int = 0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(count, 5, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def losses_of(model: torch.nn.Module, x: torch.Tensor) -> dict[str, torch.Tensor]:
    """Each output against a coordinate of the input."""
    outputs = model(x)
    return {f"task{i}": 10.0**i * (output - x[:, [i]]).square().mean() for i, output in enumerate(outputs)}


def gradients_of(losses: Iterable[torch.Tensor], params: Iterable[torch.Tensor]) -> NDArray[np.float64]:
    """The matrix of gradients, by autograd alone; the graph stays."""
    params = list(params)
    rows = [torch.autograd.grad(loss, params, retain_graph=True, allow_unused=True) for loss in losses]
    return np.array([flat(row, params) for row in rows])


def flat(row: Iterable[torch.Tensor | None], params: Iterable[torch.Tensor]) -> NDArray[np.float64]:
    parts = [torch.zeros_like(p) if part is None else part for part, p in zip(row, params, strict=True)]
    return torch.cat([part.detach().reshape(-1).double() for part in parts]).numpy()


def written(params: Iterable[torch.Tensor]) -> NDArray[np.float64]:
    """What stands in `.grad`, zeros where there is nothing."""
    params = list(params)
    return flat([parameter.grad for parameter in params], params)
