r"""The paper's three-loss solver, Algorithm 3, as printed: fast, and wrong where the cosine matrix has rank 2.

1. A point of the simplex in the null space of the cosines c, if there is one.
2. z = pinv(c) 1; if 1^T z > epsilon and z / 1^T z >= -tau, that point, clipped to the simplex.
3. Else the midpoint of the pair with the least cosine.

Step 2 takes z / 1^T z for a solution of c z = 1, which it is not where 1 is outside the range of c: three coplanar
gradients with 0 outside their hull. At 0, 30 and 90 degrees it answers with a least cosine of 0.6795 where r* is
0.7071; in float32 it happens to nearly coplanar gradients too. `chebyshev_center` uses the circumcentre instead (see
`euclidean`), which needs neither inverse nor tolerance. This one is kept so that the two can be compared.
"""

import numpy as np

from incenter.geometry.arrays import Matrix, Weights, from_small, namespace, to_small, working_dtype
from incenter.geometry.errors import IncenterError, read_gradients
from incenter.geometry.rows import read_rows

# The paper names these three tolerances without values, and no cutoff for the pseudo-inverse: NumPy's default it is.
NULL = 1e-12  # of the smallest eigenvalue, for step 1
EPSILON = 1e-12
TAU = 1e-12


def paper_three_losses(G: Matrix) -> Weights:
    """The weights that Algorithm 3 gives for three gradients, right or wrong; in the dtype of `G` throughout.

    >>> import numpy as np
    >>> angles = np.deg2rad([0.0, 30.0, 90.0])
    >>> paper_three_losses(np.stack([np.cos(angles), np.sin(angles)], axis=1)).round(4).tolist()
    [0.2147, 0.3857, 0.3996]
    """
    G = read_gradients(G)
    if G.shape[0] != 3:
        raise IncenterError(f"Algorithm 3 is for three losses; got {G.shape[0]}. Use chebyshev_center.")
    rows = read_rows(G)
    if not rows.live.all():
        raise IncenterError("Algorithm 3 needs gradients that are finite and not zero. Use chebyshev_center.")
    cosines = np.asarray(to_small(rows.cosines))
    if working_dtype(namespace(G), G.dtype) == namespace(G).float32:
        cosines = cosines.astype(np.float32)
    return from_small(_algorithm_3(cosines), G)


def _algorithm_3(cosines: np.ndarray) -> np.ndarray:
    eigenvalues, vectors = np.linalg.eigh(cosines)
    null = vectors[:, 0] * np.sign(vectors[:, 0].sum())
    if eigenvalues[0] <= NULL and np.all(null >= 0):
        return np.asarray(null / null.sum())
    z = np.linalg.pinv(cosines) @ np.ones(3, dtype=cosines.dtype)
    total = z.sum()
    if total > EPSILON and np.all(z / total >= -TAU):
        clipped = np.maximum(z / total, 0)
        return np.asarray(clipped / clipped.sum())
    i, j = min([(0, 1), (0, 2), (1, 2)], key=lambda pair: float(cosines[pair]))
    return np.where((np.arange(3) == i) | (np.arange(3) == j), 0.5, 0.0)
