"""Kovasznay's flow behind a grid: the steady incompressible Navier-Stokes equations in the plane.

    u u_x + v u_y + p_x = nu (u_xx + u_yy)
    u v_x + v v_y + p_y = nu (v_xx + v_yy)      on [-0.5, 1] x [-0.5, 1.5]
    u_x + v_y = 0
    u* = 1 - e^(lam x) cos(2 pi y),   v* = lam / (2 pi) e^(lam x) sin(2 pi y),   p* = (1 - e^(2 lam x)) / 2,
    lam = 1 / (2 nu) - sqrt(1 / (4 nu^2) + 4 pi^2),   u, v and p given on the boundary

Settings: the paper's appendix D. nu = 1/40, two losses (the three equations together, the three boundary values
together), 5,120 and 256 points, 64 on each edge.
Error: over u, v and p at once, on 101 x 101 points, ends included.
Good: the paper's direction ends at 0.0017 +- 0.0005, Adam alone at 0.0044 +- 0.0010 (50,000 steps, three seeds).
Reference: Kovasznay, Laminar flow behind a two-dimensional grid, Proc. Cambridge Phil. Soc. 44, 1948.
"""

from math import pi, sqrt
from typing import Any

from incenter.geometry.arrays import Array, namespace
from incenter.pinn.domain import Box
from incenter.pinn.networks import MLP
from incenter.pinn.problem import Problem, Settings
from incenter.pinn.reference import Reference
from incenter.pinn.terms import Boundary, Interior


def kovasznay(
    nu: float = 1.0 / 40.0,
    points: int = 5120,
    boundary_points: int = 256,
    width: int = 50,
    depth: int = 2,
) -> Problem:
    """`nu` is the viscosity, 1 / Reynolds number."""
    lam = 0.5 / nu - sqrt(0.25 / nu**2 + 4.0 * pi**2)

    def exact(x: Array, y: Array) -> tuple[Array, Array, Array]:
        xp = namespace(x)
        decay = xp.exp(lam * x)
        u = 1.0 - decay * xp.cos(2.0 * pi * y)
        v = lam / (2.0 * pi) * decay * xp.sin(2.0 * pi * y)
        return u, v, 0.5 * (1.0 - decay**2)

    def residual(u: Any, v: Any, p: Any) -> tuple[Array, Array, Array]:
        return (
            u * u.x + v * u.y + p.x - nu * (u.xx + u.yy),
            u * v.x + v * v.y + p.y - nu * (v.xx + v.yy),
            u.x + v.y,
        )

    def boundary(u: Any, v: Any, p: Any) -> tuple[Array, Array, Array]:
        u_exact, v_exact, p_exact = exact(u.at.x, u.at.y)
        return u - u_exact, v - v_exact, p - p_exact

    return Problem(
        name="kovasznay",
        domain=Box(x=(-0.5, 1), y=(-0.5, 1.5)),
        outputs=("u", "v", "p"),
        terms={
            "residual": Interior(points, residual),
            "boundary": Boundary(boundary_points, boundary),
        },
        network=MLP(width, depth),
        reference=Reference(exact, x=101, y=101),
        settings=Settings(steps=50_000, lr=1e-3),
    )
