"""Models of the Hugging Face hub, in the cache that the user's other tools share.

`HF_HOME`, `HF_ENDPOINT`, `HF_TOKEN` and `HF_HUB_OFFLINE` count as they do everywhere; huggingface_hub reads them.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final

import httpx2
from huggingface_hub import HfApi, constants, hf_hub_url, scan_cache_dir, snapshot_download
from huggingface_hub.errors import (
    CacheNotFound,
    GatedRepoError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoSibling
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # documented, but not in its __all__
from tqdm.auto import tqdm

from plgd.errors import ModelError, PullFailed, UnknownModel
from plgd.models.download import KnownFile, download
from plgd.models.folder import check_folder
from plgd.models.index import Location
from plgd.models.steps import Pulling, check_space, make_folder, only_one

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
        repos = scan_cache_dir(constants.HF_HUB_CACHE).repos
    except (CacheNotFound, ValueError):  # the latter when the cache's place is taken by a file
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
    """Fetch what is missing of a model into the user's ordinary cache.

    Large files are fetched by plgd itself, since huggingface_hub starts a broken file from its beginning and does
    not check hashes; it does the rest.

    Args:
        hub_id: which.
        pulling: progress as `wait`, `ask-hub`, `download` and `verify`.
        force: fetch again what is there.

    Returns:
        The snapshot's folder.

    Raises:
        UnknownModel: the hub does not know the id, or the revision.
        PullFailed: no network, or no permission; says what to do.
        HashMismatch: a file is not the one that the hub names.
        NoSpace: the disk cannot hold it.
        Cancelled: by the caller.
    """
    pulling.report("ask-hub")
    cache = Path(constants.HF_HUB_CACHE)
    storage = f"models--{hub_id.repo.replace('/', '--')}"
    locks = cache / ".locks" / storage
    make_folder(locks, pulling)
    with _hub_errors(pulling), only_one(locks / "plgd.lock", pulling):
        api = HfApi()
        info = api.model_info(hub_id.repo, revision=hub_id.revision, files_metadata=True)
        api.auth_check(hub_id.repo)
        wanted = [
            file
            for file in info.siblings or ()
            if any(fnmatch.fnmatch(file.rfilename, pattern) for pattern in PATTERNS)
        ]
        n_bytes = _fetch_blobs(hub_id, str(info.sha), wanted, cache / storage / "blobs", pulling, force=force)
        folder = Path(
            snapshot_download(
                hub_id.repo,
                revision=hub_id.revision,
                allow_patterns=list(PATTERNS),
                # It closes its one shared client when a request fails, under its other threads' feet.
                max_workers=1,
                tqdm_class=_Silent,
            )
        )
        pulling.report("download", n_bytes, n_bytes)
        return folder


def _fetch_blobs(
    hub_id: HubId, commit: str, wanted: list[RepoSibling], blobs: Path, pulling: Pulling, *, force: bool
) -> int:
    """Put the large files where the cache keeps content, under the SHA-256 that the hub names them by.

    Returns:
        The bytes of all wanted files.
    """
    large = {file.rfilename: file.lfs for file in wanted if file.lfs is not None}
    n_small = sum(file.size or 0 for file in wanted if file.lfs is None)
    n_bytes = n_small + sum(lfs.size for lfs in large.values())
    blobs.mkdir(parents=True, exist_ok=True)
    if force:
        for lfs in large.values():
            (blobs / lfs.sha256).unlink(missing_ok=True)
    missing = {name: lfs for name, lfs in large.items() if not (blobs / lfs.sha256).exists()}
    check_space(blobs, n_small + sum(lfs.size for lfs in missing.values()))
    headers = build_hf_headers()
    done = sum(lfs.size for name, lfs in large.items() if name not in missing)
    for name, lfs in missing.items():
        url = hf_hub_url(hub_id.repo, name, revision=commit)
        part = pulling.part(done, n_bytes)
        download(Location(url, headers=headers), KnownFile(name, lfs.sha256, lfs.size), blobs / lfs.sha256, part)
        done += lfs.size
    return n_bytes


@contextmanager
def _hub_errors(pulling: Pulling) -> Iterator[None]:
    """Say in plgd's words what huggingface_hub and the network raise."""
    try:
        yield
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
    except (httpx2.HTTPError, OSError) as error:  # the cache's own "not found while offline" is an OSError, too
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise PullFailed.of(pulling.name, f"the hub cannot be reached ({reason})") from error


class _Silent(tqdm):  # type: ignore[misc]  # tqdm ships no annotations
    """A progress bar that draws nothing: what huggingface_hub fetches is small."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs | {"disable": True})
