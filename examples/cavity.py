"""A box of fluid with a sliding lid: each equation is a loss of its own, five in all.

    u u_x + v u_y + p_x = (u_xx + u_yy) / 100
    u v_x + v v_y + p_y = (v_xx + v_yy) / 100     on [0, 1]^2
    u_x + v_y = 0
    (u, v) = (1, 0) on the lid y = 1 and (0, 0) on the other walls

The pressure is known up to a constant only, which nothing here asks for. The error is that of u along the vertical line
through the middle, against the table of Ghia, Ghia and Shin, J. Comput. Phys. 48, 1982.

    python examples/cavity.py
    incenter train examples/cavity.py:cavity --method chebyshev
"""

import numpy as np

from incenter.pinn import MLP, Boundary, Box, Interior, Problem, Reference, Settings, train

REYNOLDS = 100.0
HEIGHT_AND_U = np.array([
    (0.0547, -0.03717), (0.0625, -0.04192), (0.0703, -0.04775), (0.1016, -0.06434), (0.1719, -0.10150),
    (0.2813, -0.15662), (0.4531, -0.21090), (0.5000, -0.20581), (0.6172, -0.13641), (0.7344, 0.00332),
    (0.8516, 0.23151), (0.9531, 0.68717), (0.9609, 0.73722), (0.9688, 0.78871), (0.9766, 0.84123), (1.0, 1.0),
])  # fmt: skip

cavity = Problem(
    name="cavity",
    domain=Box(x=(0, 1), y=(0, 1)),
    outputs=("u", "v", "p"),
    terms={
        "momentum x": Interior(1500, lambda u, v, p: u * u.x + v * u.y + p.x - u.lap / REYNOLDS),
        "momentum y": Interior(1500, lambda u, v, p: u * v.x + v * v.y + p.y - v.lap / REYNOLDS),
        "continuity": Interior(1500, lambda u, v: u.x + v.y),
        "lid": Boundary(150, lambda u, v: (u - 1.0, v), on="y+"),
        "walls": Boundary(300, lambda u, v: (u, v), on=("x", "y-")),
    },
    network=MLP(width=40, depth=3),
    reference=Reference(
        points=np.stack([np.full(len(HEIGHT_AND_U), 0.5), HEIGHT_AND_U[:, 0]], axis=1),
        values=HEIGHT_AND_U[:, 1],
        outputs=("u",),
    ),
    settings=Settings(steps=20_000, lr=1e-3),
)


if __name__ == "__main__":
    result = train(cavity, method="chebyshev")
    print(f"relative error of u on the middle line {result.relative_l2:.4f} after {result.seconds:.0f} s")
