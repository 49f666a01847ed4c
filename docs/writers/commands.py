"""The page of the command line, from the same declarations that `--help` prints."""

import re

from incenter.cli import app


def commands() -> str:
    """Every command with its arguments, options and defaults."""
    text = app.generate_docs(output_format="markdown", include_hidden=False, heading_level=1)
    body = text[text.index("\n## incenter ") :]
    body = re.sub(r" -m docs\.writers(?= )", "", body)  # cyclopts names the running program, too
    return re.sub(r"^```console$", "```text", body, flags=re.MULTILINE).strip()
