"""Optimisers and learning-rate schedules by name, all of them acting on the flat vector theta.

Whatever optax has under a name is an optimiser here (`muon` and others from `optax.contrib`); `adam` is the default,
with the paper's constants, which are optax's: 0.9, 0.999 and 1e-8. An optimiser that looks at matrices, as Muon does,
gets theta as the tree of the network's parameters and its step is made flat again.
"""

import inspect
from collections.abc import Callable
from typing import Any

import jax
import optax

from incenter.geometry.arrays import Vector
from incenter.geometry.errors import IncenterError
from incenter.pinn.configuration import Configuration, unknown

OF_MATRICES = ("muon",)  # optimisers that treat a matrix otherwise than the vector of its entries


def optimizer_names() -> list[str]:
    """Optimisers of optax and of its `contrib` that need no more than gradients."""
    return sorted(_FACTORIES)


def schedule_names() -> list[str]:
    return sorted(_SCHEDULES)


def optimizer_factory(name: str) -> Callable[..., Any]:
    """The function of optax called `name`."""
    if name == "lbfgs":
        raise IncenterError(
            "L-BFGS needs points that stay and one loss, so it can only finish a run: keep the optimiser and set "
            'finish="lbfgs" and finish_steps=1000.'
        )
    if name not in _FACTORIES:
        raise IncenterError(unknown("optimiser", name, _FACTORIES))
    return _FACTORIES[name]


def schedule_factory(name: str) -> Callable[..., Any]:
    """The schedule called `name`, a function of the rate, the number of steps, and its options."""
    if name not in _SCHEDULES:
        raise IncenterError(unknown("schedule", name, _SCHEDULES))
    return _SCHEDULES[name]


def schedule_of(configuration: Configuration) -> Any:
    """The learning rate of a resolved configuration: a number, or a function of the steps made."""
    factory = schedule_factory(configuration.schedule)
    return call(
        factory,
        f"schedule {configuration.schedule!r}",
        configuration.schedule_options,
        configuration.lr,
        configuration.steps,
    )


def optimizer_of(configuration: Configuration, objective: Any, *, plain: bool) -> optax.GradientTransformation:
    """The optimiser of a resolved configuration; `plain` is for rules that are optimisers themselves."""
    rate = schedule_of(configuration)
    if plain:
        if configuration.optimizer not in ("adam", "sgd") or configuration.optimizer_options:
            raise IncenterError(
                f"The rule {configuration.method!r} is an optimiser itself and is stepped plainly: leave out the "
                f"optimiser {configuration.optimizer!r} and its options."
            )
        return optax.sgd(rate)
    if isinstance(configuration.optimizer, optax.GradientTransformation):
        return configuration.optimizer
    if not isinstance(configuration.optimizer, str):
        raise IncenterError(
            f"`optimizer` must be a name of optax or an optax.GradientTransformation; got {configuration.optimizer!r}."
        )
    factory = optimizer_factory(configuration.optimizer)
    made = call(factory, f"optimiser {configuration.optimizer!r}", configuration.optimizer_options, rate)
    return over_matrices(made, objective.unravel) if configuration.optimizer in OF_MATRICES else made


def over_matrices(
    transformation: optax.GradientTransformation, unravel: Callable[[Vector], Any]
) -> optax.GradientTransformation:
    """`transformation` of the tree that `unravel` makes of a flat vector, as one of the flat vector."""

    def init(theta: Any) -> Any:
        return transformation.init(unravel(theta))

    def update(gradient: Any, state: Any, theta: Any = None) -> tuple[Any, Any]:
        step, state = transformation.update(unravel(gradient), state, unravel(theta))
        (flat,) = jax.linear_transpose(unravel, theta)(step)  # unravel only moves entries: its transpose is its inverse
        return flat, state

    return optax.GradientTransformation(init, update)


def options_of(factory: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The arguments a user may set: all but the learning rate and the number of steps."""
    return {
        name: parameter
        for name, parameter in inspect.signature(factory).parameters.items()
        if name not in ("learning_rate", "rate", "steps", "_steps") and parameter.default is not parameter.empty
    }


def call(factory: Callable[..., Any], what: str, options: dict[str, Any], *arguments: Any) -> Any:
    """`factory(*arguments, **options)`; what is wrong with the options is one sentence."""
    known = options_of(factory)
    for name in options:
        if name not in known:
            raise IncenterError(unknown(f"option of the {what}", name, known))
    try:
        return factory(*arguments, **options)
    except (TypeError, ValueError) as error:
        if isinstance(error, IncenterError):
            raise
        given = ", ".join(f"{name}={value!r}" for name, value in options.items())
        raise IncenterError(f"The {what} does not take {given} ({error}); change these options.") from error


def _constant(rate: float, _steps: int) -> Any:
    return rate


def _cosine(rate: float, steps: int, *, end: float = 0.0) -> Any:
    """Down along half a cosine to `end`, a share of the rate, at the last step."""
    return optax.cosine_decay_schedule(rate, max(steps, 1), alpha=end)


def _exponential(rate: float, _steps: int, *, factor: float = 0.9, every: int = 2000) -> Any:
    """Times `factor` for every `every` steps, smoothly."""
    if not factor > 0 or every < 1:
        raise IncenterError(f"`factor` must be positive and `every` 1 or more; got {factor} and {every}.")
    return optax.exponential_decay(rate, every, factor)


def _warmup(rate: float, steps: int, *, warmup: int = 1000) -> Any:
    """Up from 0 along a line for `warmup` steps, then constant."""
    _check_warmup(warmup, steps)
    return optax.linear_schedule(0.0, rate, warmup)


def _warmup_cosine(rate: float, steps: int, *, warmup: int = 1000, end: float = 0.0) -> Any:
    """Up from 0 along a line for `warmup` steps, then down along half a cosine to `end`, a share of the rate."""
    _check_warmup(warmup, steps)
    return optax.warmup_cosine_decay_schedule(0.0, rate, warmup, max(steps, warmup + 1), end_value=end * rate)


def _check_warmup(warmup: int, steps: int) -> None:
    if not 1 <= warmup < max(steps, 2):
        raise IncenterError(f"`warmup` must be from 1 step to less than the {steps} of the run; got {warmup}.")


def _factories() -> dict[str, Callable[..., Any]]:
    """What in optax makes an optimiser of a learning rate alone and updates with gradients alone."""
    found = {}
    for library in (optax.contrib, optax):
        for name in _OPTAX:
            if hasattr(library, name):
                found[name] = getattr(library, name)
    return found


# Those that want more than gradients at each step (losses, keys, a second evaluation) are left out.
_OPTAX = (
    "adabelief", "adadelta", "adafactor", "adagrad", "adam", "adamax", "adamaxw", "adamw", "adan", "ademamix", "adopt",
    "amsgrad", "fromage", "lamb", "lars", "lion", "muon", "nadam", "nadamw", "novograd", "radam", "rmsprop", "rprop",
    "sgd", "sign_sgd", "signum", "sm3", "yogi",
)  # fmt: skip
_FACTORIES = _factories()
_SCHEDULES: dict[str, Callable[..., Any]] = {
    "constant": _constant,
    "cosine": _cosine,
    "exponential": _exponential,
    "warmup": _warmup,
    "warmup_cosine": _warmup_cosine,
}
