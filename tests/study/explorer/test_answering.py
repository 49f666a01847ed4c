"""What the page is told: the library's numbers, and a picture with the same lengths and angles."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import incenter
from incenter.geometry.errors import IncenterError
from incenter.study.comparison import compare, unit_rows
from incenter.study.cone_geometry import dual_cone, facet_arcs
from incenter.study.examples import Gradients, cone, toy
from incenter.study.explorer.answering import NORMS, answer
from incenter.study.explorer.presets import PRESETS
from incenter.study.explorer.scene import farthest, look

RANDOM = np.random.default_rng(11)


def asked(gradients: Any, p: Any = 2) -> dict[str, Any]:
    return answer({"gradients": np.asarray(gradients).tolist(), "p": p}, {})


def of(found: dict[str, Any], method: str) -> dict[str, Any]:
    return next(each for each in found["methods"] if each["method"] == method)


def held(gradients: Any, **fields: Any) -> dict[str, Gradients]:
    return {"given": Gradients(gradients, tuple(f"loss {i}" for i in range(len(gradients))), "file.npz", **fields)}


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
@pytest.mark.parametrize("p", NORMS)
def test_the_numbers_are_the_librarys(preset: Any, p: Any) -> None:
    G = np.array(preset.gradients)
    norm = math.inf if p == "inf" else float(p)
    centre = incenter.chebyshev_center(G, norm)
    found = asked(G, p)
    assert (found["radius"], found["gap"], found["status"]) == (centre.radius, centre.gap, centre.status.name)
    assert found["active"] == centre.active.tolist()
    for each in compare(Gradients(G, ("a", "b", "c"), ""), norm).answers:
        shown = of(found, each.method)
        if "note" in shown:
            continue
        assert each.direction is not None
        assert (shown["radius"], shown["direction"]) == (each.radius, each.direction.tolist())


def test_every_rule_has_a_direction_or_says_why_not() -> None:
    found = asked(toy().gradients)
    assert sorted(each["method"] for each in found["methods"]) == incenter.methods.names()
    silent = {each["method"]: each["note"] for each in found["methods"] if "note" in each}
    assert sorted(silent) == ["bgda", "lra", "m_config", "multiadam", "ntk", "relobralo"]
    assert "traces" in silent["ntk"]
    assert "remembers earlier steps" in silent["multiadam"]
    json.dumps(found, allow_nan=False)


def test_the_presets_show_what_they_say() -> None:
    found = {preset.name: asked(preset.gradients) for preset in PRESETS}
    assert of(found["toy"], "imtl_g")["radius"] < -0.6
    assert found["toy"]["active"] == found["worked"]["active"] == [True, True, False]
    assert of(found["worked"], "config")["radius"] < found["worked"]["radius"] - 0.1
    assert of(found["imtl_g"], "imtl_g")["radius"] == pytest.approx(-(3**-0.5))
    longer = [*PRESETS[2].gradients[:2], tuple(1.3 * x for x in PRESETS[2].gradients[2])]
    assert of(asked(longer), "imtl_g")["radius"] == pytest.approx(3**-0.5)
    assert 0 < of(found["config"], "config")["radius"] < 0.09 < 0.7 < found["config"]["radius"]
    assert found["stationary"]["status"] == "STATIONARY"
    assert of(found["stationary"], "sum")["radius"] < 0


def test_harmonic_jumps_by_thirty_degrees_where_the_centre_moves_by_half_a_degree() -> None:
    before, after = (asked(preset.gradients) for preset in PRESETS if preset.name.startswith("harmonic"))

    def turn(method: str) -> float:
        return math.degrees(math.acos(np.dot(of(before, method)["direction"], of(after, method)["direction"])))

    assert turn("harmonic") == pytest.approx(30, abs=0.5)
    assert turn("chebyshev") == pytest.approx(0.5, abs=0.05)


def test_three_gradients_of_many_parameters_keep_their_lengths_and_angles() -> None:
    G = RANDOM.standard_normal((3, 500)) * [[1e-4], [1.0], [300.0]]
    found = answer({"held": "given"}, held(G))
    seen = np.array(found["scene"]["gradients"])
    assert np.allclose(seen @ seen.T, unit_rows(G) @ unit_rows(G).T, atol=1e-12)
    assert np.allclose(found["scene"]["lengths"], np.linalg.norm(G, axis=1), rtol=1e-12)
    assert found["scene"]["whole"]
    centre = incenter.chebyshev_center(G)
    assert np.allclose(seen @ found["scene"]["center"], unit_rows(G) @ centre.direction, atol=1e-12)
    for method in ("sum", "mgda", "imtl_g", "config"):  # a combination of the gradients lies in their span
        shown = of(found, method)
        assert np.allclose(seen @ shown["direction"], shown["cosines"], atol=1e-9), method


def test_numbers_are_of_all_gradients_and_the_picture_of_three() -> None:
    G = RANDOM.standard_normal((6, 50))
    found = answer({"held": "given", "shown": [5, 0, 3]}, held(G))
    assert found["radius"] == incenter.chebyshev_center(G).radius
    assert len(of(found, "sum")["cosines"]) == 6
    scene = found["scene"]
    assert (scene["shown"], scene["whole"]) == ([5, 0, 3], False)
    assert scene["radius"] == incenter.chebyshev_center(G[[5, 0, 3]]).radius
    shadow = np.array(of(found, "sum")["direction"])
    assert 0 < np.linalg.norm(shadow) < 1


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 7), (2, 2), (2, 9), (5, 3), (4, 2), (30, 100), (3, 1)])
def test_any_number_of_losses_and_parameters(m: int, n: int) -> None:
    G = np.abs(RANDOM.standard_normal((m, n)))
    for p in NORMS:
        found = answer({"held": "given", "p": p}, held(G))
        json.dumps(found, allow_nan=False)
        assert found["scene"]["center"] is not None
        assert len(found["scene"]["gradients"]) == (m if n <= 3 else min(m, 3))


def test_rows_that_are_zero_or_not_finite() -> None:
    zero = answer({"held": "given"}, held(np.array([[1.0, 0, 0, 0], [0.0, 0, 0, 0], [0, 1.0, 0, 0]])))
    assert zero["status"] == "ZERO_ROW"
    assert zero["dropped"] == [False, True, False]
    broken = answer({"held": "given"}, held(np.array([[np.nan, 0, 0, 0], [1.0, 0, 0, 0]])))
    assert broken["status"] == "NONFINITE"
    assert broken["scene"]["center"] is None
    json.dumps([zero, broken], allow_nan=False)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of rules that take the gradients at their lengths
def test_a_length_that_no_double_holds() -> None:
    long = asked([[1.7e308, 1.7e308, 0], [0, 1, 0], [0, 0, 1]])
    assert long["scene"]["lengths"] == [None, 1, 1]
    json.dumps(long, allow_nan=False)


@pytest.mark.parametrize("p", NORMS)
def test_the_ball_touches_the_facets_that_bind(p: Any) -> None:
    G = RANDOM.standard_normal((3, 3)) + 0.7
    found = asked(G, p)
    assert found["scene"]["contacts"]
    for contact in found["scene"]["contacts"]:
        assert np.min(np.abs(unit_rows(G) @ contact)) < 1e-6
        assert np.min(unit_rows(G) @ contact) > -1e-6


def test_the_farthest_point_of_the_ball() -> None:
    normal = RANDOM.standard_normal(3)
    for p in (1.0, 1.5, 2.0, 4.0, math.inf):
        q = math.inf if p == 1 else 1.0 if p == math.inf else p / (p - 1)
        point = farthest(normal, p)
        assert np.linalg.norm(point, q) == pytest.approx(1)
        assert point @ normal == pytest.approx(np.linalg.norm(normal, p))


def test_facets_are_those_of_the_pointed_cone() -> None:
    G = cone().gradients
    centre = incenter.chebyshev_center(G)
    pointed = dual_cone(G, centre.direction, centre.radius)
    arcs = dict(facet_arcs(unit_rows(G)))
    assert sorted(arcs) == sorted(facet.gradient for facet in pointed.facets)
    for facet in pointed.facets:
        ends = [arcs[facet.gradient][0], arcs[facet.gradient][-1]]
        rays = [pointed.rays[facet.first], pointed.rays[facet.second]]
        straight = all(np.allclose(end, ray) for end, ray in zip(ends, rays, strict=True))
        assert straight or all(np.allclose(end, ray) for end, ray in zip(ends, rays[::-1], strict=True))


def test_facets_of_cones_that_are_not_pointed() -> None:
    flat = unit_rows(np.array([[1.0, 0, 0], [0, 1.0, 0], [1.0, 1.0, 0]]))
    arcs = facet_arcs(flat)
    assert [gradient for gradient, _ in arcs] == [0, 1]  # the third plane only touches
    for _, arc in arcs:
        assert np.allclose(arc[0], -arc[-1])  # a half circle
        assert (flat @ arc.T).min() > -1e-12
    assert len(facet_arcs(np.array([[0.0, 0, 1.0]]))) == 1  # a half space, bounded by a whole circle


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ({}, "must be 3 rows of 3 numbers; got"),
        ({"gradients": [[1, 2], [3, 4]]}, r"got shape \(2, 2\)"),
        ({"gradients": [["a", 2, 3]] * 3}, "must be 3 rows of 3 numbers"),
        ({"gradients": np.eye(3).tolist(), "p": 0.5}, r"`p` must be in \[1, inf\]"),
        ({"gradients": np.eye(3).tolist(), "p": "two"}, "`p` must be a number from 1 to inf"),
        ({"gradients": [[10**400, 0, 0], [0, 1, 0], [0, 0, 1]]}, "must be 3 rows of 3 numbers; got"),
        ({"gradients": np.eye(3).tolist(), "p": 10**400}, "`p` must be a number from 1 to inf"),
        ({"held": "nothing"}, "holds no gradients called 'nothing'"),
        ({"held": ["given"]}, "holds no gradients called"),
        ({"held": "given", "shown": [0, 0, 1]}, "Choose three different gradients of 0 to 3"),
        ({"held": "given", "shown": [0, 1, 9]}, "Choose three different gradients"),
        ({"held": "given", "shown": "abc"}, "`shown` must be a list of rows"),
    ],
)
def test_bad_questions_are_one_sentence(question: dict[str, Any], sentence: str) -> None:
    with pytest.raises(IncenterError, match=sentence):
        answer(question, held(RANDOM.standard_normal((4, 5))))


def test_a_view_of_few_parameters_loses_nothing() -> None:
    view = look(np.array([[1.0, 2.0], [3.0, 4.0]]), (0, 1))
    assert view.exact
    assert (view.basis @ np.array([1.0, 2.0])).tolist() == [1.0, 2.0, 0.0]


def test_the_docs_say_of_each_preset_what_the_page_says() -> None:
    text = " ".join((Path(__file__).parents[3] / "docs" / "explorer.md").read_text(encoding="utf-8").split())
    for preset in PRESETS:
        assert f"**{preset.title}**. {preset.look}" in text


def test_the_lines_of_python_give_the_same_gradients() -> None:
    for sources in (
        {"given": cone()},
        {"given": Gradients(np.array([[1.1, 2.2], [3.3, 4.4]], dtype=np.float32), ("a", "b"), "x")},
    ):
        lines = answer({"held": "given", "p": "inf"}, sources)["python"]
        names: dict[str, Any] = {}
        exec(lines.split("\nprint")[0], names)
        assert np.array_equal(names["G"], sources["given"].gradients)
        assert lines.endswith('print(incenter.chebyshev_center(G, p=float("inf")))')
    assert "np.load('file.npz')[\"gradients\"]" in answer({"held": "given"}, held(np.eye(3, 40)))["python"]
