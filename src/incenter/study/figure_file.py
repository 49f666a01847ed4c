"""A figure as a file: .png, .svg or .pdf, whole or not at all, and the same bytes for the same figure."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incenter.geometry.errors import IncenterError
from incenter.whole_file import written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save(figure: "Figure", path: Path) -> None:
    """Write `figure`; a reader never sees half a picture."""
    kind = path.suffix.lstrip(".").lower()
    if kind not in ("png", "svg", "pdf"):
        raise IncenterError(f"A picture's name must end in .png, .svg or .pdf; got {path}.")
    with written_whole(path, "make room there, or give another place") as aside:
        aside.write_bytes(picture(figure, kind))


def picture(figure: "Figure", kind: str, dpi: int = 240) -> bytes:
    """What a file of this kind holds: the same bytes for the same figure."""
    from matplotlib import rc_context

    metadata: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    content = io.BytesIO()
    # Without a salt of its own an .svg is another file each time; journals refuse a .pdf's Type 3 fonts.
    with rc_context({"svg.fonttype": "path", "svg.hashsalt": "incenter", "pdf.fonttype": 42}):
        figure.savefig(content, format=kind, dpi=dpi, metadata=metadata)
    return content.getvalue()
