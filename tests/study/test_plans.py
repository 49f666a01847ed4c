"""Plans: the paper's are the paper's, a copy is as good as the original, and what is wrong is said first."""

from collections import Counter
from pathlib import Path

import pytest

from incenter import IncenterError
from incenter.study import learning_rates, plans
from incenter.study.expansion import expand
from incenter.study.rows import Planned

METHODS = [
    "sum", "lra", "relobralo", "mgda", "gapo", "pcgrad", "imtl_g", "dcgd_center", "config", "harmonic", "chebyshev",
]  # fmt: skip
GRID = '[[grid]]\nproblems = ["burgers"]\nmethods = ["sum"]\n'


def runs(text: str) -> list[Planned]:
    return expand(plans.read(text, "my.toml"))


def rates(planned: list[Planned], problem: str, method: str) -> set[float]:
    found = [each.configuration for each in planned]
    return {each["lr"] for each in found if (each["problem"], each["method"]) == (problem, method)}


class TestThePapers:
    def test_the_tables_have_the_papers_cells(self) -> None:
        tables = learning_rates.table()
        forward = [
            tables["forward"][problem] for problem in ("helmholtz", "kovasznay", "burgers", "heat", "klein_gordon")
        ]
        inverse = [tables["inverse"][setting] for setting in ("standard", "higher-noise", "fewer-data")]
        assert [Counter(column.values()) for column in forward] == [
            {1e-3: 5, 3e-4: 4}, {1e-3: 6, 3e-4: 3}, {1e-3: 8, 3e-4: 1}, {1e-3: 7, 3e-4: 2}, {1e-3: 3, 3e-4: 6},
        ]  # fmt: skip
        assert [Counter(column.values()) for column in inverse] == [
            {1e-3: 5, 3e-4: 4},
            {1e-3: 5, 3e-4: 4},
            {1e-3: 6, 3e-4: 3},
        ]
        assert [column.get("dcgd_center") for column in forward] == [3e-4, 3e-4, None, None, None]
        assert [column.get("config") for column in forward] == [None, None, 1e-3, 1e-3, 3e-4]
        assert [column["chebyshev"] for column in forward] == [3e-4, 1e-3, 1e-3, 1e-3, 3e-4]

    def test_adam_is_the_sum(self) -> None:
        assert learning_rates.rates("inverse_heat", {}, "adam") == [3e-4]

    def test_forward_has_every_cell_with_three_seeds_and_the_left_out_ones_with_both_rates(self) -> None:
        planned = expand(plans.load("paper-forward"))
        assert len(planned) == 3 * (45 + 2 * 5 + 2 * 5)
        assert planned[0].key == "8463ba9a3b6b7c2f"  # results are kept under it
        assert {each.configuration["seed"] for each in planned} == {0, 1, 2}
        assert {each.configuration["steps"] for each in planned} == {50_000}
        assert {each.configuration["method"] for each in planned} == set(METHODS)
        assert rates(planned, "helmholtz", "lra") == {3e-4}
        assert rates(planned, "helmholtz", "config") == {1e-3, 3e-4}
        assert rates(planned, "burgers", "dcgd_center") == {1e-3, 3e-4}
        assert rates(planned, "helmholtz", "gapo") == {1e-3, 3e-4}
        mgda = next(each.configuration for each in planned if each.configuration["method"] == "mgda")
        assert mgda["method_options"] == {"iterations": 20, "tolerance": 1e-6}

    def test_inverse_has_three_settings_and_the_left_out_methods_with_both_rates(self) -> None:
        planned = expand(plans.load("paper-inverse"))
        assert len(planned) == 3 * (9 + 2 * 2) * 3
        assert {each.configuration["problem_options"]["setting"] for each in planned} == {
            "standard", "higher-noise", "fewer-data",
        }  # fmt: skip
        assert {each.configuration["steps"] for each in planned} == {30_000}
        assert rates(planned, "inverse_heat", "dcgd_center") == {1e-3, 3e-4}

    def test_the_ablation_changes_p_alone_exactly_and_by_frank_wolfe(self) -> None:
        planned = expand(plans.load("paper-ablation-p"))
        found = Counter((each.configuration["p"], bool(each.configuration["method_options"])) for each in planned)
        assert found == {(p, solver): 3 for p in (1.5, 2.0, 3.0, 4.0) for solver in (False, True)}
        assert {each.configuration["lr"] for each in planned} == {1e-3}
        by_frank_wolfe = {"iterations": 20, "tolerance": 1e-6}
        assert all(each.configuration["method_options"] in ({}, by_frank_wolfe) for each in planned)

    @pytest.mark.parametrize(
        ("name", "count", "shared"),
        [
            ("paper-ablation-p", 24, 3),  # p = 2, exactly
            ("paper-ten-seeds", 100, 30),
            ("paper-noise", 15, 3),
            ("paper-rates", 2 * 10 * 8, 5 * 10 + 5 + 3 * (9 + 2)),
            ("paper-lra", 18, 3),
            ("paper-heat", 3 * 2 * (9 + 2), 0),
            ("paper-geometry", 8, 0),  # the same runs, with their gradients kept
            ("paper-identity", 8, 7),
            ("paper-identity-start", 16, 0),
        ],
    )
    def test_what_the_two_tables_have_is_not_run_again(self, name: str, count: int, shared: int) -> None:
        tables = {each.key for plan in ("paper-forward", "paper-inverse") for each in expand(plans.load(plan))}
        planned = {each.key for each in expand(plans.load(name))}
        assert len(planned) == count
        assert len(planned & tables) == shared

    def test_the_geometry_is_that_of_the_tables_runs(self) -> None:
        kept = expand(plans.load("paper-geometry"))
        assert {each.configuration["save_gradients"] for each in kept} == {500}
        tables = [each for plan in ("paper-forward", "paper-inverse") for each in expand(plans.load(plan))]
        same = [{**each.configuration, "save_gradients": 500} for each in tables]
        assert all(each.configuration in same for each in kept)

    def test_quick_is_two_problems_and_four_methods_once(self) -> None:
        planned = expand(plans.load("quick"))
        assert len(planned) == 8
        assert len({each.configuration["problem"] for each in planned}) == 2

    @pytest.mark.parametrize("name", plans.built_in())
    def test_a_copy_is_the_same_plan(self, name: str, tmp_path: Path) -> None:
        copy = tmp_path / "mine.toml"
        copy.write_text(plans.text_of(name))
        assert expand(plans.load(str(copy))) == expand(plans.load(name))


class TestOwnPlans:
    def test_a_variation_changes_one_field_and_keeps_the_base(self) -> None:
        planned = runs(GRID + "[base]\nsteps = 10\n[[vary]]\nprecision = [64]\npoints = [100, 200]\n")
        found = [(each.configuration["precision"], each.configuration["problem_options"]) for each in planned]
        assert found == [(32, {}), (64, {}), (32, {"points": 100}), (32, {"points": 200})]

    def test_a_value_that_is_the_bases_own_is_no_other_run(self) -> None:
        assert len(runs(GRID + "[base]\nsteps = 10\n[[vary]]\nprecision = [32, 64]\n")) == 2

    def test_the_seeds_of_a_cell_follow_each_other(self) -> None:
        text = '[[grid]]\nproblems = ["burgers"]\nmethods = ["sum", "mgda"]\nlr = [1e-3, 1e-4]\nseeds = [4, 5]\n'
        planned = [each.configuration for each in runs(text)]
        assert [each["seed"] for each in planned] == [4, 5] * 4
        assert [each["method"] for each in planned] == ["sum"] * 4 + ["mgda"] * 4

    def test_options_stand_beside_the_name_and_the_limit_in_every_run(self) -> None:
        grid = GRID.replace('"burgers"', '{ name = "heat", operator = "divergence" }')
        (planned,) = runs("timeout_seconds = 9\n" + grid)
        assert planned.configuration["problem_options"] == {"operator": "divergence"}
        assert planned.timeout_seconds == 9

    def test_problems_and_rules_of_ones_own(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        Path("own.py").write_text(
            "from incenter.methods.sum import Sum\n"
            "from incenter.pinn import Box, Interior, Problem\n"
            "def line(slope: float = 1.0):\n"
            "    return Problem(domain=Box(x=(0, 1)), terms={'residual': Interior(8, lambda u: u.x - slope)})\n"
            "class Mine(Sum):\n"
            "    pass\n"
        )
        text = '[[grid]]\nproblems = [{ name = "own.py:line", slope = 2.0 }]\nmethods = ["own.py:Mine"]\n'
        (planned,) = runs(text)
        assert planned.configuration["problem_options"] == {"slope": 2.0}
        with pytest.raises(IncenterError, match=r"no name in own\.py called 'lime'\. Did you mean 'line'"):
            runs('[[grid]]\nproblems = ["own.py:lime"]\nmethods = ["sum"]\n')

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("[[grid]\n", "my.toml is not TOML (Expected ']]' at the end of an array declaration (at line 1"),
            ("", "my.toml: a plan needs a [[grid]]"),
            ("[grid]\n", "`grid` must be written [[grid]]"),
            ("titel = 'x'\n" + GRID, "no entry of a plan called 'titel'. Did you mean 'title'?"),
            ("name = 3\n" + GRID, '`name` must be text, such as name = "mine"; got 3.'),
            (GRID + "seed = [0]\n", "no entry of a [[grid]] called 'seed'. Did you mean 'seeds'?"),
            (GRID + "seeds = 3\n", "`seeds` must be a list of at least one, seeds = [...]; got 3."),
            (GRID + "seeds = [0.5]\n", "each of `seeds` must be a whole number; got 0.5."),
            (GRID + "seeds = [-1]\n", "`seed` must be a whole number, 0 or more; got -1."),
            (GRID + "lr = 1e-3\n", '`lr` must be a list such as [1e-3, 3e-4], or "paper"; got 0.001.'),
            (GRID + "lr = [-1]\n", "`lr` must be a positive number; got -1.0."),
            (GRID + "[base]\nstep = 5\n", "Did you mean 'steps'?"),
            (GRID + "[base]\nsteps = 0.5\n", "`steps` must be a whole number, 0 or more; got 0.5."),
            (GRID + "[base]\noptimizer = 'adan1'\n", "Did you mean 'adan'?"),
            (GRID + "[base]\nseed = 5\n", "[base] cannot hold `seed`: write seeds = [...] in [[grid]]."),
            (GRID + "[base]\np = 0.5\n", "p"),
            (GRID + "[[vary]]\np = [3]\n", "The rule 'sum' has no `p`; got p=3.0"),
            (
                GRID + "[[vary]]\nmethod = ['sum']\n",
                "[[vary]] cannot change `method`: write methods = [...] in [[grid]].",
            ),
            (GRID + "[[vary]]\npoimts = [3]\n", "no field called 'poimts'. Did you mean 'points'?"),
            (GRID.replace("burgers", "burger"), "no problem called 'burger'. Did you mean 'burgers'?"),
            (GRID.replace("sum", "chebychev"), "Did you mean 'chebyshev'?"),
            (GRID.replace('"sum"', '{ name = "mgda", iteration = 3 }'), "Did you mean 'iterations'?"),
            (GRID.replace('"sum"', "3"), 'each of `methods` must be a name, or { name = "...", OPTION = VALUE }'),
            (GRID.replace('"burgers"', '{ name = "burgers", width = -3 }'), "-3"),
            ("timeout_seconds = 0\n" + GRID, "`timeout_seconds` must be a positive number; got 0."),
        ],
    )
    def test_what_is_wrong_is_one_sentence_with_the_nearest_name(self, text: str, sentence: str) -> None:
        with pytest.raises(IncenterError) as caught:
            runs(text)
        assert sentence in str(caught.value)
        assert str(caught.value).startswith("my.toml")
        assert "\n" not in str(caught.value)

    def test_a_plan_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(IncenterError, match=r"no plan called 'paper-foward'\. Did you mean 'paper-forward'"):
            plans.load("paper-foward")
        with pytest.raises(IncenterError, match="cannot be read"):
            plans.load(str(tmp_path / "none.toml"))


def test_the_page_on_studies_lists_every_plan() -> None:
    page = (Path(__file__).parents[2] / "docs" / "study.md").read_text(encoding="utf-8")
    listed = [line for line in page.splitlines() if line.startswith("| `")]
    assert [name for name in plans.built_in() if not any(f"`{name}`" in line for line in listed)] == []
