"""The geometry along training: how often the centre is not ConFIG's direction, and what the paper's solver misses."""

from pathlib import Path

import numpy as np

from benchmarks.paper.results import Results, joined, listed
from incenter.study.training_geometry import Trajectory
from incenter.study.training_geometry_figure import SAME, file_name, title_of

MISSED = 1e-3  # share of r* from which the answer of the paper's solver counts as wrong
_COMMANDS = "`incenter study run paper-geometry`, then `incenter study geometry RUNS`"


def section(results: Results, pictures: str | None) -> str:
    """Both tables, and the pictures where they are drawn: `pictures` is the folder as the page sees it."""
    if not results.trajectories:
        return f"Not run yet: {_COMMANDS}."
    drawn = [f"![{title_of(each)}]({pictures}/{file_name(each, 'svg')})" for each in results.trajectories if pictures]
    return joined(_directions(results.trajectories), _solver(results.trajectories), *drawn)


def _directions(trajectories: list[Trajectory]) -> str:
    lines = [[title_of(each), *_apart(each)] for each in trajectories]
    head = (
        "records", "median r*", "least r*", "a loss is inactive", "not ConFIG's direction",
        "degrees between them then: median, most", "r* over ConFIG's least cosine then: median",
    )  # fmt: skip
    return listed("The centre and ConFIG's direction", "run", head, lines)


def _apart(each: Trajectory) -> list[str]:
    angle, r_star = each["config_angle"], each["r_star"]
    differ = angle[np.nan_to_num(angle) > SAME]
    inactive = (~each.active).any(axis=1)
    return [
        f"{len(r_star)}",
        f"{np.median(r_star):.3f}",
        f"{r_star.min():.2g}",
        f"{inactive.mean():.0%}",
        f"{len(differ) / len(angle):.0%}",
        f"{np.median(differ):.1f}, {differ.max():.1f}" if len(differ) else "one direction",
        _gain(each),
    ]


def _gain(each: Trajectory) -> str:
    differ = (np.nan_to_num(each["config_angle"]) > SAME) & (each["config_radius"] > 0)
    if not differ.any():
        return ""
    return f"{np.median(each['r_star'][differ] / each['config_radius'][differ]):.2f}"


def _solver(trajectories: list[Trajectory]) -> str:
    three = [each for each in trajectories if np.isfinite(each["paper_64"]).any()]
    lines = [[title_of(each), *_missed(each["paper_64"]), *_missed(each["paper_32"])] for each in three]
    if not lines:
        return ""
    head = ("float64: wrong", "most", "float32: wrong", "most")
    words = (
        f"Wrong is a direction whose least cosine is more than {MISSED:g} of r* below r*; most is the largest share."
    )
    return joined(listed("The paper's solver for three losses", "run", head, lines), words)


def _missed(shares: np.ndarray) -> list[str]:
    known = shares[np.isfinite(shares)]
    wrong = int((known > MISSED).sum())
    return [f"{wrong} of {len(known)} records", f"{known.max():.0e}"]


def draw(results: Results, folder: Path) -> list[Path]:
    """The pictures of the page."""
    from incenter.study.training_geometry_figure import draw as draw_tables

    return draw_tables(results.folder / "geometry", folder, "svg")
