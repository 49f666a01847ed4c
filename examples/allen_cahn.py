"""Allen and Cahn's equation on a ring: two phases part, and the border between them sharpens.

    u_t = 0.01 u_xx + u - u^3 on x in [-1, 1], t in [0, 1],   u(x, 0) = (cos(pi x) + sin(2 pi x)) / 2,
    u and u_x the same at x = -1 and x = 1

The reference is a Fourier solution. Train it by either of

    python examples/allen_cahn.py
    incenter train examples/allen_cahn.py:allen_cahn --method chebyshev
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

from incenter.pinn import MLP, Box, Initial, Interior, Periodic, Problem, Reference, Settings, train

DIFFUSION, REACTION = 0.01, 1.0
MODES, TIMES = 256, 51


def start(x: Any, xp: Any) -> Any:
    """u at t = 0, in NumPy or JAX."""
    return 0.5 * (xp.cos(np.pi * x) + xp.sin(2.0 * np.pi * x))


def spectral() -> tuple[np.ndarray, np.ndarray]:
    """Points (x, t) and u there: Fourier in x, and time by a stiff solver that keeps its error below 1e-9."""
    x, t = -1.0 + 2.0 * np.arange(MODES) / MODES, np.linspace(0.0, 1.0, TIMES)
    decay = -DIFFUSION * (np.pi * np.fft.rfftfreq(MODES, 1.0 / MODES)) ** 2

    def rate(_: float, u: np.ndarray) -> np.ndarray:
        u_t: np.ndarray = np.fft.irfft(decay * np.fft.rfft(u)) + REACTION * (u - u**3)
        return u_t

    u = solve_ivp(rate, (0.0, 1.0), start(x, np), t_eval=t, rtol=1e-9, atol=1e-11).y
    points = np.stack(np.meshgrid(x, t, indexing="ij"), axis=-1)
    return points.reshape(-1, 2), u.ravel()


points, values = spectral()
allen_cahn = Problem(
    name="allen_cahn",
    domain=Box(x=(-1, 1), t=(0, 1)),
    terms={
        "residual": Interior(2000, lambda u: u.t - DIFFUSION * u.xx - REACTION * (u - u**3)),
        "periodic": Periodic(100, lambda left, right: (left - right, left.x - right.x), on="x"),
        "initial": Initial(200, lambda u: u - start(u.at.x, jnp)),
    },
    network=MLP(width=50, depth=3),
    reference=Reference(points=points, values=values),
    settings=Settings(steps=10_000, lr=1e-3),
)


if __name__ == "__main__":
    result = train(allen_cahn, method="chebyshev", schedule="cosine")
    print(f"relative error {result.relative_l2:.4f} after {result.seconds:.0f} s")
