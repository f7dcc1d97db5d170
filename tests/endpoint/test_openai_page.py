"""The page about the endpoint and the code agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from anyio import to_thread
from openai.types.chat import ChatCompletion

from endpoint.talking import REPLY, answering, base_url
from plgd.config import HttpConfig
from plgd.http.request import IGNORED, NEUTRAL
from plgd.paths import Paths

pytestmark = pytest.mark.anyio

PAGE = (Path(__file__).parents[2] / "docs/agents/openai.md").read_text(encoding="utf-8")


def test_the_page_names_what_is_ignored_and_what_is_refused() -> None:
    """Both lists of fields are complete."""
    ignored, _, refused = re.sub(r"\s+", " ", PAGE).partition("are ignored:")[2].partition("These are not supported")
    assert IGNORED == set(re.findall(r"`(\w+)`", ignored))
    assert set(NEUTRAL) == set(re.findall(r"`(\w+)`", refused.partition(":")[2].partition(". Any other")[0]))


async def test_the_example_works(paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's client, with the token that the daemon made, gets a reply that was drafted from its prediction."""
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    (tmp_path / "shop.py").write_text(REPLY)
    async with answering(paths, http=HttpConfig(enabled=True, port=0)) as daemon:
        token = tmp_path / ".local/state/plgd/http-token"
        token.parent.mkdir(parents=True)
        token.write_text(paths.http_token.read_text())
        assert "http://127.0.0.1:8791/v1" in example
        names: dict[str, object] = {}
        code = example.replace("http://127.0.0.1:8791/v1", base_url(daemon)) + "client.close()\n"
        await to_thread.run_sync(exec, code, names)
    reply = names["reply"]
    assert isinstance(reply, ChatCompletion)
    assert REPLY == reply.choices[0].message.content
