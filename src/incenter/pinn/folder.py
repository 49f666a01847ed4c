"""The folder of a run: its configuration, its checkpoints, gradients when asked for, its history and its result.

config.json   checkpoints/   gradients/step-000001000.npz   history.npz   result.json   lock
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from incenter.geometry.arrays import Matrix, Weights
from incenter.geometry.errors import IncenterError
from incenter.pinn import checkpoints, saving
from incenter.pinn.configuration import LATER, Configuration
from incenter.pinn.history import History
from incenter.pinn.sources import changed, sources
from incenter.whole_file import written_whole

CONFIGURATION_FILE = "config.json"
RESULT_FILE = "result.json"
CHECKPOINTS = "checkpoints"
GRADIENTS = "gradients"


class Folder:
    """Where the run of a resolved configuration is saved."""

    def __init__(self, path: Path, configuration: Configuration) -> None:
        self.path, self.configuration = path, configuration
        self.sources = sources(configuration)

    def open(self, *, resume: bool) -> checkpoints.Checkpoint | None:
        """Make the folder ready; the state to go on from, where there is one."""
        saved = checkpoints.exists(self.path / CHECKPOINTS)
        if saved and not resume:
            raise IncenterError(
                f"{self.path} holds a run already: continue it with resume=True, or give another folder."
            )
        found = checkpoints.newest(self.path / CHECKPOINTS) if saved else None
        wanted = self.configuration.as_dict()
        if found is not None:
            free = self.configuration.free_on_resume()
            saved = found.manifest["configuration"]
            checkpoints.require_same(LATER | saved, LATER | wanted, self.path, free=free)
        self._write(CONFIGURATION_FILE, wanted)
        return found

    def notes_on(self, checkpoint: checkpoints.Checkpoint) -> list[str]:
        """What there is to know before a run goes on, a sentence each."""
        manifest = checkpoint.manifest
        notes = [checkpoint.note, saving.other_versions(manifest["versions"]), *changed(manifest["sources"])]
        return [note for note in notes if note]

    def save(self, step: int, arrays: Mapping[str, Any], manifest: Mapping[str, Any]) -> None:
        """A checkpoint; `manifest` is what the run adds to what is known here."""
        known = {
            "configuration": self.configuration.as_dict(),
            "fingerprint": self.configuration.fingerprint(),
            "versions": saving.versions(),
            "sources": self.sources,
        }
        checkpoints.write(self.path / CHECKPOINTS, step, arrays, known | dict(manifest))

    def save_gradients(self, step: int, names: tuple[str, ...], losses: Weights, G: Matrix) -> None:
        """A file for `incenter compare`."""
        path = self.path / GRADIENTS / f"step-{step:09d}.npz"
        with written_whole(path, "make room there") as aside, aside.open("wb") as file:
            np.savez(file, gradients=G, names=np.asarray(names), losses=losses, step=np.asarray(step))

    def save_end(self, history: History, summary: Mapping[str, Any]) -> None:
        """What a run ends with."""
        history.save(self.path)
        self._write(RESULT_FILE, summary)

    def _write(self, name: str, values: Mapping[str, Any]) -> None:
        with written_whole(self.path / name, "make room there, or give another folder") as aside:
            aside.write_text(json.dumps(values, indent=2, allow_nan=False) + "\n", encoding="utf-8")
