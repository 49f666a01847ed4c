"""The training step of DeepXDE's PyTorch backend, with a rule in it."""

import contextlib
from typing import Any

import torch
from deepxde import config

from incenter.adapters.deepxde_losses import losses_one_by_one
from incenter.geometry.errors import IncenterError
from incenter.methods import Rule
from incenter.torch import Backward


def replace_step(model: Any, rule: Rule, seed: int, attached: Any) -> None:
    """`model.train_step` that gives each loss to `rule`, and then steps optimiser and schedule as DeepXDE does."""
    if isinstance(model.opt, torch.optim.LBFGS):
        raise IncenterError("L-BFGS searches along one summed loss; compile with another optimizer, such as Adam.")
    trained = {id(parameter) for group in model.opt.param_groups for parameter in group["params"]}
    if not all(id(variable) in trained for variable in model.external_trainable_variables):
        raise IncenterError(
            "The optimizer that was given does not train all external_trainable_variables; add them to its parameters."
        )
    attached.step = Backward(model.opt.param_groups, rule, seed=seed)

    def train_step(inputs: Any, targets: Any, auxiliary: Any) -> None:
        model.opt.zero_grad()
        with _precision(mixed=bool(config.mixed)):
            losses = losses_one_by_one(model, lambda: model.outputs_losses_train(inputs, targets, auxiliary)[1])
            attached.last = attached.step(losses)
        model.opt.step()
        if model.lr_scheduler is not None:
            model.lr_scheduler.step()

    model.train_step = train_step


def _precision(*, mixed: bool) -> Any:
    return torch.autocast(torch.get_default_device().type, torch.float16) if mixed else contextlib.nullcontext()
