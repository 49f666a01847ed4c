"""`incenter compare`: what every rule would do with the same gradients."""

import json
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from incenter.study import examples, gradients_file
from incenter.study.comparison import compare as compare_all
from incenter.study.plain import as_plain


def compare(
    gradients: Annotated[str, Parameter(name=["GRADIENTS"])],
    /,
    *,
    p: float = 2.0,
    as_json: Annotated[bool, Parameter(name="--json", negative=())] = False,
) -> None:
    """Compare the updates of all rules on the same gradients.

    Parameters
    ----------
    gradients
        An .npz file holding `gradients` (m, n), one row per loss, and optionally `names` (m,), `losses` (m,) and
        `step`; or the name of an example: toy, worked, cone.
    p
        The norm in which the Chebyshev center measures gradients, from 1 to inf.
    as_json
        Print one JSON object instead of tables.
    """
    source = examples.by_name(gradients) if gradients in examples.EXAMPLES else gradients_file.read(Path(gradients))
    comparison = compare_all(source, p)
    if as_json:
        print(json.dumps(as_plain(comparison), allow_nan=False))
    else:
        from rich.console import Console

        from incenter.cli.compare_view import show

        show(Console(), comparison)
