"""The page of the paper: no number without its file, what is missing is named, the same files give the same bytes."""

import json
import shutil
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from benchmarks.paper import __main__ as page
from benchmarks.paper import costs, geometry, identity
from benchmarks.paper.results import read
from incenter.study import plans
from incenter.study.exchange import export
from incenter.study.expansion import expand
from incenter.study.paper_numbers import Printed, data, error_of
from incenter.study.rows import Outcome, Planned
from incenter.study.store import Store
from incenter.study.training_geometry import text_of
from tests.study.made_rows import with_moments

DOCS = Path(__file__).parent.parent / "docs" / "paper.md"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The forward runs end in what the paper prints, but for MGDA on Burgers; two more plans are done."""
    folder = tmp_path_factory.mktemp("paper") / "results"
    with Store(folder.parent / "made.sqlite") as store:
        forward = expand(plans.load("paper-forward"))
        store.add("paper-forward", forward)
        for printed, runs in by_cell(store, forward):
            values = with_moments(printed.mean, printed.deviation or 0.0)
            for run, error in zip(runs, values, strict=True):
                off = 0.5 if (run.configuration["problem"], run.configuration["method"]) == ("burgers", "mgda") else 0
                enter(store, run, error + off)
        start = expand(plans.load("paper-identity-start"))
        store.add("paper-identity-start", start)
        for run in start:
            parts = run.configuration["method"] != "chebyshev" and run.configuration["precision"] == 32
            enter(store, run, 0.1, growth=1e-8 if parts else 0.0)
        noise = expand(plans.load("paper-noise"))
        store.add("paper-noise", noise)
        for run in noise:
            enter(store, run, 0.06 + 0.001 * run.configuration["problem_options"].get("data_seed", 0))
        export(store, folder, fields="none")
    (folder / "geometry").mkdir()
    G = np.random.default_rng(0).normal(size=(30, 3, 5))
    (folder / "geometry" / "burgers-chebyshev-seed-0-0.csv").write_text(text_of(map(made_record, enumerate(G))))
    steps = {column: {method: {"processor": 2.0, "wall": 2.0} for method in data("names")["methods"]}
             for column in data("names")["problems"]}  # fmt: skip
    (folder / "costs.json").write_text(json.dumps({"machine": "made", "commit": "made", "rounds": 1, "steps": steps}))
    return folder


def by_cell(store: Store, planned: list[Planned]) -> list[tuple[Printed, list[Planned]]]:
    """The runs of each cell that the paper prints."""
    rows = {row.key: row for row in store.rows("paper-forward")}
    found: dict[tuple[str, str], list[Planned]] = defaultdict(list)
    for run in planned:
        if error_of(rows[run.key]) is not None:
            found[run.configuration["problem"], run.configuration["method"]].append(run)
    printed = [(error_of(rows[runs[0].key]), runs) for runs in found.values()]
    return [(number, runs) for number, runs in printed if number is not None]


def enter(store: Store, run: Planned, error: float, growth: float = 0.0) -> None:
    steps = np.arange(40, 2040, 40)
    losses = np.ones((50, 2)) * (1 + growth * np.exp(steps / 100))[:, None]
    summary = {"relative_l2": error, "seconds": 36.0, "ms_per_step": 1.0, "radius": 0.5}
    store.enter(run, Outcome(summary, {"step": steps, "losses": losses}, run.key))


def made_record(numbered: tuple[int, np.ndarray]) -> dict[str, float | str | None]:
    from incenter.study.examples import Gradients
    from incenter.study.training_geometry import record_of

    step, G = numbered
    return dict(record_of(Gradients(G, ("residual", "boundary", "initial"), "", step=step)))


def written(folder: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """The page and the README that the command writes."""
    place.mkdir()
    shutil.copy(DOCS, place / "paper.md")
    (place / "README.md").write_text("<!-- results: begin -->\nold\n<!-- results: end -->\n")
    words = ["--from", folder, "--write", place / "paper.md", "--readme", place / "README.md"]
    monkeypatch.setattr(sys, "argv", ["paper", *map(str, words), "--pictures", str(place / "pictures")])
    assert page.main() == 0
    return (place / "paper.md").read_text(), (place / "README.md").read_text()


def test_the_page_says_what_the_files_say(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, readme = written(results, tmp_path / "one", monkeypatch)
    assert (
        "Cells with a number here and in the paper: 45. Within 2 of the paper's deviations: 44; lower: 0; higher: 1."
        in text
    )
    assert "| MGDA, Burgers | 0.6258 (0.0114), 3 seeds | 0.1258 (0.0114) | +43.9 |" in text
    assert "Chebyshev is at or below the paper's mean + 2 deviations in 5 of 5 cells:" in text
    assert "Missing (seeds 0, 1, 2 waiting): GAPO on Helmholtz" in text
    assert (
        "| Standard | 5 | 0.0620 (0.0016) | 0.0600 to 0.0640 | 0.0593 (0.0002) | 0.0597 | above; 0 of 5 draws |" in text
    )
    assert "Not run yet: `incenter study run paper-heat`." in text
    assert "| **0.0599 (0.0042)** |" in readme
    assert "old" not in readme
    assert written(results, tmp_path / "two", monkeypatch) == (text, readme)
    pictures = [sorted((tmp_path / place / "pictures").iterdir()) for place in ("one", "two")]
    assert [path.name for path in pictures[0]] == ["geometry-burgers-chebyshev.svg"]
    assert pictures[0][0].read_bytes() == pictures[1][0].read_bytes()
    assert "(pictures/geometry-burgers-chebyshev.svg)" in text


def test_hours_are_the_steps_times_the_papers_number_of_them(results: Path) -> None:
    with read(results) as found:
        text = costs.section(found)
    hours = 3 * 45 * 50_000 * 2e-3 / 3600
    assert f"{hours:.1f} hours of one processor core" in text
    assert "gives 15.5 hours of one GPU" in text


def test_trajectories_part_where_their_losses_do(results: Path) -> None:
    with read(results) as found:
        text = identity.section(found)
    first = next(step for step in range(40, 2040, 40) if 1e-8 * np.exp(step / 100) > 1e-3)
    assert f"| Helmholtz, float32, ConFIG | step 480 | step {first:,} |" in text
    assert "| Helmholtz, float64, ConFIG | not by 2,000 | not by 2,000 | not by 2,000 | 0e+00 |" in text


def test_the_geometry_counts_what_differs(results: Path) -> None:
    with read(results) as found:
        text = geometry.section(found, None)
        (trajectory,) = found.trajectories
    inactive = (~trajectory.active).any(axis=1).mean()
    assert 0 < inactive < 1
    assert f"| {inactive:.0%} | {inactive:.0%} |" in text  # ConFIG is the centre exactly where all losses bind
    assert "0 of 30 records" in text


def test_without_results_every_section_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "none").mkdir()
    text, readme = written(tmp_path / "none", tmp_path / "page", monkeypatch)
    for name in plans.built_in():
        if name.startswith("paper-") and name != "paper-geometry":
            assert f"Not run yet: `incenter study run {name}`." in text
    assert "Not run yet: `incenter study run paper-geometry`, then" in text
    assert "Not measured yet: `python -m benchmarks.method_steps" in text
    assert "Not run yet" in readme
