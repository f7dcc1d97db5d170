"""Models of the Hugging Face hub, in the cache that the user's other tools share.

`HF_HOME`, `HF_ENDPOINT`, `HF_TOKEN` and `HF_HUB_OFFLINE` count as they do everywhere; huggingface_hub reads them.
"""

from __future__ import annotations

import fnmatch
import re
import threading
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final

import httpx2
from huggingface_hub import HfApi, constants, scan_cache_dir, snapshot_download, try_to_load_from_cache
from huggingface_hub.errors import (
    CacheNotFound,
    GatedRepoError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from tqdm.auto import tqdm

from plgd.errors import ModelError, PullFailed, UnknownModel
from plgd.models.folder import check_folder
from plgd.models.steps import Pulling, check_space

__all__ = ("HubId", "find_cached", "list_cached", "pull_snapshot")

ID: Final = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?")

# What mlx-lm loads; Python files stay away: a model's own code is never run.
PATTERNS: Final = (
    "*.json",
    "model*.safetensors",
    "*.jinja",
    "tokenizer.model",
    "*.tiktoken",
    "tiktoken.model",
    "*.txt",
    "*.jsonl",
)


@dataclass(frozen=True, slots=True)
class HubId:
    """A model on the hub: `owner/name`, or `owner/name@revision` for a branch, tag or commit."""

    repo: str
    revision: str | None = None

    @classmethod
    def parse(cls, text: str) -> HubId | None:
        """Read an id; None when the text is none."""
        match = ID.fullmatch(text)
        return cls(match["repo"], match["revision"]) if match else None


def find_cached(hub_id: HubId) -> Path | None:
    """Return the snapshot's folder without asking the network; None when it is not there or not whole."""
    try:
        return Path(
            snapshot_download(
                hub_id.repo, revision=hub_id.revision, allow_patterns=list(PATTERNS), local_files_only=True
            )
        )
    except LocalEntryNotFoundError:
        return None


def list_cached() -> dict[str, Path]:
    """Return the models in the cache that could be used: ids and snapshot folders, the newest of each."""
    try:
        repos = scan_cache_dir().repos
    except CacheNotFound:
        return {}
    found: dict[str, Path] = {}
    for repo in sorted(repos, key=lambda repo: repo.repo_id):
        main = repo.refs.get(constants.DEFAULT_REVISION)
        if repo.repo_type != "model" or main is None:
            continue
        try:
            facts = check_folder(main.snapshot_path, repo.repo_id)
        except ModelError:
            continue  # embeddings, other formats, half a download: nothing that could be offered
        if facts.can_chat:
            found[repo.repo_id] = main.snapshot_path
    return found


def pull_snapshot(hub_id: HubId, pulling: Pulling, *, force: bool = False) -> Path:
    """Fetch what is missing of a model into the user's ordinary cache; a broken file is resumed.

    Args:
        hub_id: which.
        pulling: progress as `find` and `download`.
        force: fetch again what is there.

    Returns:
        The snapshot's folder.

    Raises:
        UnknownModel: the hub does not know the id, or the revision.
        PullFailed: no network, or no permission; says what to do.
        NoSpace: the disk cannot hold it.
        Cancelled: by the caller.
    """
    pulling.report("find")
    try:
        info = HfApi().model_info(hub_id.repo, revision=hub_id.revision, files_metadata=True)
        sizes = {
            file.rfilename: file.size or 0
            for file in info.siblings or ()
            if any(fnmatch.fnmatch(file.rfilename, pattern) for pattern in PATTERNS)
        }
        missing = sizes if force else {file: n for file, n in sizes.items() if not _is_cached(hub_id, file, info.sha)}
        cache = Path(constants.HF_HUB_CACHE)
        cache.mkdir(parents=True, exist_ok=True)
        check_space(cache, sum(missing.values()))
        return Path(
            snapshot_download(
                hub_id.repo,
                revision=hub_id.revision,
                allow_patterns=list(PATTERNS),
                force_download=force,
                tqdm_class=_make_bar(pulling, sum(sizes.values()) - sum(missing.values()), sum(sizes.values())),
            )
        )
    except GatedRepoError as error:
        raise PullFailed.of(
            pulling.name,
            "its owner asks for consent first. Accept the terms on the model's page and set HF_TOKEN to your token",
        ) from error
    except (RepositoryNotFoundError, RevisionNotFoundError) as error:
        raise UnknownModel.named(pulling.name) from error
    except HfHubHTTPError as error:
        status = error.response.status_code
        denied = status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
        advice = "; set HF_TOKEN to a token that may read it" if denied else ""
        raise PullFailed.of(pulling.name, f"the hub answered {status}{advice}") from error
    except OfflineModeIsEnabled as error:
        raise PullFailed.of(pulling.name, "HF_HUB_OFFLINE is set, which forbids downloads") from error
    except (httpx2.HTTPError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise PullFailed.of(pulling.name, f"the hub cannot be reached ({reason})") from error


def _is_cached(hub_id: HubId, file: str, commit: str | None) -> bool:
    return isinstance(try_to_load_from_cache(hub_id.repo, file, revision=commit), str)


def _make_bar(pulling: Pulling, n_cached: int, n_bytes: int) -> type[tqdm]:
    """Make a progress bar that draws nothing and reports bytes instead.

    huggingface_hub feeds two byte bars, what came over the network and what is on disk (resumed bytes included);
    the larger of the two is how far the download is. Raising from a bar's update ends the download.
    """
    lock = threading.Lock()
    furthest = 0

    class Bar(tqdm):  # type: ignore[misc]  # tqdm ships no annotations
        """One of huggingface_hub's bars."""

        def __init__(self, *args: object, unit: str = "it", **kwargs: object) -> None:
            super().__init__(*args, **kwargs | {"unit": unit, "disable": True})
            self._counts_bytes = unit == "B"

        def update(self, n: float | None = 1) -> bool | None:
            nonlocal furthest
            self.n += n or 0
            if self._counts_bytes:
                with lock:
                    furthest = max(furthest, int(self.n))
                    pulling.report("download", min(n_cached + furthest, n_bytes), n_bytes)
            return None

    return Bar
