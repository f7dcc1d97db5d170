"""The catalog's table: the built-in model and a few larger ones, each the best of its size that we know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ("ENTRIES", "Entry", "Machine", "recommend")

GB: Final = 10**9
# On a CPU the weights are used in float32, unless they would take more than this share of the memory.
CPU_SHARE: Final = 0.7


@dataclass(frozen=True, slots=True)
class Machine:
    """What a model is to run on.

    Attributes:
        memory_bytes: in all; 0 when unknown.
        on_cpu: no GPU does the work.
    """

    memory_bytes: int = 0
    on_cpu: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """A model that the catalog knows. Sizes are approximate.

    Attributes:
        name: what it is asked for by; for models of the hub their id.
        download_bytes: of what is fetched.
        n_parameters: of the model.
        memory_bytes: a machine with a GPU should have so much in all, the user's other programs included.
        context_limit: tokens.
        licence: an SPDX identifier.
        description: one line for a list.
        builtin: made from the package index's wheel; else fetched from the hub.
        adapted: the edit adapter is merged in.
    """

    name: str
    download_bytes: int
    n_parameters: int
    memory_bytes: int
    context_limit: int
    licence: str
    description: str
    builtin: bool = False
    adapted: bool = False

    def needed_bytes(self, machine: Machine) -> int:
        """Return how much memory a machine of this kind should have in all to run the model well."""
        if not machine.on_cpu:
            return self.memory_bytes
        return max(2 * GB, int(4 * self.n_parameters / CPU_SHARE))

    def fits(self, machine: Machine) -> bool:
        """Whether a machine has that much; when its memory is not known, only the built-in model is sure to."""
        return self.needed_bytes(machine) <= machine.memory_bytes


ENTRIES: Final[dict[str, Entry]] = {
    entry.name: entry
    for entry in (
        Entry(
            name="builtin",
            download_bytes=93_000_000,
            n_parameters=135_000_000,
            memory_bytes=2 * GB,
            context_limit=8192,
            licence="Apache-2.0",
            description="SmolLM2-135M taught to edit: renames and small changes, runs anywhere",
            builtin=True,
            adapted=True,
        ),
        Entry(
            name="builtin-base",
            download_bytes=93_000_000,
            n_parameters=135_000_000,
            memory_bytes=2 * GB,
            context_limit=8192,
            licence="Apache-2.0",
            description="the same weights without the edit adapter; for comparison, cannot edit",
            builtin=True,
        ),
        Entry(
            name="mlx-community/Qwen2.5-Coder-3B-Instruct-4bit",
            download_bytes=int(1.8 * GB),
            n_parameters=int(3.1 * GB),
            memory_bytes=8 * GB,
            context_limit=32_768,
            licence="LicenseRef-Qwen-Research",
            description="code; not for commercial use",
        ),
        Entry(
            name="mlx-community/Qwen3-4B-Instruct-2507-4bit",
            download_bytes=int(2.3 * GB),
            n_parameters=int(4.0 * GB),
            memory_bytes=8 * GB,
            context_limit=262_144,
            licence="Apache-2.0",
            description="text and code",
        ),
        Entry(
            name="mlx-community/Qwen2.5-Coder-7B-Instruct-4bit",
            download_bytes=int(4.3 * GB),
            n_parameters=int(7.6 * GB),
            memory_bytes=16 * GB,
            context_limit=32_768,
            licence="Apache-2.0",
            description="code",
        ),
        Entry(
            name="mlx-community/Qwen3-Coder-30B-A3B-Instruct-4bit",
            download_bytes=int(17.2 * GB),
            n_parameters=int(30.5 * GB),
            memory_bytes=32 * GB,
            context_limit=262_144,
            licence="Apache-2.0",
            description="code; fast, since 3 of its 30 billion weights work at a time",
        ),
        Entry(
            name="mlx-community/Qwen3-Coder-Next-4bit",
            download_bytes=int(44.9 * GB),
            n_parameters=int(79.7 * GB),
            memory_bytes=64 * GB,
            context_limit=262_144,
            licence="Apache-2.0",
            description="code",
        ),
    )
}


def recommend(machine: Machine) -> str:
    """Return the name of the largest model that a machine runs well."""
    fitting = [entry for entry in ENTRIES.values() if entry.fits(machine)]
    return max(fitting, key=lambda entry: entry.download_bytes, default=ENTRIES["builtin"]).name
