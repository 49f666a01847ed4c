"""What `backward` writes is what the rule gives for the matrix of gradients, and everything else is as in torch."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.checkpoint import checkpoint

from incenter import IncenterError, Status
from incenter.methods import by_name, names
from incenter.methods.mgda import MGDA
from incenter.methods.rule import Rule
from incenter.torch import Backward, backward
from tests.torch.networks import Tasks, gradients_of, losses_of, points, written

MEMORY = pytest.mark.parametrize("memory", ["fast", "low"])
WITHOUT_MEMORY = [name for name in names() if name not in ("lra", "ntk", "relobralo", "bgda", "multiadam", "m_config")]
ENTRIES = [by_name("chebyshev", p=1.5), by_name("chebyshev", p=1.0)]


def gradient(parameter: torch.Tensor) -> torch.Tensor:
    assert parameter.grad is not None
    return parameter.grad


def assert_same(found: Any, expected: Any, tolerance: float = 1e-11) -> None:
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.parametrize("rule", [*map(by_name, WITHOUT_MEMORY), *ENTRIES], ids=lambda rule: rule.name)
def test_the_update_is_the_rules_own(rule: Rule) -> None:
    model = Tasks()
    params = list(model.trunk.parameters())
    key = np.array([0, 7, 0], dtype=np.uint32)  # the seed in two words, and the step
    expected = rule.combine(gradients_of(losses_of(model, points()).values(), params), key=key)
    for memory in ("fast", "low") if rule.gram_only else ("fast",):
        model.zero_grad()
        record = backward(losses_of(model, points()), params, rule, memory=memory, key=7)
        assert_same(written(params), expected.update)
        assert record.radius == pytest.approx(expected.radius, abs=1e-11)
        assert record.status is expected.status
        assert (record.weights is None) == (expected.weights is None)
        assert record.names == ("task0", "task1", "task2")


def test_weights_r_star_and_active_losses_are_those_of_the_center() -> None:
    model = Tasks()
    G = gradients_of(losses_of(model, points()).values(), model.trunk.parameters())
    expected = by_name("chebyshev").combine(G)
    record = backward(losses_of(model, points()), model.trunk.parameters())
    assert record.weights == pytest.approx(expected.weights, rel=1e-11)
    assert record.report["r*"] == pytest.approx(expected.report["r*"], abs=1e-12)
    assert 0 <= record.report["r*"] - record.radius <= 1e-9  # upper less lower bound
    cosines = G @ expected.update / np.linalg.norm(G, axis=1) / np.linalg.norm(expected.update)
    assert record.active == tuple(cosines <= cosines.min() + 1e-9)
    numbers = record.as_dict()
    assert record.weights is not None
    assert numbers["incenter/weight/task1"] == record.weights[1]
    assert all(type(number) is float for number in numbers.values())


@MEMORY
def test_heads_get_the_plain_summed_gradient(memory: str) -> None:
    model = Tasks()
    heads = list(model.heads.parameters())
    expected = gradients_of([torch.stack(list(losses_of(model, points()).values())).sum()], heads)[0]
    backward(losses_of(model, points()), model.trunk.parameters(), memory=memory)
    assert_same(written(heads), expected, 1e-13)


@MEMORY
def test_gradients_accumulate_as_in_torch(memory: str) -> None:
    model = Tasks()
    params = list(model.parameters())
    backward(losses_of(model, points()), model.trunk.parameters(), memory=memory)
    once = written(params)
    backward(losses_of(model, points()), model.trunk.parameters(), memory=memory)
    assert_same(written(params), 2 * once, 1e-13)


@MEMORY
def test_unused_and_frozen_parameters_are_left_alone(memory: str) -> None:
    model = Tasks()
    unused = torch.nn.Parameter(torch.zeros(3, dtype=torch.float64))
    model.trunk[0].bias.requires_grad_(False)
    live = [parameter for parameter in model.trunk.parameters() if parameter.requires_grad]
    expected = by_name("chebyshev").combine(gradients_of(losses_of(model, points()).values(), live)).update
    backward(losses_of(model, points()), [unused, *model.trunk.parameters()], memory=memory)
    assert unused.grad is None
    assert model.trunk[0].bias.grad is None
    assert_same(written(live), expected)


@MEMORY
def test_a_parameter_that_some_losses_do_not_use_counts_as_zero_there(memory: str) -> None:
    model = Tasks()
    params = list(model.parameters())  # each head is used by one loss
    expected = by_name("chebyshev").combine(gradients_of(losses_of(model, points()).values(), params)).update
    backward(losses_of(model, points()), params, memory=memory)
    assert_same(written(params), expected)


@MEMORY
def test_a_shared_parameter_counts_once(memory: str) -> None:
    torch.manual_seed(0)
    first, second = torch.nn.Linear(4, 4).double(), torch.nn.Linear(4, 4).double()
    second.weight = first.weight
    outputs = second(torch.tanh(first(torch.randn(9, 4).double())))
    losses = [output.square().mean() for output in outputs.T]
    params = [first.weight, first.bias, second.bias]
    expected = by_name("chebyshev").combine(gradients_of(losses, params)).update
    backward(losses, [*first.parameters(), *second.parameters()], memory=memory)
    assert_same(written(params), expected)


def test_parameters_come_in_every_form_that_an_optimizer_takes() -> None:
    model = Tasks()
    groups: list[dict[str, Any]] = [{"params": layer.parameters()} for layer in (model.trunk[0], model.trunk[2])]
    optimizer = torch.optim.SGD(groups, lr=0.1)
    updates = []
    for params in (model.trunk.parameters(), optimizer.param_groups, list(model.trunk.named_parameters())):
        model.zero_grad()
        backward(losses_of(model, points()), params)
        updates.append(written(model.trunk.parameters()))
    assert (updates[0] == updates[1]).all()
    assert (updates[0] == updates[2]).all()


@MEMORY
def test_losses_and_parameters_of_different_dtype(memory: str) -> None:
    model = Tasks()
    model.trunk[0].to(torch.float32)

    def losses() -> list[torch.Tensor]:
        features = model.trunk[2](torch.tanh(model.trunk[0](points().float())).double())
        values = [head(features).square().mean() for head in model.heads]
        return [values[0].float(), values[1].bfloat16(), values[2]]

    params = list(model.trunk.parameters())
    expected = by_name("chebyshev").combine(gradients_of(losses(), params)).update
    backward(losses(), params, memory=memory)
    assert_same(written(params), expected, 1e-5 if memory == "fast" else 2e-2)  # the weight of a bfloat16 loss is one
    assert [gradient(parameter).dtype for parameter in params] == [parameter.dtype for parameter in params]


def test_losses_of_separate_forward_passes_free_their_graphs() -> None:
    """Only what a later loss needs is kept."""
    weight = torch.ones(3, requires_grad=True)
    losses = [(weight * torch.arange(3.0)).square().sum(), (weight * torch.tensor([1.0, -1.0, 1.0])).square().sum()]
    backward(losses, [weight])
    with pytest.raises(RuntimeError, match="second time"):
        losses[0].backward()  # type: ignore[no-untyped-call]


@MEMORY
def test_the_graph_is_kept_where_asked(memory: str) -> None:
    model = Tasks()
    losses = losses_of(model, points())
    backward(losses, model.trunk.parameters(), memory=memory, retain_graph=True)
    once = written(model.trunk.parameters())
    model.zero_grad()
    backward(losses, model.trunk.parameters(), memory=memory)
    assert (written(model.trunk.parameters()) == once).all()


@MEMORY
def test_the_numbers_of_backward_passes_are_those_of_the_docs(memory: str) -> None:
    torch.manual_seed(0)
    layers = [torch.nn.Linear(8, 8, bias=False) for _ in range(3)]
    outputs = torch.nn.Sequential(*layers)(torch.randn(5, 8))
    losses = [output.square().mean() for output in outputs.T[:3]]
    record = backward(losses, torch.nn.ModuleList(layers).parameters(), memory=memory)
    assert record.passes == (3 if memory == "fast" else 3 * 3 + 1)


@pytest.mark.parametrize("sizes", [(50, 3, 3), (30, 30), (100,), (5, 60, 5, 20)])
def test_low_memory_with_tensors_larger_than_a_share(sizes: tuple[int, ...]) -> None:
    """Gradients of a large tensor meet in pairs; the matrix is the same."""
    torch.manual_seed(0)
    params = [torch.randn(size, dtype=torch.float64, requires_grad=True) for size in sizes]
    targets = [[torch.randn_like(parameter) for parameter in params] for _ in range(5)]

    def losses() -> list[torch.Tensor]:
        pairs = [zip(params, target, strict=True) for target in targets]
        return [torch.stack([(p - t).square().sum() for p, t in pair]).sum() for pair in pairs]

    backward(losses(), params, by_name("upgrad"))
    fast = written(params)
    for parameter in params:
        parameter.grad = None
    backward(losses(), params, by_name("upgrad"), memory="low")
    assert_same(written(params), fast, 1e-12)


@MEMORY
def test_stationary_points_and_bad_numbers_give_zeros(memory: str) -> None:
    weight = torch.ones(3, requires_grad=True)
    assert backward([weight.sum(), -weight.sum()], [weight], memory=memory).status is Status.STATIONARY
    assert not gradient(weight).any()
    assert backward([weight.sum(), weight.sum() * torch.inf], [weight], memory=memory).status is Status.NONFINITE
    assert not gradient(weight).any()


@MEMORY
def test_a_loss_that_does_not_move_the_parameters_is_reported(memory: str) -> None:
    weight, other = torch.ones(3, requires_grad=True), torch.ones(1, requires_grad=True)
    record = backward({"a": weight.sum(), "b": other.sum()}, [weight], memory=memory)
    assert record.status is Status.ZERO_ROW
    assert record.weights is not None
    assert record.weights[1] == 0
    assert gradient(weight).tolist() == pytest.approx([1, 1, 1])
    assert gradient(other).tolist() == [1]


def test_no_losses() -> None:
    assert backward([], [torch.ones(2, requires_grad=True)]).status is Status.EMPTY


@MEMORY
def test_the_device_is_waited_for_once(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every way from a device to the host goes through one of these."""
    waits: list[str] = []
    for name in ("cpu", "item", "tolist", "__bool__", "__float__", "__int__", "numpy"):
        original = getattr(torch.Tensor, name)

        def counted(tensor: Any, *rest: Any, original: Callable[..., Any] = original, name: str = name) -> Any:
            waits.append(name)
            return original(tensor, *rest)

        monkeypatch.setattr(torch.Tensor, name, counted)
    model = Tasks()
    backward(losses_of(model, points()), model.trunk.parameters(), memory=memory)
    assert waits == ["cpu", "numpy"]


SCALAR = torch.ones(2, requires_grad=True).sum()


@pytest.mark.parametrize(
    ("losses", "params", "message"),
    [
        (SCALAR, [torch.ones(2, requires_grad=True)], "before they are summed"),
        ([torch.ones(2, requires_grad=True) * 2], [torch.ones(2, requires_grad=True)], "scalar tensor"),
        ({"a": torch.tensor(1.0)}, [torch.ones(2, requires_grad=True)], "'a' has no gradient"),
        ([SCALAR], torch.ones(2, requires_grad=True), "model.parameters"),
        ([SCALAR], [torch.ones(2)], "None of the 1"),
        ([SCALAR], iter(()), "a generator that was read before"),
        ([SCALAR], [torch.ones(2, requires_grad=True) * 2], "leaves"),
        ([SCALAR], [1.0], "must hold tensors"),
        ([SCALAR], [torch.ones(2, dtype=torch.complex64, requires_grad=True)], "complex64"),
    ],
)
def test_what_a_user_can_mend_is_said(losses: Any, params: Any, message: str) -> None:
    with pytest.raises(IncenterError, match=message):
        backward(losses, params)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("mgda", r"the name 'mgda': pass incenter\.methods\.by_name\('mgda'\)"),
        (MGDA, r"the class MGDA: pass MGDA\(\)"),
        (3, "got int"),
    ],
)
def test_what_is_no_rule_gets_one_sentence(rule: Any, message: str) -> None:
    with pytest.raises(IncenterError, match=message):
        backward([SCALAR], [torch.ones(2, requires_grad=True)], rule)


def test_settings_that_cannot_be_are_refused() -> None:
    weight = torch.ones(2, requires_grad=True)
    with pytest.raises(IncenterError, match="fast"):
        Backward([weight], memory="none")
    with pytest.raises(IncenterError, match="side by side"):
        Backward([weight], by_name("chebyshev", p=3), memory="low")
    with pytest.raises(IncenterError, match="`every`"):
        Backward([weight], every=0)
    with pytest.raises(IncenterError, match="Backward"):
        backward([weight.sum(), weight[0]], [weight], by_name("lra"))
    hidden = checkpoint(torch.sum, weight, use_reentrant=True)
    with pytest.raises(IncenterError, match="use_reentrant"):
        backward([hidden, weight.sum()], [weight])
    embedding = torch.nn.Embedding(4, 2, sparse=True)
    with pytest.raises(IncenterError, match="sparse=False"):
        backward([embedding(torch.tensor([1])).sum()], embedding.parameters())
