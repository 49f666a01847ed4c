"""The coefficient of the heat benchmark: a medium of two materials, cut from a Gaussian random field.

    g = Re IFFT2[(N1 + i N2) |k|^-2],   a = 2 where g > 0, else 1

on a 256 x 256 grid over the closed unit square (spacing 1/255), rows y and columns x, zero mode left out. N1, then N2,
are standard normal draws of NumPy's legacy generator, whose stream NumPy promises not to change. Elsewhere a is that
of the nearest grid point.
The benchmark: Hao et al., PINNacle, 2024, "Heat 2D varying coefficient". The published picture of its field agrees with
this one pixel for pixel.
"""

import functools

import numpy as np
from numpy.typing import NDArray

POINTS = 256
SEED = 20220722
_ALPHA = 4.0  # the amplitude falls as |k|^(-alpha/2)

Floats = NDArray[np.float64]


def gaussian_field() -> Floats:
    """g (256, 256), normalised to mean 0 and deviation 1."""
    half = POINTS // 2
    # Both axes and the leading one are shifted, as the benchmark does: kx and ky change places, which no sum minds.
    ky, kx = np.fft.fftshift(np.mgrid[:POINTS, :POINTS] - half).astype(np.float64)
    square = kx**2 + ky**2
    square[0, 0] = 1.0  # the zero mode, whose amplitude is set to 0 below
    amplitude = square ** (-_ALPHA / 4.0)
    amplitude[0, 0] = 0.0
    draws = np.random.RandomState(SEED)
    first = draws.normal(size=(POINTS, POINTS))
    second = draws.normal(size=(POINTS, POINTS))
    g = np.real(np.fft.ifft2((first + 1j * second) * amplitude))
    normalised: Floats = (g - g.mean()) / g.std()
    return normalised


@functools.cache
def coefficient() -> Floats:
    """a (256, 256), one for all: read only."""
    a = np.where(gaussian_field() > 0.0, 2.0, 1.0)
    a.setflags(write=False)
    return a
