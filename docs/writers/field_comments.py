"""An extension of griffe: the remark beside a field of a class is what the reference says of it.

    radius: Scalar  # r*

is documented as "r*", so that nothing has to be written twice.
"""

import io
import tokenize
from typing import Any

from griffe import Attribute, Docstring, Extension


class FieldComments(Extension):
    """Attributes of classes without a docstring get the comment at the end of their line."""

    def on_attribute_instance(self, *, attr: Attribute, **_: Any) -> None:
        in_class = attr.parent is not None and attr.parent.is_class
        if in_class and attr.docstring is None and attr.lineno is not None and attr.endlineno is not None:
            lines = attr.lines_collection[attr.filepath][attr.lineno - 1 : attr.endlineno]  # type: ignore[index]
            remark = _comment("\n".join(lines).strip())
            attr.docstring = Docstring(remark, parent=attr, lineno=attr.lineno) if remark else None


def _comment(source: str) -> str:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return " ".join(token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT)
