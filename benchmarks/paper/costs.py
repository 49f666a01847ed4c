"""What a whole training costs: interleaved times of a step times the paper's number of steps, beside the paper's."""

from benchmarks.paper.results import COSTS, Results, joined
from incenter.study.layout import method_title
from incenter.study.paper_numbers import data
from incenter.study.renderings import NOTHING, Body, Entry, Grid, markdown

SEEDS = 3
_HOUR = 3600.0


def section(results: Results) -> str:
    measured = _measured(results)
    if results.costs is None:
        return joined(f"Not measured yet: `python -m benchmarks.method_steps --write {COSTS}`.", measured)
    steps = [time for found in results.costs["steps"].values() for time in found.values()]
    busy = 1 - min(time["processor"] / time["wall"] for time in steps)
    about = (
        f"{results.costs['machine']}; best of {results.costs['rounds']} interleaved rounds on one core, which had "
        f"other work for at most {max(0.0, busy):.0%} of a round; commit {results.costs['commit']}."
    )
    return joined(_table(results, "forward"), _table(results, "inverse"), about, _total(results), measured)


def _table(results: Results, kind: str) -> str:
    """Our seconds, and below them the paper's."""
    paper, names = data("seconds")[kind], data("names")
    columns = {name: cells for name, cells in paper.items() if isinstance(cells, dict) and name != "left_out"}
    methods = [name for name in names["methods"] if any(_ours(results, kind, column, name) for column in columns)]
    bodies = []
    for method in methods:
        ours = [_ours(results, kind, column, method) for column in columns]
        bodies.append(Body(method_title(method), tuple(Entry(NOTHING if s is None else f"{s:.0f}") for s in ours)))
        if any(method in cells for cells in columns.values()):
            printed = tuple(Entry(cells.get(method, NOTHING)) for cells in columns.values())
            bodies.append(Body("paper, GPU", printed, small=True))
    titles = tuple((names["problems"] | names["settings"])[column] for column in columns)
    if not bodies:
        return ""
    title = f"Processor seconds of {paper['steps']:,} steps on one core, and the paper's seconds on a GPU"
    return markdown(Grid(title, "method", titles, tuple(bodies)))


def _ours(results: Results, kind: str, column: str, method: str) -> float | None:
    """The settings of the inverse problem differ in their data alone: the step is that of the standard one."""
    assert results.costs is not None
    problem = "inverse_heat" if kind == "inverse" else column
    found = results.costs["steps"].get(problem, {}).get(method)
    return None if found is None else float(found["processor"]) * data("seconds")[kind]["steps"] / 1000


def _total(results: Results) -> str:
    """Table 1: the cells that the paper prints, three seeds each."""
    paper = data("seconds")["forward"]
    columns = {name: found for name, found in paper.items() if isinstance(found, dict) and name != "left_out"}
    cells = [(column, method, float(text)) for column, found in columns.items() for method, text in found.items()]
    ours = [_ours(results, "forward", column, method) for column, method, _ in cells]
    gpu = SEEDS * sum(seconds for *_, seconds in cells) / _HOUR
    known = [seconds for seconds in ours if seconds is not None]
    if len(known) < len(ours):
        return (
            f"The total of Table 1 needs {len(ours)} cells, of which {len(known)} are measured; the paper's is "
            f"{gpu:.1f} hours of a GPU."
        )
    total = SEEDS * sum(known) / _HOUR
    return (
        f"Table 1, {len(ours)} cells with {SEEDS} seeds each: {total:.1f} hours of one processor core; the paper's own "
        f"cost table gives {gpu:.1f} hours of one GPU."
    )


def _measured(results: Results) -> str:
    """What the runs themselves took, with whatever else the machine did."""
    done = [row for row in results.done("paper-forward") if row.seconds is not None]
    hours = sum(row.seconds or 0.0 for row in done) / _HOUR
    return (
        f"The {len(done)} runs of paper-forward that are here took {hours:.1f} hours by the clock, one thread each, "
        "beside each other and other work on the same machine."
    )
