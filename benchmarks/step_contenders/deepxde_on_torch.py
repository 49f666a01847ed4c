"""What differs in DeepXDE's PyTorch backend: the network, its parameters, and a step."""

from typing import Any

import deepxde as dde
import numpy as np
import torch

from benchmarks.step_contenders.torch_eager import TORCH
from benchmarks.step_problems import WIDTH, Branch, Statement, all_parameters

MATHEMATICS = TORCH


class _Branches(dde.nn.NN):  # type: ignore[misc]  # DeepXDE is untyped
    """Networks side by side, each of which sees the leading coordinates only, as many as it has inputs."""

    def __init__(self, stated: Statement) -> None:
        super().__init__()
        self.parts = torch.nn.ModuleList(_network(branch) for branch in stated.branches)
        self._widths = [len(branch.inputs) for branch in stated.branches]

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        values = [part(inputs[..., :width]) for part, width in zip(self.parts, self._widths, strict=True)]
        return torch.cat(values, dim=-1)


def _network(branch: Branch) -> Any:
    sizes = [len(branch.inputs), *[WIDTH] * branch.depth, len(branch.outputs)]
    return dde.nn.FNN(sizes, "tanh", "Glorot normal")


def branches(stated: Statement) -> Any:
    torch.set_num_threads(1)
    return _network(stated.branches[0]) if len(stated.branches) == 1 else _Branches(stated)


def fill(model: Any, stated: Statement) -> None:
    """The common parameters."""
    networks = model.net.parts if isinstance(model.net, _Branches) else [model.net]
    for network, layers in zip(networks, all_parameters(stated), strict=True):
        for linear, (weights, bias) in zip(network.linears, layers, strict=True):
            linear.weight.data = torch.from_numpy(weights.T.copy())
            linear.bias.data = torch.from_numpy(bias)


def losses(model: Any) -> np.ndarray[Any, np.dtype[np.float32]]:
    found: np.ndarray[Any, np.dtype[np.float32]]
    found = model.outputs_losses_train(*model.data.train_next_batch())[1].detach().numpy()
    return found


def take_steps(model: Any, steps: int) -> None:
    for _ in range(steps):
        model.train_step(*model.data.train_next_batch())
