"""A coefficient to be found from noisy observations of the heat in it.

    u_t - div(a grad u) = f on (x, y) in [-1, 1]^2, t in [0, 1]
    u* = e^-t S,   a* = 2 + S,   S = sin(pi x) sin(pi y)
    f = u*_t - div(a* grad u*) = e^-t (-S + 2 pi^2 S a* - S_x^2 - S_y^2)

u and a = a(x, y) are unknown. Given are a on the boundary and u, with noise, at points inside:

    standard       2,500 observations, deviation 0.1
    higher-noise   2,500 observations, deviation 0.2
    fewer-data     1,250 observations, deviation 0.1

The observations are taken without replacement from a pool of 2,500 uniform points, one pool for all; which of them, and
the noise, follow from `data_seed`, which all seeds and methods share, as the paper's do: another draw is another
problem.

Settings: the paper's appendix D. Three losses (residual, boundary of a, observations), 5,120 points, 1,024 on the
boundary (256 on each face), all observations at each step. One network of five linear layers of width 50 for u, and one
for a, which does not see t.
Error: over a alone, on 101 x 101 points of the plate, ends included.
Good: the paper's direction ends at 0.0593 +- 0.0002, 0.104 +- 0.005 and 0.063 +- 0.003 in the three settings; Adam
alone ends at 6, and a = 2, which is nothing learned, has 0.24 (30,000 steps, three seeds).
"""

from math import pi
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incenter.geometry.arrays import Array, namespace
from incenter.pinn.domain import Box
from incenter.pinn.networks import MLP, Branches
from incenter.pinn.problem import Problem, Settings
from incenter.pinn.reference import Reference
from incenter.pinn.terms import Boundary, Data, Interior

Setting = Literal["standard", "higher-noise", "fewer-data"]

POOL = 2500
POOL_SEED = 2500


class Quality(NamedTuple):
    """What a setting stands for."""

    size: int
    deviation: float


QUALITIES: dict[Setting, Quality] = {
    "standard": Quality(2500, 0.1),
    "higher-noise": Quality(2500, 0.2),
    "fewer-data": Quality(1250, 0.1),
}


def inverse_heat(
    setting: Setting = "standard",
    data_seed: int = 0,
    points: int = 5120,
    boundary_points: int = 1024,
    width: int = 50,
    depth: int = 4,
) -> Problem:
    """`setting` and `data_seed` make the observations; see the header of the module."""
    observed = observations(*QUALITIES[setting], data_seed)
    line = np.linspace(-1.0, 1.0, 101)
    grid = np.stack([axis.ravel() for axis in np.meshgrid(line, line, 0.0, indexing="ij")], axis=1)

    def residual(u: Any, a: Any) -> Array:
        x, y, t = u.at.x, u.at.y, u.at.t
        diffusion = a * (u.xx + u.yy) + a.x * u.x + a.y * u.y
        return u.t - diffusion - forcing(x, y, t)

    return Problem(
        name="inverse_heat",
        domain=Box(x=(-1, 1), y=(-1, 1), t=(0, 1)),
        outputs=("u", "a"),
        terms={
            "residual": Interior(points, residual),
            "boundary": Boundary(boundary_points, lambda a: a - a_exact(a.at.x, a.at.y)),
            "observations": Data(observed.points, observed.values, lambda u, value: u - value),
        },
        network=Branches(u=MLP(width, depth), a=MLP(width, depth, inputs=("x", "y"))),
        reference=Reference(lambda x, y, **_: a_exact(x, y), points=grid, outputs=("a",)),
        settings=Settings(steps=30_000, lr=1e-3),
    )


def waves(x: Array, y: Array) -> Array:
    """S of the header."""
    xp = namespace(x)
    return xp.sin(pi * x) * xp.sin(pi * y)


def u_exact(x: Array, y: Array, t: Array) -> Array:
    return namespace(t).exp(-t) * waves(x, y)


def a_exact(x: Array, y: Array) -> Array:
    return 2.0 + waves(x, y)


def forcing(x: Array, y: Array, t: Array) -> Array:
    xp = namespace(x)
    s = waves(x, y)
    s_x = pi * xp.cos(pi * x) * xp.sin(pi * y)
    s_y = pi * xp.sin(pi * x) * xp.cos(pi * y)
    return xp.exp(-t) * (-s + 2.0 * pi**2 * s * (2.0 + s) - s_x**2 - s_y**2)


class Observations(NamedTuple):
    """Where u was seen, and what was seen there."""

    points: NDArray[np.float64]  # (N, 3): x, y, t
    values: NDArray[np.float64]  # (N,)


def observations(count: int, deviation: float, data_seed: int) -> Observations:
    """One draw from the pool, with its noise. NumPy promises that its legacy generator's streams do not change."""
    pool = np.random.RandomState(POOL_SEED).uniform((-1.0, -1.0, 0.0), 1.0, size=(POOL, 3))
    draws = np.random.RandomState(data_seed)
    points = pool[draws.permutation(POOL)[:count]]
    noise = draws.normal(scale=deviation, size=count)
    return Observations(points, u_exact(*points.T) + noise)
