"""PyTorch: two changed lines in a training loop.

record = backward({"pde": pde, "wall": wall}, model.parameters())      # was (pde + wall).backward()
optimizer.step()
"""

import importlib.util

from incenter.geometry.errors import IncenterError

if importlib.util.find_spec("torch") is None:
    raise IncenterError("incenter.torch needs PyTorch, which is not installed: pip install 'incenter[torch]'")

from incenter.torch.module import Backward, backward
from incenter.torch.record import Record

__all__ = ["Backward", "Record", "backward"]
