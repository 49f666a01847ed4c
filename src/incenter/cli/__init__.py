"""The `incenter` command. Each command's module is imported when it is called, so that `--help` is quick."""

import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError

from incenter.cli.leaving import INTERRUPTED, SENTENCE, leaving_at_once
from incenter.geometry.errors import IncenterError

BAD_INPUT = 2

app = App(
    name="incenter",
    help="The update direction deepest inside the cone of common descent, for training with several losses.",
    version_flags=["--version"],
    suppress_keyboard_interrupt=False,  # `main` says it in a sentence
)
app.command("incenter.cli.compare:compare", help="Compare the updates of all rules on the same gradients.")
app.command("incenter.cli.explore:explore", help="Drag three gradients; the cone, the ball and every rule follow.")
app.command("incenter.cli.methods:methods", help="List the rules: what each needs, and what it does in one line.")
app.command("incenter.cli.picture:picture", help="Draw the paper's cone, ball and directions in three dimensions.")
app.command("incenter.cli.plot:plot", help="Draw how a training run went and what it learnt.")
app.command("incenter.cli.problems:problems", help="List the problems: their equations, losses, points and options.")
app.command("incenter.cli.study:app", name="study", help="Run a plan of trainings, and make tables, figures, a report.")
app.command("incenter.cli.train:train", help="Train a physics-informed network.")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; whatever the user can mend ends in one sentence and exit code 2."""
    try:
        with leaving_at_once():
            app(arguments, exit_on_error=False)
    except CycloptsError:  # printed already
        sys.exit(BAD_INPUT)
    except IncenterError as error:
        print(f"incenter: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        print(SENTENCE, file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        sys.stderr.close()
