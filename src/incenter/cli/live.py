"""What two displays of work in progress share: drawn on a terminal while they are entered, plain lines elsewhere."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.live import Live

_REFRESHES = 4  # of the drawing, per second


class LiveDisplay(ABC):
    """Entered and left around the work; `live` is None where plain lines are printed instead of a drawing."""

    def __init__(self, console: Console, drawn: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self.console, self.clock = console, clock
        self.printed = -float("inf")  # when the last plain line was
        live = Live(get_renderable=self.render, console=console, refresh_per_second=_REFRESHES, transient=True)
        self.live = live if drawn else None

    @abstractmethod
    def render(self) -> Any:
        """What is drawn."""

    def __enter__(self) -> Self:
        if self.live is not None:
            self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live is not None:
            self.live.stop()
