"""`incenter explore`: drag three gradients and see cone, ball and every rule's direction move."""

import webbrowser
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from incenter.study import examples, gradients_file
from incenter.study.examples import Gradients
from incenter.whole_file import written_whole


def explore(
    gradients: Annotated[str | None, Parameter(name=["GRADIENTS"])] = None,
    /,
    *,
    port: int = 0,
    browser: bool = True,
    export: Path | None = None,
) -> None:
    """Open a page on which three gradients are dragged, and the cone, the ball and every rule's direction follow.

    Parameters
    ----------
    gradients
        An .npz file to look at, as for `compare`, or the name of an example: toy, worked, cone.
    port
        The port of 127.0.0.1 to serve the page on; a free one if not given.
    browser
        Open the page in the browser.
    export
        Write the page with the answers to its presets to this file instead; it needs no server and no network.
    """
    given = None if gradients is None else _read(gradients)
    if export is not None:
        _export(given, export)
    else:
        _serve(given, port, browser)


def _read(name: str) -> Gradients:
    return examples.by_name(name) if name in examples.EXAMPLES else gradients_file.read(Path(name))


def _export(given: Gradients | None, path: Path) -> None:
    from incenter.study.explorer.page import saved_page
    from incenter.study.explorer.server import GIVEN

    page = saved_page({} if given is None else {GIVEN: given})
    with written_whole(path, "give another file to --export") as aside:
        aside.write_text(page, encoding="utf-8")
    print(f"The cone explorer with its presets: {path}")


def _serve(given: Gradients | None, port: int, browser: bool) -> None:
    from incenter.study.explorer.server import Explorer

    with Explorer(given, port) as server:
        print(f"The cone explorer: {server.url}  (Ctrl-C ends it)", flush=True)
        if browser:
            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("\nThe cone explorer has ended.")
