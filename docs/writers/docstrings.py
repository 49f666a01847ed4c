"""An extension of griffe: docstrings as this house writes them, read as the reference wants them.

The remark beside a field of a class, `radius: Scalar  # r*`, is what the reference says of the field; nothing has to be
written twice. And a session with `>>>` needs no heading to be known as an example.
"""

import io
import re
import tokenize
from typing import Any

from griffe import Attribute, Docstring, Extension, Object

_SESSION = re.compile(r"(?<=\n\n)(?=>>> )")


class HouseStyle(Extension):
    """Remarks become docstrings of fields, sessions become examples."""

    def on_attribute_instance(self, *, attr: Attribute, **_: Any) -> None:
        in_class = attr.parent is not None and attr.parent.is_class
        if in_class and attr.docstring is None and attr.lineno is not None and attr.endlineno is not None:
            lines = attr.lines_collection[attr.filepath][attr.lineno - 1 : attr.endlineno]  # type: ignore[index]
            remark = _remark("\n".join(lines).strip())
            attr.docstring = Docstring(remark, parent=attr, lineno=attr.lineno) if remark else None

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = _SESSION.sub("Examples\n--------\n", obj.docstring.value, count=1)


def _remark(source: str) -> str:
    """The comments of a field; nothing for a property, or where they speak to a tool."""
    if source.startswith(("@", "def ")):
        return ""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    remarks = [token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT]
    return " ".join(remark for remark in remarks if not remark.startswith(("type:", "noqa", "fmt:")))
