"""Running the command inside the test."""

from incenter.cli import main


def run(*arguments: str) -> int:
    """The exit code of `incenter ARGUMENTS`."""
    try:
        main(arguments)
    except SystemExit as stopped:
        return int(stopped.code or 0)
    return 0
