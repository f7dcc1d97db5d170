"""The page about the endpoint and the code agree."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from openai.types.chat import ChatCompletion

from endpoint.talking import REPLY, answering, base_url
from plgd.config import HttpConfig
from plgd.http.request import IGNORED, NEUTRAL
from plgd.paths import Paths
from server.machine import PATIENCE_S

pytestmark = pytest.mark.anyio

PAGE = (Path(__file__).parents[2] / "docs/agents/openai.md").read_text(encoding="utf-8")


def test_the_page_names_what_is_ignored_and_what_is_refused() -> None:
    """Both lists of fields are complete."""
    ignored, _, refused = re.sub(r"\s+", " ", PAGE).partition("are ignored:")[2].partition("These are not supported")
    assert IGNORED == set(re.findall(r"`(\w+)`", ignored))
    assert set(NEUTRAL) == set(re.findall(r"`(\w+)`", refused.partition(":")[2].partition(". Any other")[0]))


def put_token(paths: Paths, home: Path) -> None:
    """Put the daemon's token where the page's examples look for it."""
    token = home / ".local/state/plgd/http-token"
    token.parent.mkdir(parents=True)
    token.write_text(paths.http_token.read_text())


async def test_the_example_works(paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's client, with the token that the daemon made, gets a reply that was drafted from its prediction."""
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    (tmp_path / "shop.py").write_text(REPLY)
    async with answering(paths, http=HttpConfig(enabled=True, port=0)) as daemon:
        put_token(paths, tmp_path)
        assert "http://127.0.0.1:8791/v1" in example
        names: dict[str, object] = {}
        code = example.replace("http://127.0.0.1:8791/v1", base_url(daemon)) + "client.close()\n"
        await to_thread.run_sync(exec, code, names)
    reply = names["reply"]
    assert isinstance(reply, ChatCompletion)
    assert REPLY == reply.choices[0].message.content


async def test_the_line_for_the_shell_works(paths: Paths, tmp_path: Path) -> None:
    """The page's curl line, with the token that the daemon made, gets a reply."""
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    (example,) = re.findall(r"```sh\n(TOKEN=.*?)```", PAGE, re.DOTALL)
    async with answering(paths, http=HttpConfig(enabled=True, port=0)) as daemon:
        put_token(paths, tmp_path)
        command = example.replace("http://127.0.0.1:8791/v1", base_url(daemon)).replace("curl ", "curl -sS ")
        environment = os.environ | {"HOME": str(tmp_path), "NO_PROXY": "127.0.0.1"}
        with anyio.fail_after(PATIENCE_S):
            done = await anyio.run_process(["sh", "-c", command], env=environment)
    assert REPLY == json.loads(done.stdout)["choices"][0]["message"]["content"]
