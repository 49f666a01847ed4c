"""A run between its calls of the compiled loop: what is due when, what is recorded and saved, and when it ends.

Calls are cut at records, checkpoints and saved gradients, and otherwise so that each takes about `CALL_SECONDS`.
"""

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from incenter.geometry.errors import IncenterError
from incenter.pinn import saving
from incenter.pinn.checkpoints import Checkpoint
from incenter.pinn.configuration import Configuration
from incenter.pinn.finish import FixedPoints, finish_state, finisher
from incenter.pinn.folder import Folder
from incenter.pinn.folder_lock import alone_in
from incenter.pinn.history import History, record_of
from incenter.pinn.interrupts import Interrupts
from incenter.pinn.loop import Carry, State, Stop, begin, compiled, first_state, make_loop
from incenter.pinn.optimizers import optimizer_of
from incenter.pinn.result import Progress, Result, in_words
from incenter.pinn.rules import combiner, rule_of

CALL_SECONDS = 0.2  # between two looks at the clock, at Ctrl-C, and two calls of `progress`
_FASTER = 4  # a call is at most so many times longer than the one before: the first ones only find the speed


class Run:
    """One run of a resolved configuration."""

    def __init__(
        self,
        configuration: Configuration,
        objective: Any,
        out: Path | None,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        if configuration.save_gradients is not None and out is None:
            raise IncenterError("`save_gradients` needs `out`, the folder to write them to.")
        self.configuration, self.objective, self.out, self.progress = configuration, objective, out, progress
        self.rule = rule_of(configuration, objective.residual_rows)
        self.error_at = jax.jit(objective.relative_l2)
        self.history = History(tuple(objective.names))
        self.notes: list[str] = []
        self.folder = None if out is None else Folder(out, configuration)
        self.finishing = False
        self.carry: Carry
        self.compiled: Any = None  # the loop of the phase, once it has been called
        self.before = 0.0  # seconds of earlier sessions
        self.stepping = 0.0  # seconds inside the loop, and the steps made in them
        self.timed = 0
        self.began = time.perf_counter()
        self.call = 1  # steps of the next call
        self._enter(self._start_state())

    def complete(self, interrupts: Interrupts, *, resume: bool) -> Result:
        """Go on to the end, from the beginning or from what was saved."""
        if self.folder is None:
            return self._result(self._steps(interrupts))
        with alone_in(self.folder.path):
            if (found := self.folder.open(resume=resume)) is not None:
                self.notes = self.folder.notes_on(found)
                self._restore(found)
            return self._result(self._steps(interrupts))

    @property
    def seconds(self) -> float:
        return self.before + time.perf_counter() - self.began

    @property
    def step(self) -> int:
        return int(self.carry.state.step)

    # ---- stepping

    def _steps(self, interrupts: Interrupts) -> str:
        """Calls of the loop until there is a reason to stop, which is returned."""
        while (reason := self._ended()) is None:
            if interrupts.asked or self._out_of_time():
                self._save()
                return "interrupted" if interrupts.asked else "seconds"
            if self.finishing is False and self.step == self.configuration.steps:
                self._enter_finish()
            self._advance()
            self._do_what_is_due()
        return reason

    def _advance(self) -> None:
        """One call of the compiled loop."""
        if self.compiled is None:
            self.compiled = compiled(self.loop, self.carry)
        bound, before, start = self._next_cut(), self.step, time.perf_counter()
        self.carry = self.compiled(self.carry, np.int32(bound))
        made = max(1, abs(self.step - before))
        elapsed = time.perf_counter() - start
        self.stepping, self.timed = self.stepping + elapsed, self.timed + made
        fitting = int(CALL_SECONDS * made / max(elapsed, 1e-9))
        self.call = max(1, min(fitting, _FASTER * self.call))

    def _next_cut(self) -> int:
        configuration = self.configuration
        end = configuration.total_steps if self.finishing else configuration.steps
        every = (configuration.record_every, configuration.checkpoint_every, configuration.save_gradients)
        dues = [(self.step // each + 1) * each for each in every if each is not None]
        return min(end or 0, self.step + self.call, *dues)

    def _do_what_is_due(self) -> None:
        """Also at the end: whoever is killed after the last checkpoint has nothing left to do."""
        configuration, ended = self.configuration, self._ended() is not None
        if self._is_due(configuration.record_every) or ended:
            self._record()
        if self._is_due(configuration.save_gradients):
            self._save_gradients()
        if self._is_due(configuration.checkpoint_every) or ended or self._ended() is not None:
            self._save()
        if self.progress is not None:
            self.progress(self._now())

    def _is_due(self, every: int | None) -> bool:
        return every is not None and self.step % every == 0

    def _ended(self) -> str | None:
        """The reason to stop, if there is one in the state itself."""
        stop = Stop(int(self.carry.state.stop))
        if stop is not Stop.NOT:
            return stop.name.lower()
        error, wanted = self.history.last("error"), self.configuration.stop_error
        if wanted is not None and error is not None and error <= wanted:
            return "error"
        return "steps" if self.step >= self.configuration.total_steps else None

    def _out_of_time(self) -> bool:
        budget = self.configuration.stop_seconds
        return budget is not None and self.seconds >= budget

    # ---- the two phases

    def _start_state(self) -> State:
        objective, configuration = self.objective, self.configuration
        self.optimizer = optimizer_of(configuration, objective, plain=self.rule.own_optimizer)
        theta = objective.start(configuration.seed)
        if not np.isfinite(np.asarray(theta)).all():
            raise IncenterError(
                "The parameters are not finite before the first step; mend the network's initial values."
            )
        return first_state(objective, theta, self.optimizer.init(theta), configuration.seed)

    def _enter(self, state: State) -> None:
        """The phase in which the rule and the optimiser are those of the configuration."""
        combine = combiner(self.rule, self.objective.traces)

        def change(update: Any, optimizer_state: Any, theta: Any, _loss: Any, _batch: Any) -> Any:
            return self.optimizer.update(update, optimizer_state, theta)

        self._compile(self.objective, combine, change, state, rollback=self.configuration.nonfinite == "rollback")

    def _enter_finish(self) -> None:
        """The phase of `finish`: the sum of the losses at points that stay."""
        transformation, combine, change = finisher(self.configuration, self.objective)
        state = finish_state(self.objective, transformation, self.carry.state)
        self.finishing = True
        self._compile(FixedPoints(self.objective), combine, change, state, rollback=False)

    def _compile(self, objective: Any, combine: Any, change: Any, state: State, *, rollback: bool) -> None:
        self.carry = begin(objective, combine, state, rollback=rollback)
        advance = make_loop(objective, combine, change, stop_radius=self.configuration.stop_radius, rollback=rollback)
        self.loop = jax.jit(advance, donate_argnums=0)
        self.compiled = None
        self.call = 1

    # ---- what is kept

    def _record(self) -> None:
        """One more entry of the history; the counts begin anew."""
        tally, seen = saving.on_host((self.carry.state.tally, self.carry.seen))
        record = record_of(seen, tally, getattr(self.rule, "p", 2.0))
        if (error := self._error()) is not None:
            record["error"] = error
        unknowns = {f"unknown/{name}": value for name, value in self._unknowns().items()}
        self.history.add({"step": self.step, "seconds": self.seconds} | record | unknowns)
        nothing = jax.tree.map(jnp.zeros_like, self.carry.state.tally)
        self.carry = self.carry._replace(state=self.carry.state._replace(tally=nothing))

    def _error(self) -> float | None:
        error = float(self.error_at(self.carry.state.moving.theta))
        return None if math.isnan(error) else error

    def _unknowns(self) -> dict[str, float]:
        return {name: float(value) for name, value in self.objective.unknowns(self.carry.state.moving.theta).items()}

    def _now(self) -> Progress:
        losses, radius = saving.on_host((self.carry.seen.losses, self.carry.seen.radius))
        return Progress(
            step=self.step,
            steps=self.configuration.total_steps,
            names=tuple(self.objective.names),
            losses=tuple(float(loss) for loss in losses),
            radius=float(radius),
            error=self.history.last("error"),
            seconds=self.seconds,
        )

    def _save(self) -> None:
        if self.folder is None:
            return
        manifest = {
            "names": list(self.objective.names),
            "finishing": self.finishing,
            "seconds": self.seconds,
            "stepping": self.stepping,
            "timed": self.timed,
        }
        self.folder.save(self.step, saving.to_arrays(self.carry.state, self.history), manifest)

    def _restore(self, checkpoint: Checkpoint) -> None:
        manifest = checkpoint.manifest
        if manifest["finishing"]:
            self._enter_finish()
        state = saving.to_state(self.carry.state, checkpoint.arrays)
        threshold = manifest["configuration"]["stop_radius"]
        if threshold != self.configuration.stop_radius and int(state.stop) == Stop.RADIUS:
            state = state._replace(stop=jnp.zeros_like(state.stop))
        self.carry = self.carry._replace(state=state)
        self.history = saving.to_history(tuple(self.objective.names), checkpoint.arrays)
        self.before, self.stepping, self.timed = (manifest[name] for name in ("seconds", "stepping", "timed"))

    def _save_gradients(self) -> None:
        assert self.folder is not None
        losses, G = saving.on_host((self.carry.seen.losses, self.carry.seen.gradients))
        self.folder.save_gradients(self.step, tuple(self.objective.names), losses, G)

    # ---- the end

    def _radius(self) -> float | None:
        radius = self.history.last("radius") if self.compiled is None else self.carry.seen.radius
        return None if radius is None else float(radius)

    def _result(self, stopped: str) -> Result:
        theta = self.carry.state.moving.theta
        host_theta = saving.on_host(theta)
        precision = self.configuration.precision

        def predict(points: Any) -> Any:
            with jax.enable_x64(precision == 64):
                return np.asarray(self.objective.predict(jnp.asarray(host_theta), jnp.asarray(points)))

        result = Result(
            configuration=self.configuration,
            theta=host_theta,
            steps=self.step,
            relative_l2=self._error(),
            radius=self._radius(),
            unknowns=self._unknowns(),
            history=self.history,
            seconds=self.seconds,
            ms_per_step=1e3 * self.stepping / self.timed if self.timed else None,
            stopped=stopped,
            sentence=in_words(stopped, self.step, self.configuration, self.out),
            notes=tuple(self.notes),
            predict=predict,
        )
        if self.folder is not None:
            self.folder.save_end(self.history, result.summary())
        return result
