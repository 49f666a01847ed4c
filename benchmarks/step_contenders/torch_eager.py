"""The paper's stack: eager PyTorch, nested `torch.autograd.grad`, one gradient per loss, Chebyshev direction, Adam.

The direction is the paper's closed form (its algorithms 2 and 3) on normalised gradients, scaled by the sum of the
inner products. Points are drawn anew in every step. Of PyTorch's plain and its fused Adam the faster is taken.
"""

from functools import partial

import torch

from benchmarks.step_contenders.protocol import RATE, Contender, faster
from benchmarks.step_problems import (
    WIDTH,
    Floats,
    Mathematics,
    Place,
    Statement,
    Term,
    all_parameters,
    all_points,
    statement,
)

Tensor = torch.Tensor


def _lookup(table: Floats, rows: Tensor, columns: Tensor) -> Tensor:
    last = table.shape[0] - 1
    row, column = (torch.round(at.detach() * last).long() for at in (rows, columns))
    return torch.from_numpy(table)[row, column]


TORCH = Mathematics(torch.sin, torch.cos, torch.exp, _lookup)


class Derivatives:
    """The field on some points (N, d): by nested reverse mode, each gradient once and when it is first asked for."""

    def __init__(self, stated: Statement, network: torch.nn.ModuleList, points: Tensor) -> None:
        self._axes, self._points = stated.axes, points.requires_grad_()
        self._known: dict[str, Tensor] = {}
        for branch, mlp in zip(stated.branches, network, strict=True):
            seen = points if branch.inputs == stated.axes else points[:, : len(branch.inputs)]
            values = mlp(seen)
            self._known |= {name: _column(values, index) for index, name in enumerate(branch.outputs)}

    def __call__(self, name: str) -> Tensor:
        if name not in self._known:
            whole = self(_integral(name))
            (gradient,) = torch.autograd.grad(whole, self._points, torch.ones_like(whole), create_graph=True)
            for index, axis in enumerate(self._axes):
                self._known[_derivative(_integral(name), axis)] = _column(gradient, index)
        return self._known[name]


def _column(matrix: Tensor, index: int) -> Tensor:
    """(N, 1), as a view: a list of indices would copy, and scatter on the way back."""
    return matrix[:, index : index + 1]


def _integral(name: str) -> str:
    """u_xx comes from u_x, and u_x from u."""
    return name[:-1].removesuffix("_")


def _derivative(name: str, axis: str) -> str:
    return name + axis if "_" in name else f"{name}_{axis}"


class TorchEager:
    """One problem and its training loop."""

    def __init__(self, problem: str, fused: bool) -> None:
        self._stated = statement(problem)
        self._network = torch.nn.ModuleList(
            _mlp(len(branch.inputs), branch.depth, len(branch.outputs)) for branch in self._stated.branches
        )
        self._parameters = list(self._network.parameters())
        self._optimizer = torch.optim.Adam(self._parameters, lr=RATE, fused=fused)
        self._draw = Sampler(self._stated)
        self.setting = "points drawn in each step; Adam "

    def prepare(self, steps: int) -> None: ...

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self._step()

    def losses(self) -> dict[str, float]:
        _fill(self._network, self._stated)
        return {
            name: self._loss(term, torch.from_numpy(points)).item()
            for (name, term), points in zip(self._stated.terms.items(), all_points(self._stated).values(), strict=True)
        }

    def _loss(self, term: Term, points: Tensor) -> Tensor:
        field = Derivatives(self._stated, self._network, points)
        at = {axis: _column(points, index) for index, axis in enumerate(self._stated.axes)}
        return sum((part.square().mean() for part in term.equations(Place(field, at, TORCH))), start=torch.zeros(()))

    def _step(self) -> None:
        gradients = []
        for name, term in self._stated.terms.items():
            loss = self._loss(term, self._draw(name))
            parts = torch.autograd.grad(loss, self._parameters, allow_unused=True, materialize_grads=True)
            gradients.append(torch.cat([part.reshape(-1) for part in parts]))
        update = chebyshev_update(torch.stack(gradients))
        start = 0
        for parameter in self._parameters:
            parameter.grad = update[start : start + parameter.numel()].view_as(parameter)
            start += parameter.numel()
        self._optimizer.step()


class Sampler:
    """Uniform points, drawn anew at every call; those of a pool are drawn once."""

    def __init__(self, stated: Statement) -> None:
        self._stated = stated
        ranges = torch.tensor(list(stated.box.values()), dtype=torch.float32)
        self._low, self._width = ranges[:, 0], ranges[:, 1] - ranges[:, 0]
        self._faces = {name: _faces(stated, term) for name, term in stated.terms.items()}
        self._pool = {name: torch.from_numpy(points) for name, points in all_points(stated).items()}

    def __call__(self, name: str) -> Tensor:
        term = self._stated.terms[name]
        if term.place == "pool":
            return self._pool[name].detach()
        points = self._low + self._width * torch.rand(term.count, len(self._low))
        for rows, axis, value in self._faces[name]:
            points[rows, axis] = value
        return points


def _faces(stated: Statement, term: Term) -> list[tuple[slice, int, float]]:
    """Which rows of a term's points lie where, in blocks of equal size."""
    if term.place == "initial":
        return [(slice(None), stated.axes.index("t"), stated.box["t"][0])]
    if term.place != "boundary":
        return []
    ends = [(stated.axes.index(axis), end) for axis in stated.space for end in stated.box[axis]]
    size = term.count // len(ends)
    return [(slice(i * size, (i + 1) * size), axis, end) for i, (axis, end) in enumerate(ends)]


def chebyshev_update(gradients: Tensor) -> Tensor:
    """The paper's direction and length for two or three losses; (m, n) to (n,)."""
    units = gradients / gradients.norm(dim=1, keepdim=True)
    direction = _weights(units @ units.T) @ units
    direction = direction / direction.norm()
    update: Tensor = (gradients @ direction).sum() * direction
    return update


def _weights(gram: Tensor) -> Tensor:
    if len(gram) == 2:
        return torch.full((2,), 0.5)
    solution: Tensor = torch.linalg.pinv(gram, hermitian=True).sum(dim=1)
    if solution.sum() > 0 and bool((solution >= 0).all()):
        return solution / solution.sum()
    i, j = min(((0, 1), (0, 2), (1, 2)), key=lambda pair: float(gram[pair]))
    weights = torch.zeros(3)
    weights[i] = weights[j] = 0.5
    return weights


def _mlp(inputs: int, depth: int, outputs: int) -> torch.nn.Sequential:
    layers: list[torch.nn.Module] = []
    for ins in [inputs, *[WIDTH] * (depth - 1)]:
        layers += [torch.nn.Linear(ins, WIDTH), torch.nn.Tanh()]
    network = torch.nn.Sequential(*layers, torch.nn.Linear(WIDTH, outputs))
    for layer in network:
        if isinstance(layer, torch.nn.Linear):
            torch.nn.init.xavier_normal_(layer.weight)
            torch.nn.init.zeros_(layer.bias)
    return network


def _fill(network: torch.nn.ModuleList, stated: Statement) -> None:
    """The common parameters."""
    for mlp, layers in zip(network, all_parameters(stated), strict=True):
        linear = [layer for layer in mlp.modules() if isinstance(layer, torch.nn.Linear)]
        for layer, (weights, bias) in zip(linear, layers, strict=True):
            layer.weight.data = torch.from_numpy(weights.T.copy())
            layer.bias.data = torch.from_numpy(bias)


def build(problem: str, _variant: str) -> Contender:
    torch.set_num_threads(1)
    return faster({"fused": partial(TorchEager, problem, True), "plain": partial(TorchEager, problem, False)})
