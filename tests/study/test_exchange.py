"""A store as a folder of text files: nothing is lost on the way, and nothing that is damaged gets in."""

import csv
import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from incenter import IncenterError
from incenter.study import run_file, spreadsheet
from incenter.study.exchange import export, take_in
from incenter.study.rows import Outcome, Status
from incenter.study.store import Store
from tests.cli.running import run
from tests.study.made_rows import made_row
from tests.study.runs import outcome, planned


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Three runs, two of them finished."""
    with Store(tmp_path / "study.sqlite") as store:
        store.add("paper 1", planned(3))
        for each in planned(2):
            store.enter(each, outcome(each.configuration["seed"], records=250))
        yield store


def test_a_store_that_went_through_a_folder_is_the_same(store: Store, tmp_path: Path) -> None:
    assert export(store, tmp_path / "folder", fields="all").written == 2
    with Store(tmp_path / "other.sqlite") as other:
        found = take_in(other, tmp_path / "folder")
        assert (found.new, found.known, found.problems) == (2, 0, ())
        assert other.status("paper 1") == Status(waiting=1, done=2)
        assert other.rows("paper 1") == store.rows("paper 1")
        for here, there in zip(store.rows(status="done"), other.rows(status="done"), strict=True):
            for name, array in run_file.thinned(here.history()).items():
                assert len(array) == run_file.RECORDS
                assert there.history()[name].tobytes() == array.tobytes()
            assert there.fields()["u"].tobytes() == here.fields()["u"].tobytes()


def test_a_finished_run_of_a_folder_is_not_run_again(store: Store, tmp_path: Path) -> None:
    export(store, tmp_path / "folder")
    with Store(tmp_path / "other.sqlite") as other:
        take_in(other, tmp_path / "folder")
        assert other.add("mine", planned(4)).finished == tuple(run.key for run in planned(2))
        claims = [other.claim("mine", "w"), other.claim("mine", "w"), other.claim("mine", "w")]
        assert [claim and claim.configuration["seed"] for claim in claims] == [2, 3, None]


def test_a_running_run_is_ended_by_an_imported_result(store: Store, tmp_path: Path) -> None:
    export(store, tmp_path / "folder")
    with Store(tmp_path / "other.sqlite") as other:
        other.add("a", planned(1))
        other.claim("a", "w")
        take_in(other, tmp_path / "folder")
        assert not other.beat(planned(1)[0].key, "w", 1)
        assert not other.finish(planned(1)[0].key, "w", outcome(9))


def test_exporting_again_changes_no_file_and_importing_again_no_row(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    export(store, folder)
    before = {path: path.read_bytes() for path in folder.rglob("*.json")}
    again = export(store, folder)
    assert (again.written, again.unchanged, again.problems) == (0, 2, ())
    assert {path: path.read_bytes() for path in folder.rglob("*.json")} == before
    found = take_in(store, folder)
    assert (found.new, found.known, found.problems) == (0, 2, ())


def test_files_are_small_text_with_the_fields_of_one_seed(store: Store, tmp_path: Path) -> None:
    export(store, tmp_path)
    first, second = sorted((tmp_path / "runs").glob("*.json"))
    assert first.name.startswith("burgers-chebyshev-seed-0-")
    assert len(second.read_text(encoding="ascii")) < 20_000
    contents = [json.loads(path.read_text()) for path in (first, second)]
    assert [list(content["fields"]) for content in contents] == [["u"], []]
    export(store, tmp_path, fields="all")
    assert list(json.loads(second.read_text())["fields"]) == ["u"]
    export(store, tmp_path, fields="none")  # what the folder has stays
    assert list(json.loads(second.read_text())["fields"]) == ["u"]


def test_two_stores_meet_in_one_folder(store: Store, tmp_path: Path) -> None:
    export(store, tmp_path / "folder")
    with Store(tmp_path / "other.sqlite") as other:
        other.add("paper 1", planned(6)[4:])
        other.enter(planned(5)[4], outcome(4))
        export(other, tmp_path / "folder")
    with Store(tmp_path / "both.sqlite") as both:
        assert take_in(both, tmp_path / "folder").new == 3
        assert sorted(row.seed for row in both.rows("paper 1")) == [0, 1, 2, 4, 5]


@pytest.mark.parametrize(
    "values",
    [
        np.array([0.1, -0.0, 5e-324, 1.7976931348623157e308, np.nan, np.inf, -np.inf]),
        np.array([0.1, -0.0, 1e-45, 3.4028235e38, np.nan, np.inf, -np.inf], dtype=np.float32),
        np.random.default_rng(0).integers(0, 2**32, 20_000, dtype=np.uint32).view(np.float32),
        np.random.default_rng(1).integers(0, 2**64, 5_000, dtype=np.uint64).view(np.float64),
        np.array([[True, False], [False, True]]),
        np.array([2**63 - 1, -(2**63)]),
        np.array(["residual", "boundary"]),
        np.zeros((0, 3), dtype=np.float32),
        np.float32(0.1),
    ],
)
def test_values_come_back_exactly(values: np.ndarray) -> None:
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)  # one NaN is as good as another
    (each,) = planned(1)
    text = run_file.text_of(each, Outcome({}, {"values": values}, "", {"values": values}))
    _, back = run_file.run_of(run_file.content_of(text))
    for arrays in (back.history, back.fields):
        assert arrays["values"].dtype == values.dtype
        assert arrays["values"].shape == values.shape
        assert arrays["values"].tobytes() == values.tobytes()


def test_line_ends_may_change(store: Store, tmp_path: Path) -> None:
    export(store, tmp_path / "folder")
    for path in (tmp_path / "folder").rglob("*.json"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    with Store(tmp_path / "other.sqlite") as other:
        assert take_in(other, tmp_path / "folder").new == 2


def test_a_damaged_file_is_named_and_the_others_are_read(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    export(store, folder)
    whole = {path: path.read_bytes() for path in (folder / "runs").iterdir()}
    first = min(whole)
    damages = {
        "it is cut short, or not JSON": whole[first][: len(whole[first]) // 2],
        "its values do not have their hash": whole[first].replace(b'"seed":0', b'"seed":1', 1),
        "its format is 2, and this incenter reads 1: upgrade incenter": whole[first].replace(b"1", b"2", 1),
        "it is not text": b"\xff\xfe" + whole[first],
        "it is not a file of a study": b"{}",
    }
    for number, (sentence, data) in enumerate(damages.items()):
        first.write_bytes(data)
        with Store(tmp_path / f"{number}.sqlite") as other:
            found = take_in(other, folder)
            assert (found.new, found.problems) == (1, (f"{first} is left out: {sentence}.",))
            assert other.status("paper 1") == Status(waiting=2, done=1)
    export(store, folder, fields="first")  # a damaged file is written anew
    assert first.read_bytes() == whole[first]


def test_one_flipped_bit_is_always_found(store: Store, tmp_path: Path) -> None:
    export(store, tmp_path, fields="none")
    path = min((tmp_path / "runs").iterdir())
    whole = path.read_bytes()
    expected = run_file.content_of(whole.decode())
    draw = np.random.default_rng(0)
    for place, bit in zip(draw.integers(0, len(whole), 300), draw.integers(0, 8, 300), strict=True):
        data = bytearray(whole)
        data[place] ^= 1 << int(bit)
        try:
            assert run_file.content_of(data.decode()) == expected  # a space that became a line end, and the like
        except (run_file.NotWhole, UnicodeDecodeError):
            continue


def test_another_result_of_the_same_run_is_told(store: Store, tmp_path: Path) -> None:
    export(store, tmp_path / "folder")
    with Store(tmp_path / "other.sqlite") as other:
        other.enter(planned(1)[0], outcome(7))
        found = take_in(other, tmp_path / "folder")
        assert (found.new, found.known) == (1, 1)
        assert "has another result than run" in found.problems[0]
        assert other.row(planned(1)[0].key).parameters == outcome(7).parameters_hash


def test_what_cannot_be_is_one_sentence(store: Store, tmp_path: Path) -> None:
    with pytest.raises(IncenterError, match=r"There is no folder .*nowhere: give one that `incenter study export`"):
        take_in(store, tmp_path / "nowhere")
    with pytest.raises(IncenterError, match=r"There is no study 'papier' in .*; there are: paper 1"):
        export(store, tmp_path / "folder", "papier")
    (tmp_path / "file").write_text("")
    with pytest.raises(IncenterError, match="file cannot be written"):
        export(store, tmp_path / "file")


def test_csv_brings_floats_back_exactly(store: Store, tmp_path: Path) -> None:
    spreadsheet.write_csv(store.rows("paper 1"), tmp_path / "runs.csv")
    with (tmp_path / "runs.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["status"] for line in lines] == ["done", "done", "waiting"]
    assert [line["seed"] for line in lines] == ["0", "1", "2"]
    assert [float(line["relative_l2"]) for line in lines[:2]] == [row.relative_l2 for row in store.rows(status="done")]
    assert lines[2]["relative_l2"] == ""
    assert lines[0]["version/jax"] == "0.9"
    assert "error" not in lines[0]  # no run has one
    with pytest.raises(IncenterError, match="cannot be written"):
        spreadsheet.write_csv(store.rows(), tmp_path / "runs.csv" / "runs.csv")


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="pyarrow is not installed")
def test_parquet_has_types(store: Store, tmp_path: Path) -> None:
    from pyarrow import parquet

    spreadsheet.write_parquet(store.rows("paper 1"), tmp_path / "runs.parquet")
    columns = parquet.read_table(tmp_path / "runs.parquet").to_pydict()
    assert columns["seed"] == [0, 1, 2]
    assert columns["relative_l2"] == [row.relative_l2 for row in store.rows("paper 1")]


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="pyarrow is not installed")
def test_an_option_that_is_a_number_here_and_a_name_there_is_text(tmp_path: Path) -> None:
    from pyarrow import parquet

    rows = [made_row(scale=value) for value in (10, 2.5)], [made_row(scale=value) for value in (10, "auto", True)]
    for mixed, expected in zip(rows, ([10, 2.5], ["10", "auto", "True"]), strict=True):
        spreadsheet.write_parquet(mixed, tmp_path / "runs.parquet")
        assert parquet.read_table(tmp_path / "runs.parquet").to_pydict()["problem.scale"] == expected


def test_the_command_writes_what_the_name_says(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def spread(*arguments: str | Path) -> int:
        return run("study", "spreadsheet", *map(str, arguments))

    assert spread(tmp_path / "runs.csv", "paper 1", "--store", store.path) == 0
    assert (tmp_path / "runs.csv").read_text().count("\n") == 1 + 3
    assert "runs.csv: 3 runs." in " ".join(capsys.readouterr().err.split())
    export(store, tmp_path / "folder")
    assert spread(tmp_path / "again.csv", "--from", tmp_path / "folder") == 0
    assert (tmp_path / "again.csv").read_text().count("\n") == 1 + 3
    assert spread("runs.xlsx", "--store", store.path) != 0
    assert "must end in .csv or .parquet; got runs.xlsx" in " ".join(capsys.readouterr().err.split())


def test_without_pyarrow_parquet_is_one_sentence(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(IncenterError, match="pip install pyarrow, or write CSV"):
        spreadsheet.write_parquet(store.rows(), tmp_path / "runs.parquet")
