"""Which run comes next: seeds of a cell stay together, and no lane waits for another one."""

from incenter.study.rows import Planned
from incenter.study.turns import Turns


def runs(cells: str, seeds: int) -> list[Planned]:
    """Cells a, b, ... with seeds 0, 1, ...: keys a0, a1, ..."""
    return [Planned(f"{cell}{seed}", {"problem": cell, "seed": seed}) for cell in cells for seed in range(seeds)]


def turns(cells: str, seeds: int) -> Turns:
    made = Turns(runs(cells, seeds))
    made.refill(each.key for each in runs(cells, seeds))
    return made


def test_one_lane_takes_the_order_of_the_plan() -> None:
    made = turns("ab", 2)
    assert [made.take(0) for _ in range(5)] == ["a0", "a1", "b0", "b1", None]


def test_two_lanes_are_at_two_cells() -> None:
    made = turns("abc", 2)
    assert [made.take(lane) for lane in (0, 1, 0, 1, 1, 0)] == ["a0", "b0", "a1", "b1", "c0", "c1"]


def test_a_lane_without_a_cell_of_its_own_helps_another() -> None:
    made = turns("a", 3)
    assert [made.take(lane) for lane in (0, 1, 2, 0)] == ["a0", "a1", "a2", None]


def test_what_is_to_be_tried_again_comes_first() -> None:
    made = turns("ab", 2)
    assert made.take(0) == "a0"
    made.put_first("a0")
    assert made.take(0) == "a0"


def test_every_run_has_one_turn() -> None:
    made = turns("abcde", 7)
    taken = [made.take(step % 3) for step in range(36)]
    assert sorted(each for each in taken if each) == sorted(each.key for each in runs("abcde", 7))
