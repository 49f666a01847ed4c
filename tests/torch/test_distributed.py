"""Several processes, each with its share of the points, write the update of one process with all of them."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from incenter.methods import by_name
from incenter.methods.rule import Rule
from incenter.torch import Backward, Record, backward
from tests.torch.networks import Tasks, losses_of, points, written
from tests.torch.processes import run_on

TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-6}
CHEBYSHEV = by_name("chebyshev")
Numbers = NDArray[np.float64]


class Answer(NamedTuple):
    trunk: Numbers
    heads: Numbers
    record: Record


def share(dtype: torch.dtype) -> torch.Tensor:
    """This process's points."""
    return points(dtype=dtype)[dist.get_rank() :: dist.get_world_size()]


def alone(dtype: torch.dtype, rule: Rule = CHEBYSHEV) -> Answer:
    """One process with all points."""
    model = Tasks(dtype)
    record = backward(losses_of(model, points(dtype=dtype)), model.trunk.parameters(), rule)
    return Answer(written(model.trunk.parameters()), written(model.heads.parameters()), record)


def replicated(dtype: torch.dtype, *, rule: Rule = CHEBYSHEV, memory: str = "fast", **options: Any) -> Answer:
    """Two steps, of which the second counts: the first must leave DDP ready for it."""
    model = Tasks(dtype)
    parallel = DistributedDataParallel(model, **options)
    for _ in range(2):
        model.zero_grad()
        record = backward(losses_of(parallel, share(dtype)), model.trunk.parameters(), rule, memory=memory)
    return Answer(written(model.trunk.parameters()), written(model.heads.parameters()), record)


def accumulated(dtype: torch.dtype) -> Answer:
    """Each process's points in two halves, the first without synchronisation."""
    model = Tasks(dtype)
    parallel = DistributedDataParallel(model)
    step = Backward(model.trunk.parameters())
    first, second = ({name: loss / 2 for name, loss in losses_of(parallel, x).items()} for x in share(dtype).chunk(2))
    with parallel.no_sync():
        step.accumulate(first)
    record = step(second)
    return Answer(written(model.trunk.parameters()), written(model.heads.parameters()), record)


def reused(dtype: torch.dtype) -> Answer:
    """The second of two steps at the same place, with the weights of the first."""
    model = Tasks(dtype)
    parallel = DistributedDataParallel(model)
    step = Backward(model.trunk.parameters(), every=2)
    for _ in range(2):
        model.zero_grad()
        record = step(losses_of(parallel, share(dtype)))
    assert record.age == 1
    return Answer(written(model.trunk.parameters()), written(model.heads.parameters()), record)


def cut_up(dtype: torch.dtype, mesh: tuple[int, ...] = (-1,)) -> Tasks:
    """The network with its parameters in pieces on all processes."""
    model = Tasks(dtype)
    world = dist.get_world_size()
    names = ("copies", "pieces")[-len(mesh) :]
    devices = init_device_mesh("cpu", tuple(world if size == -1 else size for size in mesh), mesh_dim_names=names)
    for layer in (model.trunk[0], model.trunk[2], *model.heads, model):
        fully_shard(layer, mesh=devices)
    return model


def sharded(dtype: torch.dtype, *, every: int = 1, mesh: tuple[int, ...] = (-1,)) -> Answer:
    model = cut_up(dtype, mesh)
    step = Backward(model.trunk.parameters(), every=every)
    for _ in range(2):
        model.zero_grad()
        record = step(losses_of(model, share(dtype)))
    return Answer(gathered(model.trunk.parameters()), gathered(model.heads.parameters()), record)


class Wire(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Collectives, and how many numbers each of them was given."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.used: Counter[tuple[str, int]] = Counter()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function.namespace == "c10d":
            numbers = sum(each.numel() for each in tree_leaves(args) if isinstance(each, torch.Tensor))
            self.used[function._schema.name, numbers] += 1
        return function(*args, **(kwargs or {}))


def traffic() -> list[Counter[tuple[str, int]]]:
    """Of one backward pass per loss, and of a step of ours."""
    model = cut_up(torch.float64)
    step = Backward(model.trunk.parameters())
    found = []
    for ours in (False, True):
        losses = losses_of(model, share(torch.float64))
        with Wire() as wire:
            if ours:
                step(losses)
            else:
                *others, last = losses.values()
                for loss in others:
                    loss.backward(retain_graph=True)  # type: ignore[no-untyped-call]
                last.backward()  # type: ignore[no-untyped-call]
        found.append(wire.used)
    return found


def gathered(params: Iterable[Any]) -> Numbers:
    parts = [parameter.grad.full_tensor().reshape(-1).double() for parameter in params]
    return torch.cat(parts).numpy()


WAYS: dict[str, tuple[Callable[..., Answer], dict[str, Any], Rule]] = {
    "DDP": (replicated, {}, CHEBYSHEV),
    "DDP, low memory": (replicated, {"memory": "low"}, CHEBYSHEV),
    "DDP that looks for unused parameters": (replicated, {"find_unused_parameters": True}, CHEBYSHEV),
    "DDP with a static graph": (replicated, {"static_graph": True}, CHEBYSHEV),
    "DDP, a rule that needs entries": (replicated, {"rule": by_name("chebyshev", p=3.0)}, by_name("chebyshev", p=3.0)),
    "DDP, accumulated": (accumulated, {}, CHEBYSHEV),
    "DDP, weights reused": (reused, {}, CHEBYSHEV),
    "FSDP": (sharded, {}, CHEBYSHEV),
    "FSDP, weights reused": (sharded, {"every": 2}, CHEBYSHEV),
}


def all_ways(dtype: torch.dtype) -> dict[str, Answer]:
    answers = {name: way(dtype, **options) for name, (way, options, _) in WAYS.items()}
    if dist.get_world_size() == 4:
        answers["FSDP"] = sharded(dtype, mesh=(2, 2))  # replicated over one dimension, sharded over the other
    return answers


def assert_one_process(count: int, dtype: torch.dtype) -> None:
    """In one start of the processes, which takes longer than all that they do."""
    answers = run_on(count, all_ways, dtype)
    for way, (_, _, rule) in WAYS.items():
        expected = alone(dtype, rule)
        for trunk, heads, record in (answer[way] for answer in answers):
            assert np.abs(trunk - expected.trunk).max() <= TOLERANCE[dtype] * np.abs(expected.trunk).max(), way
            assert np.abs(heads - expected.heads).max() <= TOLERANCE[dtype] * np.abs(expected.heads).max(), way
            assert record.radius == pytest.approx(expected.record.radius, abs=TOLERANCE[dtype]), way
            assert record.active == expected.record.active, way


def test_two_processes_are_one() -> None:
    assert_one_process(2, torch.float64)


@pytest.mark.slow
def test_only_the_gram_matrix_crosses_the_wire_beside_each_losss_own_gradient() -> None:
    for plain, ours in run_on(2, traffic):
        assert any("reduce_scatter" in name for name, _ in plain)
        assert ours - plain == Counter({("c10d::allreduce_", 3 * 3): 1})


@pytest.mark.slow
@pytest.mark.parametrize(("count", "dtype"), [(4, torch.float64), (2, torch.float32), (4, torch.float32)])
def test_more_processes_and_single_precision(count: int, dtype: torch.dtype) -> None:
    assert_one_process(count, dtype)
