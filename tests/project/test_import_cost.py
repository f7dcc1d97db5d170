"""What front ends may cost: no model library, no server, not even indirectly."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("mlx", "mlx_lm", "transformers", "tokenizers", "numpy", "plgd.server", "plgd.engine", "plgd.edits")


def loaded_after(code: str) -> set[str]:
    """Run code in a fresh interpreter and return the names of all loaded modules."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print('\\n'.join(sys.modules), file=sys.stderr)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "module", ["plgd_cli.main", "plgd.lasting_client", "plgd.streamed", "plgd.launch", "plgd.protocol.methods"]
)
def test_front_ends_import_nothing_heavy(module: str) -> None:
    """Importing a front end's module loads neither mlx nor the server, even indirectly."""
    assert set() == loaded_after(f"import {module}") & set(HEAVY)


def test_the_version_needs_only_the_command_line() -> None:
    """`plgd --version` loads no wire or event-loop library."""
    code = (
        "from plgd_cli.main import main\n"
        "try:\n    main(['--version'])\nexcept SystemExit as end:\n    assert end.code in (0, None)"
    )
    assert set() == loaded_after(code) & {*HEAVY, "msgspec", "anyio", "asyncio", "rich"}
