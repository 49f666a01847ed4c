"""A problem: a domain, named losses, a network, unknown scalars, and the reference that it is measured against."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from incenter.pinn.domain import Domain
from incenter.pinn.reference import BoundReference, Reference
from incenter.pinn.terms import Term


@dataclass(frozen=True)
class Settings:
    """How the problem is trained unless said otherwise: the paper's forward runs."""

    steps: int = 50_000
    lr: float = 1e-3
    error_name: str = "relative_l2"


@dataclass(frozen=True, eq=False)
class Problem:
    """Losses in the order of `terms`; `unknowns` are scalars to be found, by name, with their start values."""

    domain: Domain
    terms: Mapping[str, Term]
    network: Any = None
    outputs: tuple[str, ...] = ("u",)
    unknowns: Mapping[str, float] = field(default_factory=dict)
    reference: Reference | BoundReference | None = None
    settings: Settings = Settings()
    name: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.reference, Reference):
            object.__setattr__(self, "reference", self.reference.on(self.domain, self.outputs))

    @property
    def residual_rows(self) -> tuple[int, ...]:
        """The rows of the gradients that belong to the PDE itself."""
        return tuple(k for k, term in enumerate(self.terms.values()) if term.interior)
