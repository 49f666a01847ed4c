"""How viscous is it? One number to be found from a few hundred noisy observations.

    u_t + u u_x = nu u_xx on x in [-1, 1], t in [0, 1],   u observed at 300 points,   nu unknown (0.02 in truth)

The unknown of the problem is log10 nu, so that nu stays positive and is found to a relative accuracy.

    python examples/inverse_scalar.py
    incenter train examples/inverse_scalar.py:viscosity --method chebyshev
"""

from functools import partial

import numpy as np

from incenter.pinn import MLP, Box, Data, Interior, Problem, Reference, Settings, train
from incenter.pinn.problems.solvers.cole_hopf import cole_hopf

TRUE_NU, NOISE, COUNT = 0.02, 0.02, 300

draws = np.random.default_rng(0)
where = draws.uniform((-1.0, 0.0), (1.0, 1.0), size=(COUNT, 2))
seen = cole_hopf(where[:, 0], where[:, 1], nu=TRUE_NU) + NOISE * draws.standard_normal(COUNT)

viscosity = Problem(
    name="viscosity",
    domain=Box(x=(-1, 1), t=(0, 1)),
    terms={
        "residual": Interior(1500, lambda u, log_nu: u.t + u * u.x - 10.0**log_nu * u.xx),
        "observations": Data(where, seen, lambda u, value: u - value),
    },
    network=MLP(width=40, depth=3),
    unknowns={"log_nu": -1.0},
    reference=Reference(partial(cole_hopf, nu=TRUE_NU), x=101, t=51),
    settings=Settings(steps=20_000, lr=1e-3),
)


if __name__ == "__main__":
    result = train(viscosity, method="chebyshev")
    nu = 10.0 ** float(result.unknowns["log_nu"])
    print(f"nu = {nu:.4f}, in truth {TRUE_NU}")
    print(f"relative error of u {result.relative_l2:.4f} after {result.seconds:.0f} s")
