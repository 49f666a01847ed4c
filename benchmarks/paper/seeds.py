"""Ten seeds: confidence intervals of the means, and paired tests against our method."""

from benchmarks.paper.results import Results, joined, listed, not_run, seeds_of
from incenter.study.layout import OURS, Layout, lay_out
from incenter.study.paired_table import LEVEL, PairedTable, paired_table
from incenter.study.quantities import ERROR
from incenter.study.statistics import CONFIDENCE, interval
from incenter.study.tables import Table, of_layout

PLAN = "paper-ten-seeds"
_TWO = 2  # methods, of which one can be better


def section(results: Results) -> str:
    rows = results.rows(PLAN)
    if not results.done(PLAN):
        return not_run(PLAN)
    layout = lay_out(rows)
    if layout.line_of(OURS) is None or not any(row.method == OURS for row in results.done(PLAN)):
        return joined("No run of our method is done yet, so there is nothing to compare with.", seeds_of(rows))
    tests = paired_table(rows, OURS)
    return joined(_intervals(layout), tests.markdown(), _verdict(of_layout(layout, ERROR), tests), seeds_of(rows))


def _intervals(layout: Layout) -> str:
    lines = []
    for line in layout.lines:
        texts = []
        for column in layout.columns:
            errors = [row.relative_l2 for row in layout.runs(line, column) if row.relative_l2 is not None]
            texts.append(_interval(errors))
        lines.append([line.title, *texts])
    columns = [column.title for column in layout.columns]
    return listed(f"Mean error and its {CONFIDENCE:.0%} confidence interval", "method", columns, lines)


def _interval(errors: list[float]) -> str:
    if not errors:
        return "not run"
    mean = sum(errors) / len(errors)
    if len(errors) == 1:
        return f"{mean:.4f}, 1 seed"
    low, high = interval(errors)
    return f"{mean:.4f} ({low:.4f} to {high:.4f}), {len(errors)} seeds"


def _verdict(table: Table, tests: PairedTable) -> str:
    """Which method has the least mean in each column, and which ones the tests tell from ours."""
    sentences = []
    for place, column in enumerate(table.columns):
        means = [(mean, each.line.title) for each in table.lines if (mean := each.cells[place].mean) is not None]
        if len(means) < _TWO:
            continue
        least = min(means)[1]
        compared = [(line.title, cells[place]) for line, cells in tests.lines if cells[place].found is not None]
        certain = [(title, cell) for title, cell in compared if cell.adjusted is not None and cell.adjusted < LEVEL]
        worse = [title for title, cell in certain if cell.found is not None and cell.found.ratio > 1]
        better = [title for title, cell in certain if cell.found is not None and cell.found.ratio < 1]
        rest = [title for title, _ in compared if title not in (*worse, *better)]
        words = [f"{column.title}: {least} has the least mean"]
        words += [f"{_names(worse)} {'is' if len(worse) == 1 else 'are'} worse than ours"] if worse else []
        words += [f"{_names(better)} {'is' if len(better) == 1 else 'are'} better than ours"] if better else []
        words += [f"these runs do not tell {_names(rest)} from ours"] if rest else []
        sentences.append("- " + "; ".join(words) + ".")
    if not sentences:
        return ""
    return joined(f"At p below {LEVEL} after Holm's correction:", "\n".join(sentences))


def _names(titles: list[str]) -> str:
    return " and ".join([", ".join(titles[:-1]), titles[-1]]) if len(titles) > 1 else titles[0]
