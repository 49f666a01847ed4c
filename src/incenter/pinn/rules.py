"""The rule of a run: made from its configuration, and called inside the compiled loop with what it needs."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from incenter import methods
from incenter.geometry.arrays import Matrix, Scalar, Weights
from incenter.geometry.errors import IncenterError
from incenter.methods import Rule, Update
from incenter.pinn.configuration import Configuration, unknown
from incenter.pinn.loading import from_file, in_file

_OURS = "incenter.methods."
_PAPERS_P = 2.0


def rule_class(method: Any) -> type:
    """The class behind a rule's name, FILE.py:NAME, a class or an instance."""
    found = from_file(method) if in_file(method) else method
    if isinstance(found, str):
        return type(methods.by_name(found))
    return found if isinstance(found, type) else type(found)


def rule_of(configuration: Configuration, residual_rows: Sequence[int]) -> Rule:
    """The rule with its fields set: the options, `p` where it has one, and the PDE's rows where it asks for them."""
    made = _made(configuration)
    fields: set[str] = {each.name for each in dataclasses.fields(made)} if dataclasses.is_dataclass(made) else set()
    filled: dict[str, Any] = {}
    given = configuration.method_options
    if "p" in fields and isinstance(configuration.method, str):
        filled["p"] = configuration.p
    elif configuration.p not in (_PAPERS_P, getattr(made, "p", _PAPERS_P)):
        raise IncenterError(f"The rule {made.name!r} has no `p`; got p={configuration.p}: leave it at {_PAPERS_P}.")
    if "residual" in fields and "residual" not in given and isinstance(configuration.method, str):
        filled["residual"] = tuple(residual_rows)
    if not filled:
        return made
    replaced: Any = made
    rule: Rule = dataclasses.replace(replaced, **filled)
    return rule


def _made(configuration: Configuration) -> Rule:
    options = configuration.method_options
    if "p" in options:
        raise IncenterError(f"Set `p` itself instead of a method option: p={options['p']!r}.")
    found = from_file(configuration.method) if in_file(configuration.method) else configuration.method
    if isinstance(found, str):
        return methods.by_name(found, **options)
    if isinstance(found, type) and callable(getattr(found, "combine", None)):
        known = [each.name for each in dataclasses.fields(found)] if dataclasses.is_dataclass(found) else []
        for name in options:
            if name not in known:
                raise IncenterError(unknown(f"field of the rule {configuration.method!r}", name, known))
        made: Rule = found(**options)
        return made
    if not callable(getattr(found, "combine", None)):
        raise IncenterError(
            f"`method` must be a rule's name, FILE.py:NAME, or a rule with a method `combine`; got {found!r}."
        )
    if not options:
        given: Rule = found
        return given
    try:
        changed: Rule = dataclasses.replace(found, **options)
        return changed
    except TypeError as error:
        raise IncenterError(f"The rule {configuration.method!r} does not take these fields ({error}).") from error


def combiner(
    rule: Rule, traces: Callable[[Any, Any], Weights]
) -> Callable[[Matrix, Weights, Any, Scalar, Scalar, Any, Any], Update]:
    """`rule.combine` as the loop calls it: (G, losses, state, key, first, theta, batch) -> Update.

    `first` says that no step was made yet. The rules of this library read zeros as the fresh state; a rule from outside
    may not, so it gets None at its first step, as it does everywhere else.
    """
    wants_traces = "traces" in rule.needs and getattr(rule, "measure", "traces") == "traces"
    starts_from_zeros = type(rule).__module__.startswith(_OURS)

    def combine(G: Matrix, losses: Weights, state: Any, key: Scalar, first: Scalar, theta: Any, batch: Any) -> Update:
        given: dict[str, Any] = {"losses": losses}
        if "key" in rule.needs:
            given["key"] = key
        if wants_traces:
            given["traces"] = _traces_when_due(rule, traces, state, losses, theta, batch)

        def fresh() -> Update:
            return rule.combine(G, state=None, **given)

        def later() -> Update:
            return rule.combine(G, state=state, **given)

        if state is None:
            return fresh()
        return later() if starts_from_zeros else jax.lax.cond(first, fresh, later)

    return combine


def _traces_when_due(
    rule: Any, traces: Callable[[Any, Any], Weights], state: Any, losses: Weights, theta: Any, batch: Any
) -> Weights:
    """Traces cost more than gradients: computed in the steps that use them, zeros in the others."""
    if not (hasattr(rule, "every") and hasattr(state, "step")):
        return traces(theta, batch)
    due = state.step % rule.every == 0
    return jax.lax.cond(due, lambda: traces(theta, batch), lambda: jnp.zeros_like(losses))
