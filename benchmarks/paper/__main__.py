"""See the header of the package."""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.paper import costs, errors, geometry, identity, seeds, toy
from benchmarks.paper.results import Results, listed, read
from benchmarks.timing import write_section

Section = Callable[[Results], str]
SECTIONS: dict[str, Section] = {
    "forward": errors.forward,
    "inverse": errors.inverse,
    "noise": errors.noise,
    "ablation": errors.ablation,
    "toy": lambda _: toy.section(),
    "seeds": seeds.section,
    "identity": identity.section,
    "heat": errors.heat,
    "lra": errors.lra,
    "rates": errors.rates,
    "costs": costs.section,
}


def main() -> int:
    options = _parser().parse_args()
    with read(options.results) as results:
        made = {name: section(results) for name, section in SECTIONS.items()}
        shown = _pictures(options.pictures, options.write)
        made["geometry"] = geometry.section(results, shown)
        made["status"] = status(results)
        if options.pictures:
            geometry.draw(results, options.pictures)
        if options.readme:
            write_section(options.readme, "results", errors.readme(results))
    for name, text in made.items():
        if options.write:
            write_section(options.write, name, text)
        else:
            print(f"## {name}\n\n{text}\n")
    return 0


def status(results: Results) -> str:
    """How many runs of each plan are here."""
    lines = []
    for plan in results.plans:
        rows = results.rows(plan)
        done = [row for row in rows if row.status == "done"]
        lines.append([plan, f"{len(done)} of {len(rows)}"])
    return listed("", "plan", ("runs done",), lines)


def _pictures(folder: Path | None, page: Path | None) -> str | None:
    """The folder of the pictures as the page sees it."""
    return None if folder is None or page is None else os.path.relpath(folder, page.parent)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="The paper beside what was run.")
    parser.add_argument("--from", dest="results", type=Path, required=True, help="the folder of results")
    parser.add_argument("--write", type=Path, help="the page whose sections are replaced; they are printed without it")
    parser.add_argument("--readme", type=Path, help="the file whose section `results` is replaced")
    parser.add_argument("--pictures", type=Path, help="a folder for the pictures of the page")
    return parser


if __name__ == "__main__":
    sys.exit(main())
