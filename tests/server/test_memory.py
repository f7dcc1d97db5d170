"""The memory of this process, as the system counts it."""

from __future__ import annotations

import ctypes
import sys

import pytest

from plgd.memory import give_back, resident_bytes

N_BLOCKS = 1500
BLOCK_BYTES = 60_000


def _memory_of_c() -> ctypes.CDLL:
    c = ctypes.CDLL(None)
    c.malloc.restype, c.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    c.free.restype, c.free.argtypes = None, [ctypes.c_void_p]
    return c


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the C library has nothing to be asked for")
def test_free_blocks_between_those_in_use_go_back() -> None:
    """What was freed between blocks that are in use stays with the process until it is given back."""
    c = _memory_of_c()
    if not hasattr(c, "malloc_trim"):
        pytest.skip("not glibc")
    give_back()  # whatever the tests before have freed
    before = resident_bytes()
    blocks = [c.malloc(BLOCK_BYTES) for _ in range(N_BLOCKS)]
    for block in blocks:
        ctypes.memset(block, 1, BLOCK_BYTES)
    in_use = blocks[::50]
    for block in set(blocks) - set(in_use):
        c.free(block)
    kept = resident_bytes()
    assert kept - before > N_BLOCKS * BLOCK_BYTES // 2, "the blocks went back by themselves"

    assert give_back()

    assert kept - resident_bytes() > N_BLOCKS * BLOCK_BYTES // 2
    for block in in_use:
        c.free(block)
