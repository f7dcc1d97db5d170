"""Completions on the daemon's model, in their turn with the edits."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from typing import Final

from anyio import to_thread

from plgd.completions.job import completion_steps
from plgd.completions.request import Completion, CompletionResult
from plgd.config import Config
from plgd.documents.warm import WarmStore
from plgd.edits.sampling import settle_sampling
from plgd.errors import Cancelled
from plgd.protocol.edits import Priority
from plgd.protocol.models import ModelInfo
from plgd.server.completion_feed import CompletionFeed
from plgd.server.job import Job
from plgd.server.job_runner import JobRunner
from plgd.server.jobs import JobEvent, JobResult
from plgd.server.lifecycle import Lifecycle
from plgd.server.model_handlers import ModelHandlers

__all__ = ("DaemonCompleter",)

_LOG: Final = logging.getLogger(__name__)


class DaemonCompleter:
    """Implements `plgd.http.completer.Completer`.

    Args:
        config: the user's settings.
        runner: hands jobs to the worker.
        models: finds models.
        lifecycle: counts the requests.
        store: keeps what the model has read; the worker's.
    """

    def __init__(
        self, config: Config, runner: JobRunner, models: ModelHandlers, lifecycle: Lifecycle, store: WarmStore
    ) -> None:
        self._config = config
        self._runner = runner
        self._models = models
        self._lifecycle = lifecycle
        self._store = store

    async def complete(
        self, completion: Completion, model: str | None, on_text: Callable[[str], None]
    ) -> CompletionResult:
        """Write the next turn of a conversation; see the interface."""
        with self._lifecycle.request():
            name = await self._models.find(model)
            session = secrets.token_hex(8)
            feed = CompletionFeed(session, on_text)
            sampling = settle_sampling(completion.sampling, self._config)
            job: Job[JobEvent, JobResult] = Job(
                model=name,
                key=None,
                start=lambda loaded: completion_steps(
                    completion,
                    model=loaded,
                    engine=self._config.engine,
                    sampling=sampling,
                    warm=self._store if self._config.warm.enabled else None,
                ),
                observer=feed,
                # A program asks; whether a person waits behind it, nobody says.
                priority=Priority.BATCH,
                owner=self,
            )
            outcome = await self._runner.run(feed, session, job)
        if not isinstance(outcome, CompletionResult):
            raise Cancelled
        self._lifecycle.n_completions += 1
        _LOG.info(
            "a completion by %s: %d prompt tokens (%d cached), %d tokens (%d of %d drafted accepted)",
            name,
            outcome.n_prompt_tokens,
            outcome.n_cached_tokens,
            outcome.n_tokens,
            outcome.n_accepted,
            outcome.n_drafted,
        )
        return outcome

    async def models(self) -> tuple[ModelInfo, ...]:
        """Return the models that can be asked; see the interface."""
        with self._lifecycle.request():
            listed = await to_thread.run_sync((await self._models.store()).list)
        return tuple(each for each in listed.models if each.pulled)
