"""Burgers' equation with a viscosity so small that a shock forms at x = 0.

    u_t + u u_x = nu u_xx on x in [-1, 1], t in [0, 1],   u(x, 0) = -sin(pi x),   u(-1, t) = u(1, t) = 0

Settings: the paper's appendix D. nu = 0.01 / pi, three losses (residual, boundary, initial), 2,560, 256 and 256 points.
Error: against the formula of Cole and Hopf on 256 points of x by 101 of t, ends included.
Good: the paper's direction ends at 0.060 +- 0.004, Adam alone at 0.17 +- 0.04 (50,000 steps, three seeds).
"""

from functools import partial
from math import pi
from typing import Any

import jax.numpy as jnp

from incenter.geometry.arrays import Array
from incenter.pinn.domain import Box
from incenter.pinn.networks import MLP
from incenter.pinn.problem import Problem, Settings
from incenter.pinn.problems.solvers.cole_hopf import NU, check_viscosity, cole_hopf
from incenter.pinn.reference import Reference
from incenter.pinn.terms import Boundary, Initial, Interior


def burgers(
    nu: float = NU,
    points: int = 2560,
    boundary_points: int = 256,
    initial_points: int = 256,
    width: int = 50,
    depth: int = 2,
) -> Problem:
    """`nu` is the viscosity."""
    check_viscosity(nu)

    def residual(u: Any) -> Array:
        return u.t + u * u.x - nu * u.xx

    return Problem(
        name="burgers",
        domain=Box(x=(-1, 1), t=(0, 1)),
        terms={
            "residual": Interior(points, residual),
            "boundary": Boundary(boundary_points, lambda u: u, on="x"),
            "initial": Initial(initial_points, lambda u: u + jnp.sin(pi * u.at.x)),
        },
        network=MLP(width, depth),
        reference=Reference(partial(cole_hopf, nu=nu), x=256, t=101),
        settings=Settings(steps=50_000, lr=1e-3),
    )
