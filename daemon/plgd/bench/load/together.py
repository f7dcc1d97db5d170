"""Tasks side by side, of which the first failure is raised as it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

import anyio

__all__ = ("run_together",)


async def run_together(tasks: Iterable[Callable[[], Awaitable[None]]]) -> None:
    """Run tasks until all have ended, or one fails: then the others are cancelled.

    Raises:
        Exception: the first failure, without the group that a task group puts around it.
    """
    failures: list[Exception] = []

    async def run(task: Callable[[], Awaitable[None]]) -> None:
        try:
            await task()
        except Exception as error:  # noqa: BLE001  # it is raised again below
            failures.append(error)
            group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for task in tasks:
            group.start_soon(run, task)
    if failures:
        raise failures[0]
