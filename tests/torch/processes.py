"""Functions run by several gloo processes on this machine."""

import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.multiprocessing.spawn import spawn


def run_on(count: int, function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """`function(*arguments)` in `count` processes, which are one group; what each gave, by rank."""
    with tempfile.TemporaryDirectory() as folder:
        spawn(_in_process, (count, folder, function, arguments), nprocs=count)  # type: ignore[no-untyped-call]
        return [torch.load(Path(folder) / f"{rank}.pt", weights_only=False) for rank in range(count)]


def _in_process(rank: int, count: int, folder: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=count)
    try:
        torch.save(function(*arguments), f"{folder}/{rank}.pt")
        dist.barrier()  # who leaves first closes connections that the others may still be reading from
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        dist.destroy_process_group()
