"""The VS Code extension without VS Code: types, style, logic, package."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

from vscode.project import EXTENSION, run


def test_types_and_style_are_clean(extension: Path) -> None:
    """The extension's code passes the strict type checker and the linter."""
    run(extension, "npm", "run", "check")


def test_logic(extension: Path) -> None:
    """What the extension decides without the editor is right: hunks, settings, words, the server's process."""
    said = run(extension, "npm", "test")
    (n_passed,) = re.findall(r"^(?:#|ℹ) pass (\d+)$", said, re.MULTILINE)
    assert int(n_passed) > 50


def test_package_holds_what_is_needed_and_nothing_else(vsix: Path) -> None:
    """One command makes the extension's package: the bundle, its pages and the licences."""
    with zipfile.ZipFile(vsix) as archive:
        names = {name.removeprefix("extension/") for name in archive.namelist() if name.startswith("extension/")}
        manifest = json.loads(archive.read("extension/package.json"))
        notices = archive.read("extension/out/NOTICES.txt").decode()
    pages = {step["media"]["markdown"] for walk in manifest["contributes"]["walkthroughs"] for step in walk["steps"]}
    needed = {"package.json", "readme.md", "LICENSE.txt", "media/icon.png", "out/extension.js", "out/NOTICES.txt"}
    assert needed | pages == names
    assert "vscode-languageclient" in notices


def test_lock_names_no_host() -> None:
    """The lock file pins packages by their hashes and fetches them from whatever registry the user has set."""
    packages = json.loads((EXTENSION / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert len(packages) > 100
    assert [] == [name for name, one in packages.items() if "resolved" in one]
    assert [] == [name for name, one in packages.items() if name and "integrity" not in one]
