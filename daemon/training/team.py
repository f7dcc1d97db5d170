"""The trainers of one run: one process for each GPU, started by torchrun; or one alone."""

from __future__ import annotations

import os
from typing import Final

import torch
import torch.distributed as dist

__all__ = ("Team",)


class Team:
    """This process and those beside it.

    Attributes:
        number: this process's, from 0; the first one logs and writes.
        size: how many there are.
        device: where this one computes, `cuda:N` or `cpu`.
    """

    def __init__(self) -> None:
        self.number: Final = int(os.environ.get("RANK", "0"))
        self.size: Final = int(os.environ.get("WORLD_SIZE", "1"))
        local = int(os.environ.get("LOCAL_RANK", "0"))
        self.device: Final = f"cuda:{local}" if torch.cuda.is_available() else "cpu"
        if self.size > 1:
            if self.device != "cpu":
                torch.cuda.set_device(local)
            # Numbers of the host go by gloo, so that agreeing on them does not wait for the GPU.
            dist.init_process_group("cpu:gloo,cuda:nccl" if self.device != "cpu" else "gloo")

    @property
    def leads(self) -> bool:
        """Whether this is the first process."""
        return self.number == 0

    def agree(self, number: float) -> float:
        """Return the first process's number; all must ask at the same place."""
        if self.size == 1:
            return number
        shared = torch.tensor([number], dtype=torch.float64)
        dist.broadcast(shared, 0)
        return float(shared.item())

    def average(self, tensor: torch.Tensor) -> None:
        """Replace a tensor by the mean of all processes' tensors."""
        if self.size > 1:
            dist.all_reduce(tensor)
            tensor /= self.size

    def leave(self) -> None:
        """End the connection to the others."""
        if self.size > 1:
            dist.destroy_process_group()
