"""The named rivals, each from gradients to direction, as somebody would call them who knows them well.

The four QP solvers get the same problem: with unit rows U and K = U U^T,

    minimise  1/2 a^T K a   over  a >= 0, sum_i a_i = 1;      direction = a @ U at unit length,  radius = |a @ U|.

TorchJD's aggregators are called as TorchJD calls them; they solve problems of their own.
"""

from collections.abc import Callable
from typing import Any

import clarabel
import highspy
import numpy as np
import osqp
import quadprog
import torch
from scipy import sparse
from torchjd import aggregation

from incenter.geometry.arrays import Matrix, Square, Vector, Weights

torch.set_num_threads(1)

Solver = Callable[[Square], Weights]

#: stated with the results: what each solver was asked for
SETTINGS = (
    "Clarabel at its default tolerance 1e-8, OSQP at 1e-9 (its default 1e-3 is no answer here), HiGHS's QP at defaults"
)


class RefusedError(Exception):
    """A contender gave no answer; the message is its own."""


def by_quadprog(K: Square) -> Weights:
    m = len(K)
    constraints = np.hstack([np.ones((m, 1)), np.eye(m)])
    try:
        weights: Weights = quadprog.solve_qp(K, np.zeros(m), constraints, np.r_[1.0, np.zeros(m)], meq=1)[0]
    except ValueError as error:
        raise RefusedError(str(error)) from error
    return weights


def by_clarabel(K: Square) -> Weights:
    m = len(K)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    rows = sparse.vstack([sparse.csc_array(np.ones((1, m))), -sparse.eye_array(m, format="csc")], format="csc")
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(m)]
    quadratic = sparse.csc_matrix(np.triu(K))
    solution = clarabel.DefaultSolver(quadratic, np.zeros(m), rows, np.r_[1.0, np.zeros(m)], cones, settings).solve()
    if str(solution.status) not in ("Solved", "AlmostSolved"):
        raise RefusedError(str(solution.status))
    return np.asarray(solution.x)


def by_osqp(K: Square) -> Weights:
    m = len(K)
    rows = sparse.vstack([sparse.csc_array(np.ones((1, m))), sparse.eye_array(m, format="csc")], format="csc")
    solver = osqp.OSQP()
    low, high = np.r_[1.0, np.zeros(m)], np.r_[1.0, np.full(m, np.inf)]
    solver.setup(
        sparse.csc_matrix(np.triu(K)), np.zeros(m), sparse.csc_matrix(rows), low, high,
        verbose=False, eps_abs=1e-9, eps_rel=1e-9, max_iter=100_000,
    )  # fmt: skip
    solution = solver.solve()
    if solution.info.status not in ("solved", "solved inaccurate"):
        raise RefusedError(solution.info.status)
    return np.asarray(solution.x)


def by_highs(K: Square) -> Weights:
    m = len(K)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.passModel(_highs_model(K))
    solver.run()
    status = solver.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        raise RefusedError(solver.modelStatusToString(status))
    return np.asarray(solver.getSolution().col_value)[:m]


def _highs_model(K: Square) -> Any:
    m = len(K)
    model = highspy.HighsModel()
    lp = model.lp_
    lp.num_col_, lp.num_row_ = m, 1
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = np.zeros(m), np.zeros(m), np.full(m, np.inf)
    lp.row_lower_ = lp.row_upper_ = np.ones(1)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = np.array([0, m]), np.arange(m), np.ones(m)
    columns, rows = np.triu_indices(m)  # the lower triangle, column by column
    model.hessian_.dim_ = m
    model.hessian_.format_ = highspy.HessianFormat.kTriangular
    model.hessian_.start_ = np.r_[0, np.cumsum(np.arange(m, 0, -1))]
    model.hessian_.index_, model.hessian_.value_ = rows, K[rows, columns]
    return model


QP_SOLVERS: dict[str, Solver] = {
    "quadprog": by_quadprog,
    "Clarabel": by_clarabel,
    "OSQP": by_osqp,
    "HiGHS": by_highs,
}

TORCHJD: dict[str, Callable[[], Any]] = {
    "UPGrad": aggregation.UPGrad,
    "MGDA": aggregation.MGDA,
    "IMTL-G": aggregation.IMTLG,
    "ConFIG": aggregation.ConFIG,
}


def direction_by(solve: Solver, G: Matrix) -> tuple[Vector, float]:
    """Direction and radius from `G` by a QP solver."""
    U = G / np.sqrt(np.vecdot(G, G))[:, None]
    point = solve(U @ U.T) @ U
    radius = float(np.sqrt(point @ point))
    return point / radius, radius
