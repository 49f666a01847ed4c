"""A box of fluid with a sliding lid: each equation is a loss of its own, five in all.

    u u_x + v u_y + p_x = (u_xx + u_yy) / 10
    u v_x + v v_y + p_y = (v_xx + v_yy) / 10     on [0, 1]^2
    u_x + v_y = 0
    u = 16 x^2 (1 - x)^2, v = 0 on the lid y = 1;   u = v = 0 on the other walls

The lid's speed vanishes at its ends, so that the corners have one value. The pressure is known up to a constant only,
which nothing here asks for. The error is that of u along the vertical line through the middle. Chebyshev directions
find the flow roughly; L-BFGS, which a smooth problem with its points kept suits well, finishes it.

    python examples/cavity.py
    incenter train examples/cavity.py:cavity --method chebyshev --set finish=lbfgs --set finish_steps=3000
"""

import numpy as np

from incenter.pinn import MLP, Boundary, Box, Interior, Problem, Reference, Settings, train

REYNOLDS = 10.0
# u at x = 1/2, y = 1/16, 2/16, ..., 1: finite differences on meshes of 64 and 128 cells, extrapolated.
MIDDLE = [
    -0.03145, -0.05663, -0.07857, -0.09903, -0.11869, -0.13735, -0.15374, -0.16537,
    -0.16822, -0.15635, -0.12138, -0.05178, 0.06829, 0.26082, 0.55689, 1.0,
]  # fmt: skip

cavity = Problem(
    name="cavity",
    domain=Box(x=(0, 1), y=(0, 1)),
    outputs=("u", "v", "p"),
    terms={
        "momentum x": Interior(1000, lambda u, v, p: u * u.x + v * u.y + p.x - u.lap / REYNOLDS),
        "momentum y": Interior(1000, lambda u, v, p: u * v.x + v * v.y + p.y - v.lap / REYNOLDS),
        "continuity": Interior(1000, lambda u, v: u.x + v.y),
        "lid": Boundary(100, lambda u, v: (u - 16.0 * u.at.x**2 * (1.0 - u.at.x) ** 2, v), on="y+"),
        "walls": Boundary(300, lambda u, v: (u, v), on=("x", "y-")),
    },
    network=MLP(width=40, depth=3),
    reference=Reference(
        points=np.stack([np.full(16, 0.5), np.arange(1, 17) / 16.0], axis=1), values=MIDDLE, outputs=("u",)
    ),
    settings=Settings(steps=1500, lr=1e-3),
)


if __name__ == "__main__":
    result = train(cavity, method="chebyshev", finish="lbfgs", finish_steps=3000)
    print(f"relative error of u on the middle line {result.relative_l2:.4f} after {result.seconds:.0f} s")
