"""A file is there whole or not at all, and what the disk refuses is one sentence."""

from pathlib import Path

import pytest

from incenter import IncenterError
from incenter.whole_file import written_whole


def test_it_takes_the_place_of_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "new" / "page.html"
    for text in ("first", "second"):
        with written_whole(path, "") as aside:
            aside.write_text(text)
            assert text == "first" or path.read_text() == "first"
        assert path.read_text() == text
    assert list(path.parent.iterdir()) == [path]


def test_what_breaks_off_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("whole")

    def half() -> None:
        with written_whole(path, "") as aside:
            aside.write_text("hal")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half()
    assert path.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [path]


def test_what_the_disk_refuses_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "file" / "page.html", tmp_path / "folder"):
        with pytest.raises(IncenterError) as refused, written_whole(path, "give another") as aside:
            aside.write_text("page")
        assert str(refused.value).startswith(f"{path} cannot be written (")
        assert str(refused.value).endswith("): give another.")
        assert "\n" not in str(refused.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
