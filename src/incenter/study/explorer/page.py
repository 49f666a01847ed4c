"""The page as one document: markup, style, script and what it starts with, so that it can also be saved and sent."""

import json
import re
from collections.abc import Mapping
from importlib import resources
from importlib.metadata import version
from typing import Any

from incenter.study.examples import Gradients
from incenter.study.explorer.answering import NORMS, answer
from incenter.study.explorer.presets import PRESETS

#: in the order in which they need each other
_SCRIPTS = (
    "camera", "shapes", "labels", "wording", "picture", "numbers", "lengths", "choice", "asking", "moving", "main",
)  # fmt: skip
_IMPORT = re.compile(r"^import .*$\n?", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def live_page(held: Mapping[str, Gradients]) -> str:
    """The page that asks the server for its answers."""
    return _document(_start(held) | {"live": True, "answers": {}})


def saved_page(held: Mapping[str, Gradients]) -> str:
    """The page with the answers to all presets and norms in it: it needs no server and no network."""
    questions: dict[str, dict[str, Any]] = {preset.name: {"gradients": preset.gradients} for preset in PRESETS}
    questions |= {name: {"held": name} for name in held}
    answers = {f"{name}/{p}": answer(question | {"p": p}, held) for name, question in questions.items() for p in NORMS}
    return _document(_start(held) | {"live": False, "answers": answers})


def described(name: str, source: Gradients) -> dict[str, Any]:
    """What the page knows of gradients that the server holds."""
    m, n = source.gradients.shape
    return {"name": name, "title": source.title, "step": source.step, "names": list(source.names), "m": m, "n": n}


def _start(held: Mapping[str, Gradients]) -> dict[str, Any]:
    return {
        "version": version("incenter"),
        "norms": NORMS,
        "presets": [vars(preset) for preset in PRESETS],
        "held": [described(name, source) for name, source in held.items()],
    }


def _document(start: Mapping[str, Any]) -> str:
    # `<` would let a name that holds a tag end the script it stands in.
    data = json.dumps(start, allow_nan=False).replace("<", "\\u003c")
    script = "\n".join(_EXPORT.sub("", _IMPORT.sub("", _text(f"{name}.js"))) for name in _SCRIPTS)
    parts = {"STYLE": _text("page.css"), "START": data, "SCRIPT": script}
    return re.sub(r"\{\{(STYLE|START|SCRIPT)\}\}", lambda found: parts[found[1]], _text("page.html"))


def _text(name: str) -> str:
    return resources.files(__package__).joinpath("static", name).read_text(encoding="utf-8")
