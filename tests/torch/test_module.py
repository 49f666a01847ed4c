"""What `Backward` remembers, and its place among scalers, clipping, accumulation and compiled models."""

import io
from typing import Any

import numpy as np
import pytest
import torch
from torch.amp.grad_scaler import GradScaler

from incenter import IncenterError, Status
from incenter.methods import by_name
from incenter.methods.rule import Rule
from incenter.torch import Backward, backward
from tests.torch.networks import Tasks, losses_of, points, written

REMEMBER = ["lra", "relobralo", "bgda", "multiadam", "m_config", "ntk"]


def rule_called(name: str) -> Rule:
    return by_name("ntk", measure="proxy_traces", every=3) if name == "ntk" else by_name(name)


class Run:
    """A short training run, with what a checkpoint of it holds."""

    def __init__(self, rule: Rule, **options: Any) -> None:
        self.model = Tasks()
        self.step = Backward(self.model.trunk.parameters(), rule, **options)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3, momentum=0.9)
        self.parts: tuple[Any, ...] = (self.model, self.step, self.optimizer)

    def train(self, first: int, last: int) -> None:
        for number in range(first, last):
            self.optimizer.zero_grad()
            self.step(losses_of(self.model, points(seed=number)))
            self.optimizer.step()

    def saved(self) -> io.BytesIO:
        buffer = io.BytesIO()
        torch.save([part.state_dict() for part in self.parts], buffer)
        buffer.seek(0)
        return buffer

    def load(self, buffer: io.BytesIO) -> None:
        for part, state in zip(self.parts, torch.load(buffer, weights_only=True), strict=True):
            part.load_state_dict(state)

    def bits(self) -> bytes:
        return b"".join(parameter.detach().numpy().tobytes() for parameter in self.model.parameters())


@pytest.mark.parametrize("name", REMEMBER)
def test_a_rule_with_memory_goes_on_bit_for_bit(name: str) -> None:
    whole, first, second = (Run(rule_called(name)) for _ in range(3))
    whole.train(0, 7)
    first.train(0, 4)
    second.load(first.saved())
    second.train(4, 7)
    assert second.bits() == whole.bits()
    fresh = Run(rule_called(name))
    fresh.model.load_state_dict(first.model.state_dict())
    fresh.optimizer.load_state_dict(first.optimizer.state_dict())
    fresh.train(4, 7)
    assert fresh.bits() != whole.bits()  # what was saved made the difference


def test_reused_weights_go_on_bit_for_bit() -> None:
    whole, first, second = (Run(by_name("chebyshev"), every=3) for _ in range(3))
    whole.train(0, 8)
    first.train(0, 4)  # in the middle between two solves
    second.load(first.saved())
    second.train(4, 8)
    assert second.bits() == whole.bits()


def test_another_rules_state_is_refused() -> None:
    with pytest.raises(IncenterError, match="'lra'"):
        Run(by_name("bgda")).load(Run(by_name("lra")).saved())


@pytest.mark.parametrize("memory", ["fast", "low"])
def test_between_solves_one_pass_takes_the_known_weights(memory: str) -> None:
    model = Tasks()
    params = list(model.parameters())  # no heads: the weighted sum is all there is
    step = Backward(params, every=3, memory=memory)
    ages = []
    for number in range(5):
        model.zero_grad()
        losses = losses_of(model, points(seed=number))
        record = step(losses)
        ages.append(record.age)
        if record.age > 0:
            assert record.passes == 1
            found = written(params)
            model.zero_grad()
            assert record.weights is not None
            values = torch.stack(list(losses_of(model, points(seed=number)).values()))
            (torch.tensor(record.weights, dtype=torch.float64) @ values).backward()  # type: ignore[no-untyped-call]
            assert np.abs(found - written(params)).max() <= 1e-12 * np.abs(found).max()
    assert ages == [0, 1, 2, 0, 1]


def test_heads_get_the_plain_sum_between_solves_too() -> None:
    model = Tasks()
    step = Backward(model.trunk.parameters(), every=2)
    found = []
    for _ in range(2):
        model.zero_grad()
        step(losses_of(model, points()))
        found.append((written(model.trunk.parameters()), written(model.heads.parameters())))
    for solved, reused in zip(*found, strict=True):
        assert np.abs(solved - reused).max() <= 1e-12 * np.abs(solved).max()


def test_a_rule_without_weights_cannot_reuse_them() -> None:
    model = Tasks()
    step = Backward(model.trunk.parameters(), by_name("chebyshev", p=3), every=2)
    step(losses_of(model, points()))
    with pytest.raises(IncenterError, match="every=1"):
        step(losses_of(model, points()))


@pytest.mark.parametrize("rule", [by_name("chebyshev"), by_name("chebyshev", p=3)])
def test_accumulation_is_the_step_of_the_whole_batch(rule: Rule) -> None:
    model = Tasks()
    params = list(model.parameters())
    backward(losses_of(model, points()), model.trunk.parameters(), rule)
    whole = written(params)
    model.zero_grad()
    step = Backward(model.trunk.parameters(), rule)
    *before, last = points().chunk(4)
    for part in before:
        step.accumulate({name: loss / 4 for name, loss in losses_of(model, part).items()})
    step({name: loss / 4 for name, loss in losses_of(model, last).items()})
    assert np.abs(written(params) - whole).max() <= 1e-12 * np.abs(whole).max()


def test_accumulation_needs_fast_memory() -> None:
    with pytest.raises(IncenterError, match="fast"):
        Backward([torch.ones(1, requires_grad=True)], memory="low").accumulate({})


@pytest.mark.parametrize("memory", ["fast", "low"])
@pytest.mark.parametrize("name", ["chebyshev", "relobralo"])
def test_a_scaler_changes_nothing_but_the_scale(name: str, memory: str) -> None:
    """relobralo looks at the losses, which must be seen unscaled."""
    model = Tasks()
    plain, scaled = (Backward(model.trunk.parameters(), by_name(name), memory=memory) for _ in range(2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    scaler = GradScaler("cpu", init_scale=2.0**16)
    for number in range(3):
        optimizer.zero_grad()
        plain(losses_of(model, points(seed=number)))
        wanted = written(model.parameters())
        optimizer.zero_grad()
        record = scaled(losses_of(model, points(seed=number)), scaler=scaler)
        assert np.abs(written(model.parameters()) / 2.0**16 - wanted).max() <= 1e-13 * np.abs(wanted).max()
        scaler.unscale_(optimizer)
        length = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        assert length == pytest.approx(float(np.linalg.norm(wanted)), rel=1e-12)
        assert np.linalg.norm(written(model.parameters())) == pytest.approx(0.5, rel=1e-4)  # torch adds 1e-6 there
        scaler.step(optimizer)
        scaler.update()
    assert record.status is Status.OPTIMAL


def test_a_rule_that_needs_entries_sees_them_unscaled() -> None:
    """multiadam adds its eps to them."""
    model = Tasks()
    rule = by_name("multiadam", eps=1e-2)
    Backward(model.trunk.parameters(), rule)(losses_of(model, points()))
    wanted = written(model.trunk.parameters())
    model.zero_grad()
    step = Backward(model.trunk.parameters(), rule)
    step(losses_of(model, points()), scaler=GradScaler("cpu", init_scale=2.0**10))
    assert np.abs(written(model.trunk.parameters()) / 2.0**10 - wanted).max() <= 1e-12 * np.abs(wanted).max()


@pytest.mark.parametrize("memory", ["fast", "low"])
@pytest.mark.parametrize("rule", [by_name("chebyshev"), by_name("chebyshev", p=3)])
def test_the_scaler_sees_an_overflow_and_skips_the_step(rule: Rule, memory: str) -> None:
    if memory == "low" and not rule.gram_only:
        pytest.skip("not a Gram-only rule")
    model = Tasks()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    scaler = GradScaler("cpu", init_scale=8.0)
    before = [parameter.clone() for parameter in model.parameters()]
    losses = losses_of(model, points())
    losses["task1"] = losses["task1"] * torch.inf
    record = backward(losses, model.trunk.parameters(), rule, memory=memory, scaler=scaler)
    scaler.step(optimizer)
    scaler.update()
    assert record.status is Status.NONFINITE
    assert scaler.get_scale() == 4.0
    assert all(torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True))


def test_autocast_keeps_parameters_and_update_in_single_precision() -> None:
    model = Tasks(torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        losses = losses_of(model, points(dtype=torch.float32))
    record = backward(losses, model.trunk.parameters())
    assert record.status is Status.OPTIMAL
    assert all(p.grad is not None and p.grad.dtype == torch.float32 for p in model.trunk.parameters())


@pytest.fixture
def no_donated_buffers() -> Any:
    from torch._functorch import config

    before = config.donated_buffer
    config.donated_buffer = False
    yield
    config.donated_buffer = before


def compiled(model: torch.nn.Module) -> Any:
    torch._dynamo.reset()
    return torch.compile(model, backend="aot_eager")


@pytest.mark.parametrize("memory", ["fast", "low"])
@pytest.mark.usefixtures("no_donated_buffers")
def test_a_compiled_model_is_the_model(memory: str) -> None:
    model = Tasks()
    backward(losses_of(model, points()), model.trunk.parameters())
    wanted = written(model.parameters())
    model.zero_grad()
    backward(losses_of(compiled(model), points()), model.trunk.parameters(), memory=memory)
    assert np.abs(written(model.parameters()) - wanted).max() <= 1e-12 * np.abs(wanted).max()


def test_a_compiled_model_that_gave_its_buffers_away_is_reported() -> None:
    """That is what an ordinary backward pass makes torch compile."""
    model = Tasks()
    network = compiled(model)
    torch.stack(list(losses_of(network, points()).values())).sum().backward()  # type: ignore[no-untyped-call]
    with pytest.raises(IncenterError, match="donated_buffer = False"):
        backward(losses_of(network, points()), model.trunk.parameters())


def test_compiled_losses_with_passes_of_their_own_need_no_setting() -> None:
    model = Tasks()
    backward(losses_of(model, points()), model.trunk.parameters())
    wanted = written(model.parameters())
    model.zero_grad()
    network = compiled(model)
    torch.stack(list(losses_of(network, points()).values())).sum().backward()  # type: ignore[no-untyped-call]
    model.zero_grad()
    losses = {name: losses_of(network, points())[name] for name in ("task0", "task1", "task2")}
    backward(losses, model.trunk.parameters())
    assert np.abs(written(model.parameters()) - wanted).max() <= 1e-12 * np.abs(wanted).max()


def test_checkpointed_activations() -> None:
    model = Tasks()
    backward(losses_of(model, points()), model.trunk.parameters())
    wanted = written(model.parameters())
    for memory in ("fast", "low"):
        model.zero_grad()
        features = torch.utils.checkpoint.checkpoint(model.trunk, points(), use_reentrant=False)
        targets = [points()[:, [i]] for i in range(3)]
        losses = [10.0**i * (model.heads[i](features) - targets[i]).square().mean() for i in range(3)]
        backward(losses, model.trunk.parameters(), memory=memory)
        assert np.abs(written(model.parameters()) - wanted).max() <= 1e-12 * np.abs(wanted).max()
