"""The six problems, stated once for all rivals: domain, network, points, and equations that every library can fill in.

An equation is a function of a `Place`: of `field`, which gives values and derivatives by name ("u", "u_x", "u_xx"), of
the coordinates by axis, and of the functions sin, cos, exp and lookup of the library at hand. The loss of a term is
the sum over its equations of the mean over its points of the square. Ours has its own statement, in
`incenter.pinn.problems`; that the two agree is measured in every run.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Field = Callable[[str], Any]
Columns = Mapping[str, Any]


class Mathematics(NamedTuple):
    """The functions that the equations need, of one library."""

    sin: Callable[[Any], Any]
    cos: Callable[[Any], Any]
    exp: Callable[[Any], Any]
    lookup: Callable[[Floats, Any, Any], Any]  # table[rows, columns] at the nearest points of a grid on the unit square


class Place(NamedTuple):
    """Some points, or one, as an equation sees them."""

    field: Field
    at: Columns
    maths: Mathematics


Equations = Callable[[Place], tuple[Any, ...]]


@dataclass(frozen=True)
class Term:
    """One loss. `place` is interior, boundary (faces along the space axes), initial (t = start) or pool (fixed)."""

    count: int
    place: str
    equations: Equations


@dataclass(frozen=True)
class Branch:
    """An MLP of `depth` hidden layers that sees `inputs` and gives `outputs`."""

    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    depth: int = 2


@dataclass(frozen=True, eq=False)
class Statement:
    """`box` gives the range of each axis, in the order in which the network sees them."""

    box: dict[str, tuple[float, float]]
    branches: tuple[Branch, ...]
    terms: dict[str, Term]

    @property
    def axes(self) -> tuple[str, ...]:
        return tuple(self.box)

    @property
    def space(self) -> tuple[str, ...]:
        return tuple(axis for axis in self.box if axis != "t")

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(name for branch in self.branches for name in branch.outputs)

    def columns(self, points: Any) -> dict[str, Any]:
        return {axis: points[..., index] for index, axis in enumerate(self.box)}


WIDTH = 50


# The equations. Letters are those of the paper's appendix D.


def _vanishes(place: Place) -> tuple[Any, ...]:
    return (place.field("u"),)


def _helmholtz(place: Place) -> tuple[Any, ...]:
    field, at, maths = place
    forcing = (1 - 17 * pi**2) * maths.sin(pi * at["x"]) * maths.sin(4 * pi * at["y"])
    return (field("u_xx") + field("u_yy") + field("u") - forcing,)


_VISCOSITY = 1 / 40
_DECAY = 1 / (2 * _VISCOSITY) - sqrt(1 / (4 * _VISCOSITY**2) + 4 * pi**2)


def _navier_stokes(place: Place) -> tuple[Any, ...]:
    field = place.field
    u, v = field("u"), field("v")
    along_x = u * field("u_x") + v * field("u_y") + field("p_x") - _VISCOSITY * (field("u_xx") + field("u_yy"))
    along_y = u * field("v_x") + v * field("v_y") + field("p_y") - _VISCOSITY * (field("v_xx") + field("v_yy"))
    return along_x, along_y, field("u_x") + field("v_y")


def _kovasznay_flow(place: Place) -> tuple[Any, ...]:
    field, at, maths = place
    decay = maths.exp(_DECAY * at["x"])
    return (
        field("u") - (1 - decay * maths.cos(2 * pi * at["y"])),
        field("v") - _DECAY / (2 * pi) * decay * maths.sin(2 * pi * at["y"]),
        field("p") - 0.5 * (1 - decay * decay),
    )


def _burgers(place: Place) -> tuple[Any, ...]:
    return (place.field("u_t") + place.field("u") * place.field("u_x") - 0.01 / pi * place.field("u_xx"),)


def _minus_sine(place: Place) -> tuple[Any, ...]:
    field, at, maths = place
    return (field("u") + maths.sin(pi * at["x"]),)


def _heat(coefficient: Floats) -> Equations:
    def equations(place: Place) -> tuple[Any, ...]:
        field, at, maths = place
        a = maths.lookup(coefficient, at["y"], at["x"])
        forcing = 200 * maths.sin(pi * at["x"]) * maths.sin(5 * pi * at["y"]) * maths.sin(pi * at["t"])
        return (field("u_t") - a * (field("u_xx") + field("u_yy")) - forcing,)

    return equations


def _wave(at: Columns, maths: Mathematics) -> Any:
    return at["x"] * maths.cos(5 * pi * at["t"]) + (at["t"] * at["x"]) ** 3


def _klein_gordon(place: Place) -> tuple[Any, ...]:
    field, at, maths = place
    x, t = at["x"], at["t"]
    forcing = -25 * pi**2 * x * maths.cos(5 * pi * t) + 6 * t * x**3 - 6 * t**3 * x + _wave(at, maths) ** 3
    return (field("u_tt") - field("u_xx") + field("u") ** 3 - forcing,)


def _wave_itself(place: Place) -> tuple[Any, ...]:
    field, at, maths = place
    return (field("u") - _wave(at, maths),)


def _at_rest(place: Place) -> tuple[Any, ...]:
    return place.field("u") - place.at["x"], place.field("u_t")


def _bump(at: Columns, maths: Mathematics) -> Any:
    return maths.sin(pi * at["x"]) * maths.sin(pi * at["y"])


def _diffusion(place: Place) -> tuple[Any, ...]:
    """u_t - div(a grad u) = f, with f from u* = exp(-t) s and a* = 2 + s, where s = sin(pi x) sin(pi y)."""
    field, at, maths = place
    s = _bump(at, maths)
    slope_x = pi * maths.cos(pi * at["x"]) * maths.sin(pi * at["y"])
    slope_y = pi * maths.sin(pi * at["x"]) * maths.cos(pi * at["y"])
    forcing = maths.exp(-at["t"]) * (-s - slope_x**2 - slope_y**2 + (2 + s) * 2 * pi**2 * s)
    gradients = field("a_x") * field("u_x") + field("a_y") * field("u_y")
    return (field("u_t") - field("a") * (field("u_xx") + field("u_yy")) - gradients - forcing,)


def _coefficient_itself(place: Place) -> tuple[Any, ...]:
    field, at, maths = place
    return (field("a") - (2 + _bump(at, maths)),)


def _observed(place: Place) -> tuple[Any, ...]:
    """Without the noise, which changes no time."""
    field, at, maths = place
    return (field("u") - maths.exp(-at["t"]) * _bump(at, maths),)


def statement(name: str) -> Statement:
    """The problem called `name`, with the paper's counts of points."""
    return _STATEMENTS[name]()


def _steady(
    residual: Equations, boundary: Equations, outputs: tuple[str, ...], **box: tuple[float, float]
) -> Statement:
    terms = {"residual": Term(5120, "interior", residual), "boundary": Term(256, "boundary", boundary)}
    return Statement(box, (Branch(outputs, tuple(box)),), terms)


def _moving(residual: Equations, boundary: Equations, initial: Equations, **box: tuple[float, float]) -> Statement:
    terms = {
        "residual": Term(2560, "interior", residual),
        "boundary": Term(256, "boundary", boundary),
        "initial": Term(256, "initial", initial),
    }
    return Statement(box, (Branch(("u",), tuple(box)),), terms)


def _heat_statement() -> Statement:
    from incenter.pinn.problems.solvers.random_medium import coefficient

    return _moving(_heat(coefficient().astype(np.float32)), _vanishes, _vanishes, x=(0, 1), y=(0, 1), t=(0, 5))


def _inverse_statement() -> Statement:
    box = {"x": (-1.0, 1.0), "y": (-1.0, 1.0), "t": (0.0, 1.0)}
    terms = {
        "residual": Term(5120, "interior", _diffusion),
        "boundary": Term(1024, "boundary", _coefficient_itself),
        "observations": Term(2500, "pool", _observed),
    }
    return Statement(box, (Branch(("u",), ("x", "y", "t"), 4), Branch(("a",), ("x", "y"), 4)), terms)


_STATEMENTS: dict[str, Callable[[], Statement]] = {
    "helmholtz": lambda: _steady(_helmholtz, _vanishes, ("u",), x=(-1, 1), y=(-1, 1)),
    "kovasznay": lambda: _steady(_navier_stokes, _kovasznay_flow, ("u", "v", "p"), x=(-0.5, 1), y=(-0.5, 1.5)),
    "burgers": lambda: _moving(_burgers, _vanishes, _minus_sine, x=(-1, 1), t=(0, 1)),
    "heat": _heat_statement,
    "klein_gordon": lambda: _moving(_klein_gordon, _wave_itself, _at_rest, x=(0, 1), t=(0, 1)),
    "inverse_heat": _inverse_statement,
}
NAMES = tuple(_STATEMENTS)


def asked(stated: Statement, term: Term) -> tuple[set[str], int]:
    """The names that a term's equations ask for, and how many equations there are."""
    names: set[str] = set()

    def field(name: str) -> float:
        names.add(name)
        return 1.0

    maths = Mathematics(*[lambda *_: 1.0] * len(Mathematics._fields))
    return names, len(term.equations(Place(field, dict.fromkeys(stated.axes, 1.0), maths)))


# Points and parameters that are the same for everybody: all losses are compared on them.


def points_of(stated: Statement, term: Term, random: np.random.Generator) -> Floats:
    """(count, d) uniform points; on a boundary in equal blocks, face by face: lower, upper, axis by axis."""
    low, high = (np.array(end) for end in zip(*stated.box.values(), strict=True))
    points = low + (high - low) * random.random((term.count, len(stated.box)))
    if term.place == "initial":
        points[:, stated.axes.index("t")] = stated.box["t"][0]
    if term.place == "boundary":
        faces = [(stated.axes.index(axis), end) for axis in stated.space for end in stated.box[axis]]
        for block, (axis, end) in zip(np.array_split(points, len(faces)), faces, strict=True):
            block[:, axis] = end
    return np.asarray(points, np.float32)


def all_points(stated: Statement, seed: int = 0) -> dict[str, Floats]:
    random = np.random.default_rng(seed)
    return {name: points_of(stated, term, random) for name, term in stated.terms.items()}


def all_parameters(stated: Statement, seed: int = 0) -> list[list[tuple[Floats, Floats]]]:
    """By branch, by layer: weights (inputs, outputs), Xavier normal, and biases, which are small and not zero."""
    random = np.random.default_rng([seed, 1])
    branches = []
    for branch in stated.branches:
        sizes = [len(branch.inputs), *[WIDTH] * branch.depth, len(branch.outputs)]
        layers = []
        for ins, outs in pairwise(sizes):
            weights = random.standard_normal((ins, outs)) * sqrt(2 / (ins + outs))
            layers.append((weights.astype(np.float32), (0.1 * random.standard_normal(outs)).astype(np.float32)))
        branches.append(layers)
    return branches
