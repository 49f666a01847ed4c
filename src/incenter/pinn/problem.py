"""A problem: a domain, named losses, a network, unknown scalars, and the reference that it is measured against.

It is checked as a whole when it is made: every residual is run once on shapes alone, so that what is wrong in it is
said then and in one sentence.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from incenter.geometry.errors import IncenterError
from incenter.pinn.domain import Domain, is_finite_number
from incenter.pinn.evaluation import Evaluation
from incenter.pinn.networks import MLP
from incenter.pinn.reference import Evaluated, Reference
from incenter.pinn.samplers import interior_share
from incenter.pinn.terms import Term

_NETWORK = MLP(width=50, depth=2)  # the paper's
_TAKEN = ("left", "right", "value")  # names that terms give to residuals


@dataclass(frozen=True)
class Settings:
    """How a problem is trained unless said otherwise: as the paper's forward runs."""

    steps: int = 50_000
    lr: float = 1e-3
    error_name: str = "relative_l2"

    def __post_init__(self) -> None:
        if isinstance(self.steps, bool) or not isinstance(self.steps, (int, np.integer)) or self.steps < 1:
            raise IncenterError(f"`steps` must be a whole number, at least 1; got {self.steps!r}.")
        if not is_finite_number(self.lr) or self.lr <= 0:
            raise IncenterError(f"`lr` must be a positive number; got {self.lr!r}; the paper has 1e-3.")


@dataclass(frozen=True, eq=False)
class Problem:
    """Losses in the order of `terms`; `unknowns` are scalars to be found, by name, with their start values."""

    domain: Domain
    terms: Mapping[str, Term]
    network: Any = _NETWORK
    outputs: tuple[str, ...] = ("u",)
    unknowns: Mapping[str, float] = field(default_factory=dict)
    reference: Any = None  # a Reference when made; here afterwards with .points, .values and .outputs
    settings: Settings = Settings()
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain):
            raise IncenterError(f"`domain` must be a domain, such as Box(x=(-1, 1)); got {self.domain!r}.")
        if isinstance(self.outputs, list):
            object.__setattr__(self, "outputs", tuple(self.outputs))
        _check_terms(self.terms)
        _check_names(self.outputs, self.unknowns, self.domain)
        object.__setattr__(self, "terms", MappingProxyType(dict(self.terms)))
        object.__setattr__(self, "unknowns", MappingProxyType({k: float(v) for k, v in self.unknowns.items()}))
        interior_share(self.domain)
        for name in self.terms:
            self._check_term(name)
        object.__setattr__(self, "reference", self._read_reference())

    @property
    def residual_rows(self) -> tuple[int, ...]:
        """The rows of the gradients that belong to the PDE itself."""
        return tuple(k for k, term in enumerate(self.terms.values()) if term.interior)

    def _check_term(self, name: str) -> None:
        """One sentence, with the name of the term in front, where it does not fit the problem."""
        term = self.terms[name]
        try:
            term.check(self.domain)
            self._check_arguments(term)
            self._run_abstractly(term)
        except IncenterError as error:
            raise IncenterError(f"Term {name!r}: {error}") from error
        except Exception as error:
            raise IncenterError(
                f"Term {name!r}: its residual fails with {type(error).__name__} ({_first_line(error)}); "
                "it runs on fields and JAX arrays, so write jnp.sin for np.sin, and jnp.where for if."
            ) from error

    def _check_arguments(self, term: Term) -> None:
        seen = ("left", "right") if term.paired else self.outputs
        known = (*seen, *self.unknowns, *term.extra)
        for name in term.arguments:
            if name in known:
                continue
            advice = f"write {seen[0]}.at.{name} for the coordinate" if name in self.domain.axes else "use those"
            raise IncenterError(
                f"the residual has a parameter {name!r}, and {type(term).__name__} terms have {', '.join(known)}; "
                f"{advice}, or give it a default."
            )

    def _run_abstractly(self, term: Term) -> None:
        sample = jax.eval_shape(lambda: term.draw(self.domain, (0, 0, 0), jnp.float32))
        unknowns = {name: jnp.zeros((), jnp.float32) for name in self.unknowns}
        Evaluation(self.domain.axes, self.outputs).discover(term, sample, unknowns)

    def _read_reference(self) -> Evaluated | None:
        given = self.reference
        if isinstance(given, Evaluated):  # of a problem that this one was made from by dataclasses.replace
            given = given.recipe
        if given is None:
            return None
        if not isinstance(given, Reference):
            axes = ", ".join(f"{axis}=100" for axis in self.domain.axes)
            raise IncenterError(f"`reference` must be a Reference, such as Reference(f, {axes}); got {given!r}.")
        return given.on(self.domain, self.outputs)


def _check_terms(terms: Any) -> None:
    if not isinstance(terms, Mapping) or not terms:
        raise IncenterError(
            f"`terms` must be a dict of at least one loss by name, such as "
            f'{{"residual": Interior(1000, lambda u: u.lap)}}; got {terms!r}.'
        )
    for name, term in terms.items():
        if not isinstance(name, str) or not name:
            raise IncenterError(f'The names of terms must be strings, such as "residual"; got {name!r}.')
        if not isinstance(term, Term):
            raise IncenterError(
                f"Term {name!r} must be an Interior, Boundary, Initial, Periodic or Data; got {term!r}; "
                "write for instance Interior(1000, lambda u: u.lap)."
            )


def _check_names(outputs: Any, unknowns: Any, domain: Domain) -> None:
    """Outputs, unknowns and axes are told apart by name."""
    if not isinstance(outputs, tuple) or not outputs:
        raise IncenterError(f'`outputs` must be a tuple of names, such as ("u",) or ("u", "v", "p"); got {outputs!r}.')
    if not isinstance(unknowns, Mapping):
        raise IncenterError(f'`unknowns` must be start values by name, such as {{"nu": 0.1}}; got {unknowns!r}.')
    taken = {**dict.fromkeys(domain.axes, "an axis"), **dict.fromkeys(_TAKEN, "a name that terms give")}
    for kind, name in [*(("an output", name) for name in outputs), *(("an unknown", name) for name in unknowns)]:
        if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
            raise IncenterError(
                f"{kind[0].upper()}{kind[1:]} must be called by a Python name, such as u; got {name!r}."
            )
        if name in taken:
            raise IncenterError(f"{name!r} names both {kind} and {taken[name]}; rename one of them.")
        taken[name] = kind
    for name, start in unknowns.items():
        if not is_finite_number(start):
            raise IncenterError(f"The unknown {name!r} must start from a finite number; got {start!r}; try 1.0.")


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0].rstrip(".")
