"""A hook of MkDocs: pages of the site that are no pages in the repository.

A link from a page to a file outside `docs/`, in the repository a plain relative path, leads on the site to a page that
shows the file. A Python file is shown one definition after another, each with an anchor, so that
`../tests/test_x.py#test_y` leads to that test. And the cone explorer with its presets is written beside the pages.
"""

import ast
import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from incenter.study.explorer.page import saved_page

_LINK = re.compile(r"\]\(((?:\.\./)+[^)\s#]+)(#[^)\s]*)?\)")
_FOLDER = "source"
EXPLORER = "cone_explorer.html"  # explorer.html is what explorer.md becomes


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for every file outside that some page links to, and the explorer."""
    files.append(File.generated(config, EXPLORER, content=saved_page({})))
    for target in sorted(
        {target for page in files.documentation_pages() for target in _targets(page.src_uri, page.content_string)}
    ):
        path = _root(config) / target
        if path.is_file():
            files.append(File.generated(config, f"{_FOLDER}/{target}.md", content=shown(path, target)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Turn links that leave `docs/` to those pages."""
    here = PurePosixPath(page.file.src_uri).parent

    def turned(match: re.Match[str]) -> str:
        target = _outside(page.file.src_uri, match[1])
        if target is None or not (_root(config) / target).is_file():
            return match[0]
        return f"]({os.path.relpath(f'{_FOLDER}/{target}.md', here)}{match[2] or ''})"

    return markdown if here.parts[:1] == (_FOLDER,) else _LINK.sub(turned, markdown)


def shown(path: Path, name: str) -> str:
    """The page of one file: Markdown as it is, Python by definitions, anything else whole."""
    text = path.read_text()
    head = "---\nsearch:\n  exclude: true\n---\n"
    if path.suffix == ".md":
        return head + re.sub(r"\]\((?!https?:)[^)]*\)", "]", text)
    if path.suffix != ".py":
        return f"{head}# {name}\n\n{_block(text, '')}"
    parts = [f"{head}# {name}\n"]
    for title, piece in pieces(text):
        parts += [f"## {title} {{#{title}}}\n" if title else "", _block(piece, "python")]
    return "\n".join(parts)


def pieces(text: str) -> list[tuple[str, str]]:
    """The text cut where a function or class begins at the top level, each piece with its name."""
    lines = text.splitlines()
    starts, names = [0], [""]
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            starts.append(min([node.lineno, *(each.lineno for each in node.decorator_list)]) - 1)
            names.append(node.name)
    ends = [*starts[1:], len(lines)]
    cut = ["\n".join(lines[start:end]).strip("\n") for start, end in zip(starts, ends, strict=True)]
    return [(name, piece) for name, piece in zip(names, cut, strict=True) if piece]


def _block(text: str, language: str) -> str:
    fence = "`" * 5
    return f"{fence}{language}\n{text}\n{fence}\n"


def _targets(page: str, text: str) -> list[str]:
    found = [_outside(page, link) for link, _ in _LINK.findall(text)]
    return [target for target in found if target is not None]


def _outside(page: str, link: str) -> str | None:
    """The link's path from the repository's root, where it leads out of `docs/`."""
    target = os.path.normpath(PurePosixPath("docs", page).parent / link)
    inside = target == "docs" or target.startswith(("docs/", ".."))
    return None if inside else target


def _root(config: MkDocsConfig) -> Path:
    return Path(config.docs_dir).parent
