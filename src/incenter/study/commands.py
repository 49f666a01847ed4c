"""The command that trains a stored configuration again.

    incenter train burgers --method chebyshev --lr 0.001 --steps 15000 --seeds 0,1,2 --set record_every=30

A field at its default goes unsaid, but for the method, the learning rate, the steps and the seed, which a reader wants
to see, and for what follows from the steps. What the command says is the stored configuration: it has its fingerprint.
"""

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from incenter.study.records import options_of

# Of `incenter.pinn.Configuration`, kept here so that a store is read without JAX; every other default is None.
DEFAULTS: Mapping[str, Any] = {
    "p": 2.0, "optimizer": "adam", "schedule": "constant", "finish_steps": 0, "precision": 32, "devices": 1,
    "stop_radius": 1e-6, "nonfinite": "hold",
}  # fmt: skip
_SAID = ("method", "lr", "steps")
_OPTIONS_OF_TRAIN = (*_SAID, "p", "optimizer", "precision", "devices", "save_gradients")
_WORDS_OF_THEIR_OWN = ("problem", "seed")
_INNER = "_options"


def command_of(configuration: Mapping[str, Any], seeds: Iterable[int] = ()) -> str:
    """What to type for this configuration, of which a store holds plain values; for all of `seeds` at once."""
    wanted = {name: value for name, value in configuration.items() if _is_said(name, value)}
    words = ["incenter", "train", str(configuration["problem"])]
    for name in _OPTIONS_OF_TRAIN:
        if name in wanted:
            words += [f"--{name.replace('_', '-')}", typed(wanted[name])]
    words += ["--seeds", ",".join(map(str, tuple(seeds) or (configuration["seed"],)))]
    settings = [f"{name}={typed(value)}" for name, value in wanted.items() if name not in _OPTIONS_OF_TRAIN]
    settings += [f"{name}={typed(value)}" for name, value in options_of(configuration).items()]
    return shlex.join([*words, "--set", *settings] if settings else words)


def typed(value: Any) -> str:
    """As a value is typed after an equals sign."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _is_said(name: str, value: Any) -> bool:
    if name in _WORDS_OF_THEIR_OWN or name.endswith(_INNER):
        return False
    return value is not None if name in _SAID else value != DEFAULTS.get(name)
