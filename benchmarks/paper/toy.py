"""The paper's toy comparison: three gradients, and every method's direction beside the paper's."""

import numpy as np

from benchmarks.paper.results import listed
from incenter.study.comparison import compare
from incenter.study.examples import toy
from incenter.study.layout import method_title
from incenter.study.paper_numbers import data

_SHOWN = ("mgda", "gapo", "imtl_g", "config", "harmonic", "chebyshev")


def section() -> str:
    """Cosines of each direction with the three gradients, computed now, and how far it is from the paper's."""
    printed = data("toy")["directions"]
    answers = {answer.method: answer for answer in compare(toy(), methods=_SHOWN).answers}
    lines = []
    for name in _SHOWN:
        answer = answers[name]
        if answer.direction is None or answer.cosines is None:
            continue
        away = np.abs(answer.direction - np.array(printed[name])).max() if name in printed else None
        cosines = [f"{cosine:.4f}" for cosine in answer.cosines]
        told = "not in the paper" if away is None else f"{away:.0e}"
        lines.append([method_title(name), *cosines, f"{answer.radius:.4f}", told])
    return listed("", "direction", ("cosine with g1", "with g2", "with g3", "least", "from the paper's"), lines)
