"""Peaks of memory are those promised, by the allocator's own events."""

import subprocess
import sys

import pytest
import torch

from benchmarks.torch_memory import peak_bytes
from incenter.torch import backward

WIDTH, DEPTH = 256, 8
BLOCK = 8 * 65_536  # bytes per loss of the block that is multiplied in float64


class Case:
    """Layers of one size, `count` losses, and as many or as few points as make activations or gradients count."""

    def __init__(self, count: int, batch: int, heads: bool) -> None:
        torch.manual_seed(0)
        layers = [layer for _ in range(DEPTH) for layer in (torch.nn.Linear(WIDTH, WIDTH), torch.nn.Tanh())]
        self.trunk, self.last = torch.nn.Sequential(*layers), torch.nn.Linear(WIDTH, count)
        self.all = [*self.trunk.parameters(), *self.last.parameters()]
        self.params = list(self.trunk.parameters()) if heads else self.all
        self.points, self.count = torch.randn(batch, WIDTH), count

    def losses(self) -> list[torch.Tensor]:
        for parameter in self.all:
            parameter.grad = None
        return [output.square().mean() for output in self.last(self.trunk(self.points)).T]

    def plain(self) -> None:
        torch.stack(self.losses()).sum().backward()  # type: ignore[no-untyped-call]

    def peak(self, memory: str) -> int:
        """Of a step; "sum" is the plain one."""
        self.losses()  # what an earlier step left in `.grad` must not be freed on this one's account
        if memory == "sum":
            return peak_bytes(self.plain)
        return peak_bytes(lambda: backward(self.losses(), self.params, memory=memory))

    @property
    def gradient(self) -> int:
        return sum(4 * parameter.numel() for parameter in self.all)


@pytest.mark.parametrize("heads", [False, True])
@pytest.mark.parametrize("batch", [8, 256])
@pytest.mark.parametrize("count", [2, 5])
def test_low_memory_takes_the_plain_peak_and_one_gradient(count: int, batch: int, heads: bool) -> None:
    case = Case(count, batch, heads)
    assert case.peak("low") <= case.peak("sum") + case.gradient + count * BLOCK


def test_fast_holds_one_gradient_per_loss() -> None:
    case = Case(10, 8, heads=False)
    assert case.peak("fast") <= case.peak("sum") + 10 * case.gradient + 10 * BLOCK


def test_without_torch_one_sentence_names_the_extra() -> None:
    hidden = (
        "import importlib.util as u; real = u.find_spec; "
        "u.find_spec = lambda name, *rest: None if name == 'torch' else real(name, *rest); import incenter.torch"
    )
    run = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True, check=False)
    assert run.returncode != 0
    assert "pip install 'incenter[torch]'" in run.stderr.splitlines()[-1]
