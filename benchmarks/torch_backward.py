"""A step of several losses in PyTorch, forward and backward: the plain sum, TorchJD, conflictfree, and incenter.

python -m benchmarks.torch_backward [--losses 2,3,5,10] [--batch 64] [--json FILE] [--write docs/performance.md]
"""

import argparse
import json
import resource
from pathlib import Path
from typing import Any

import benchmarks.one_thread  # noqa: F401  before NumPy reads the environment

# isort: split
import torch
from conflictfree.grad_operator import ConFIGOperator
from conflictfree.utils import apply_gradient_vector, get_gradient_vector
from torchjd import aggregation, autojac

from benchmarks.timing import Call, duration, interleaved, machine, table, write_section
from benchmarks.torch_memory import peak_bytes
from incenter.methods import by_name
from incenter.torch import backward

WIDTH, DEPTH = 1000, 10
PACKAGES = ("torch", "torchjd", "conflictfree")
MOST_MEMORY = 12_000_000_000  # address space of this process: who needs more is told so
PLAIN = "plain sum"
LOW = "incenter chebyshev, low memory"
SAME_RULE = {
    "incenter upgrad": ("TorchJD UPGrad", "TorchJD UPGrad, frugal"),
    "incenter config": ("TorchJD ConFIG", "conflictfree ConFIG"),
}

Numbers = dict[int, dict[str, float]]


def main() -> None:
    parser = argparse.ArgumentParser(description="Time and memory of a step of several losses in PyTorch.")
    parser.add_argument("--losses", default="2,3,5,10")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=30.0, help="of timing per number of losses")
    parser.add_argument("--json", type=Path, help="where the numbers go")
    parser.add_argument("--write", type=Path, help="a page whose section `torch_backward` is replaced")
    options = parser.parse_args()
    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    times: Numbers = {}
    peaks: Numbers = {}
    remarks: list[str] = []
    for count in (int(size) for size in options.losses.split(",")):
        steps = Steps(count, options.batch)
        peaks[count] = steps.peaks(remarks)
        calls = {name: call for name, call in steps.contenders().items() if name in peaks[count]}
        times[count] = interleaved(calls, options.seconds, rounds=10)
    text = report(times, peaks, remarks, options.batch)
    print(text)
    if options.json:
        options.json.write_text(json.dumps({"seconds": times, "gradients": peaks, "remarks": remarks}, indent=2))
    if options.write:
        write_section(options.write, "torch_backward", text)


class Steps:
    """A network of 10 million parameters with `count` outputs, one loss for each, and who can take a step with it."""

    def __init__(self, count: int, batch: int) -> None:
        torch.manual_seed(0)
        layers: list[torch.nn.Module] = []
        for _ in range(DEPTH):
            layers += [torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU()]
        self.network = torch.nn.Sequential(*layers, torch.nn.Linear(WIDTH, count))
        self.params = list(self.network.parameters())
        self.count = count
        self.inputs, self.targets = torch.randn(batch, WIDTH), torch.randn(batch, count)

    @property
    def gradient_bytes(self) -> int:
        return sum(parameter.numel() * parameter.element_size() for parameter in self.params)

    def peaks(self, remarks: list[str]) -> dict[str, float]:
        """Peak memory of each step that fits into this process, in gradients; the others become remarks."""
        found = {}
        for name, call in self.contenders().items():
            try:
                call()
                self.clear()
                found[name] = peak_bytes(call) / self.gradient_bytes
            except (RuntimeError, MemoryError):
                remarks.append(f"{name}, {self.count} losses: needs more than {MOST_MEMORY / 1e9:.0f} GB, left out")
            self.clear()
        return found

    def contenders(self) -> dict[str, Call]:
        return {
            PLAIN: self.plain,
            "TorchJD UPGrad": lambda: self.torchjd(aggregation.UPGrad(), frugal=False),
            "TorchJD UPGrad, frugal": lambda: self.torchjd(aggregation.UPGrad(), frugal=True),
            "incenter upgrad": lambda: self.incenter("upgrad", "fast"),
            "TorchJD ConFIG": lambda: self.torchjd(aggregation.ConFIG(), frugal=False),
            "conflictfree ConFIG": self.conflictfree,
            "incenter config": lambda: self.incenter("config", "fast"),
            "incenter chebyshev": lambda: self.incenter("chebyshev", "fast"),
            LOW: lambda: self.incenter("chebyshev", "low"),
        }

    def clear(self) -> None:
        for parameter in self.params:
            parameter.grad = None

    def losses(self) -> list[torch.Tensor]:
        self.clear()
        squares = (self.network(self.inputs) - self.targets).square()
        return [squares[:, index].mean() for index in range(self.count)]

    def plain(self) -> None:
        torch.stack(self.losses()).sum().backward()  # type: ignore[no-untyped-call]

    def torchjd(self, aggregator: Any, *, frugal: bool) -> None:
        """As its documentation has it; frugal: one loss at a time, and no concatenated Jacobian."""
        autojac.backward(self.losses(), parallel_chunk_size=1 if frugal else None)
        autojac.jac_to_grad(self.params, aggregator, optimize_gramian_computation=frugal)

    def conflictfree(self) -> None:
        """As its documentation has it."""
        gradients = []
        for index, loss in enumerate(self.losses()):
            self.clear()
            loss.backward(retain_graph=index + 1 < self.count)  # type: ignore[no-untyped-call]
            gradients.append(get_gradient_vector(self.network))
        apply_gradient_vector(self.network, ConFIGOperator().calculate_gradient(gradients))

    def incenter(self, rule: str, memory: str) -> None:
        backward(self.losses(), self.params, by_name(rule), memory=memory)


def report(times: Numbers, peaks: Numbers, remarks: list[str], batch: int) -> str:
    """Both tables, what each is in multiples of the plain step, and what was wanted."""
    sizes = list(times)
    head = ["", *[f"{count} losses" for count in sizes]]
    names = list(dict.fromkeys(name for count in sizes for name in peaks[count]))

    def rows(cell: Any) -> list[list[str]]:
        return [[name, *[cell(count, name) if name in times[count] else "-" for count in sizes]] for name in names]

    timing = table(head, rows(lambda count, name: duration(times[count][name])))
    ratios = table(head, rows(lambda count, name: f"{times[count][name] / times[count][PLAIN]:.2f}"))
    memory = table(head, rows(lambda count, name: f"{peaks[count][name]:.2f}"))
    parts = [
        f"Ten layers of {WIDTH:,}, float32, {batch} points: 10.0 million parameters, 40 MB a gradient; "
        f"{machine(*PACKAGES)}. Frugal: one loss at a time, and no concatenated Jacobian.",
        f"Time of a step, forward and backward:\n\n{timing}",
        f"As a multiple of the plain step's time, which makes one backward pass:\n\n{ratios}",
        "Peak of what tensors take up during the step, from the allocator's events, in gradients (of 40 MB each), "
        f"parameters and data not counted:\n\n{memory}",
        "\n".join(f"- {remark}." for remark in remarks),
        "Wanted:\n\n" + "\n".join(f"- {line}" for line in wanted(times, peaks)),
    ]
    return "\n\n".join(part for part in parts if part)


def wanted(times: Numbers, peaks: Numbers) -> list[str]:
    """What this library sets out to reach, and whether it did."""
    lines = []
    for count, taken in times.items():
        for ours, rivals in SAME_RULE.items():
            for rival in (name for name in rivals if name in taken):
                ratio = taken[rival] / taken[ours]
                goal = f"{count} losses, {ours} no slower than {rival}"
                lines.append(f"{goal}: {_verdict(ratio >= 1)} (that takes {ratio:.2f} times as long)")
        low, most = peaks[count][LOW], peaks[count][PLAIN] + 1
        goal = f"{count} losses, low memory at most the plain peak plus one gradient"
        lines.append(f"{goal}: {_verdict(low <= most)} ({low:.2f} against {most:.2f})")
    return lines


def _verdict(met: bool) -> str:
    return "met" if met else "MISSED"


if __name__ == "__main__":
    main()
