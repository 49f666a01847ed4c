"""What a step tells about itself, in plain numbers."""

from dataclasses import dataclass, field

from incenter.geometry.status import Status


@dataclass(frozen=True)
class Record:
    """Ready for a log; `as_dict` is flat. Tuples have one entry per loss, in the order of the losses."""

    names: tuple[str, ...]
    radius: float  # least cosine between the update and a live gradient; 0 where there is no update
    weights: tuple[float, ...] | None  # on the raw gradients; None where the update is no such combination
    active: tuple[bool, ...]  # the losses whose cosine with the update is the least
    status: Status
    report: dict[str, float] = field(default_factory=dict)  # what else the rule says, such as its upper bound "r*"
    age: int = 0  # steps since the weights were computed; radius, active, status and report are as old
    passes: int = 0  # backward passes of this step

    def as_dict(self, prefix: str = "incenter/") -> dict[str, float]:
        """Numbers by name: radius, status, age, and for each loss its weight and whether it is active."""
        numbers: dict[str, float] = {"radius": self.radius, "status": int(self.status), "age": self.age}
        numbers |= self.report
        if self.weights is not None:
            numbers |= {f"weight/{name}": weight for name, weight in zip(self.names, self.weights, strict=True)}
        numbers |= {f"active/{name}": float(active) for name, active in zip(self.names, self.active, strict=True)}
        return {prefix + name: float(value) for name, value in numbers.items()}
