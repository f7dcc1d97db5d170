"""A small real server that speaks the part of the Hugging Face hub's API that downloads use."""

from __future__ import annotations

import hashlib
import json
import re
from http import HTTPStatus
from typing import Final

from web import Answer, Asked, FileServer

__all__ = ("COMMIT", "Hub")

# The hub names a state of a model by a git commit.
COMMIT: Final = "0123456789abcdef0123456789abcdef01234567"
TOKEN: Final = "hf_right"

API: Final = re.compile(
    r"/api/models/(?P<repo>[^/]+/[^/]+)(?:/(?P<what>revision|tree|auth-check)(?:/(?P<revision>[^/]+))?)?"
)
RESOLVE: Final = re.compile(r"/(?P<repo>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<file>.+)")


class Hub(FileServer):
    """Serves models.

    Attributes:
        models: files by name, by `owner/name`.
        revisions: the names of the one commit that every model has.
        gated: models whose files want the token `hf_right`.
        private: models that answer 403 to everybody.
    """

    def __init__(self, models: dict[str, dict[str, bytes]], *, cuts: tuple[int, ...] = ()) -> None:
        super().__init__(cuts=cuts)
        self.models = models
        self.revisions = {"main", "v1", COMMIT}
        self.gated: set[str] = set()
        self.private: set[str] = set()
        for contents in models.values():
            self.files.update({f"/cdn/{_sha256(content)}": content for content in contents.values() if _large(content)})

    def answer(self, asked: Asked) -> Answer:
        """Answer the API's listings and the files; a refusal carries the hub's error code."""
        if asked.path in self.files:
            return super().answer(asked)
        match = API.fullmatch(asked.path) or RESOLVE.fullmatch(asked.path)
        if match is None or match["repo"] not in self.models:
            return Answer(status=HTTPStatus.NOT_FOUND, headers={"X-Error-Code": "RepoNotFound"})
        if match["repo"] in self.private:
            return Answer(status=HTTPStatus.FORBIDDEN, headers={"X-Error-Message": "not for you"})
        if (match["revision"] or "main") not in self.revisions:
            return Answer(status=HTTPStatus.NOT_FOUND, headers={"X-Error-Code": "RevisionNotFound"})
        if match.re is RESOLVE:
            return self._answer_file(asked, match["repo"], match["file"])
        if match["what"] == "auth-check":
            return GATED if self._refuses(asked, match["repo"]) else _json({})
        files = self.models[match["repo"]]
        if match["what"] == "tree":
            return _json(
                [
                    {"type": "file", "path": name, "size": len(content), "oid": _blob_id(content)}
                    | ({"lfs": _lfs("oid", content)} if _large(content) else {})
                    for name, content in files.items()
                ]
            )
        siblings = [
            {"rfilename": name, "size": len(content), "blobId": _blob_id(content)}
            | ({"lfs": _lfs("sha256", content)} if _large(content) else {})
            for name, content in files.items()
        ]
        return _json({"id": match["repo"], "sha": COMMIT, "siblings": siblings})

    def _answer_file(self, asked: Asked, repo: str, file: str) -> Answer:
        if self._refuses(asked, repo):
            return GATED
        content = self.models[repo].get(file)
        if content is None:
            return Answer(status=HTTPStatus.NOT_FOUND, headers={"X-Error-Code": "EntryNotFound"})
        if _large(content):
            headers = {"X-Linked-Etag": f'"{_sha256(content)}"', "X-Linked-Size": str(len(content))}
            # On another host than the hub's, so that a token must not follow.
            cdn = self.url.replace("127.0.0.1", "localhost")
            headers |= {"Location": f"{cdn}/cdn/{_sha256(content)}", "X-Repo-Commit": COMMIT}
            return Answer(status=HTTPStatus.FOUND, headers=headers)
        return Answer(content, headers={"ETag": f'"{_blob_id(content)}"', "X-Repo-Commit": COMMIT})

    def _refuses(self, asked: Asked, repo: str) -> bool:
        return repo in self.gated and asked.authorization != f"Bearer {TOKEN}"


GATED: Final = Answer(status=HTTPStatus.FORBIDDEN, headers={"X-Error-Code": "GatedRepo"})


def _large(content: bytes) -> bool:
    """Whether the hub keeps content apart, as a large file behind a redirect."""
    return len(content) > 10_000


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _lfs(key: str, content: bytes) -> dict[str, str | int]:
    return {key: _sha256(content), "size": len(content), "pointerSize": 134}


def _json(content: object) -> Answer:
    return Answer(json.dumps(content).encode(), headers={"Content-Type": "application/json"})


def _blob_id(content: bytes) -> str:
    """Name content as git does."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # noqa: S324  # git's own naming
