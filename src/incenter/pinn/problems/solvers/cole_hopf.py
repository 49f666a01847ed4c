"""Burgers' equation, solved in closed form by Cole and Hopf.

    u_t + u u_x = nu u_xx,   u(x, 0) = -sin(pi x),   u(-1, t) = u(1, t) = 0

The substitution u = -2 nu (log phi)_x turns it into the heat equation for phi, whose solution is a convolution with the
Gaussian of variance 2 nu t. With y = x - z sqrt(4 nu t),

    u(x, t) = -E[sin(pi y) w(y)] / E[w(y)],   w(y) = exp(-cos(pi y) / (2 pi nu)),

where E integrates over z with the weight exp(-z^2), by Gauss-Hermite quadrature. At t = 0 this is -sin(pi x) itself.
Reference: Basdevant et al., Spectral and finite difference solutions of the Burgers equation, Computers & Fluids 14,
1986.
"""

import math

import numpy as np
from numpy.typing import NDArray

from incenter.geometry.errors import IncenterError

NU = 0.01 / math.pi
NODES = 160  # from 371 on NumPy's own weights are not finite
LEAST_NU, MOST_NU = 0.0008, 0.2  # between them 160 nodes agree with 360 to 1e-12 for t <= 1

Floats = NDArray[np.float64]


def cole_hopf(x: Floats, t: Floats, nu: float = NU, nodes: int = NODES) -> Floats:
    """u at the points (x, t), 0 <= t <= 1, arrays of one shape."""
    check_viscosity(nu)
    x, t = np.asarray(x, dtype=np.float64), np.asarray(t, dtype=np.float64)
    z, weights = np.polynomial.hermite.hermgauss(nodes)
    y = x[..., None] - np.sqrt(4.0 * nu * t)[..., None] * z
    exponent = -np.cos(math.pi * y) / (2.0 * math.pi * nu)
    # The exponents reach 1 / (2 pi nu) = 50; the largest cancels in the quotient.
    w = weights * np.exp(exponent - exponent.max(axis=-1, keepdims=True))
    u: Floats = -np.sum(np.sin(math.pi * y) * w, axis=-1) / np.sum(w, axis=-1)
    return u


def check_viscosity(nu: float) -> None:
    """One sentence where the quadrature would be wrong."""
    if not LEAST_NU <= nu <= MOST_NU:
        raise IncenterError(
            f"The closed solution of Burgers' equation holds to 1e-12 for nu from {LEAST_NU} to {MOST_NU}; "
            f"got nu={nu!r}. Choose one of these."
        )
