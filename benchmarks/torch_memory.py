"""Peak memory of a PyTorch call, from the allocator's own events: exact, repeatable, and free of what ran before."""

import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks.timing import Call


def peak_bytes(call: Call) -> int:
    """Largest number of bytes that tensors took up at once during the call, beyond those that were there before.

    Every allocation of PyTorch on the CPU counts, also those inside its operators; other libraries' do not.
    """
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        call()
    results = profiler.profiler
    assert results is not None
    events = [event for event in results.kineto_results.events() if event.name() == "[memory]"]
    taken = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        taken += event.nbytes()
        peak = max(peak, taken)
    return peak


def main() -> None:
    """What is known: 3 arrays of 1 MB at once, then 1."""

    def known() -> torch.Tensor:
        first = torch.ones(250_000)
        return first + 2 * first

    print(peak_bytes(known) / 1e6, "MB, expected 3")


if __name__ == "__main__":
    main()
