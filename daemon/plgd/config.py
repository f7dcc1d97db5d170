"""The user's settings: a frozen value, decoded once from `config.toml` at the edge and passed as an argument."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Annotated, Final, Literal, get_args, get_type_hints

import msgspec
from msgspec import Meta

from plgd.errors import ConfigError
from plgd.protocol import sampling as bounds
from plgd.protocol.drafting import DraftLength, NgramLength, Policy, check_drafting

__all__ = (
    "Config",
    "DaemonConfig",
    "EditConfig",
    "EditorConfig",
    "EngineConfig",
    "HttpConfig",
    "ModelConfig",
    "PresetConfig",
    "SamplingConfig",
    "Section",
    "WarmConfig",
    "load_config",
)


# Longer waits than any daemon lives; far below what the system's timers hold.
_YEAR_S: Final = 365 * 86400


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all sections share: an unknown key is an error."""


class ModelConfig(Section, frozen=True):
    """Section `[model]`.

    Attributes:
        default: the model that edits use; `plgd model use` remembers its choice elsewhere and goes before this.
        context_limit: tokens of prompt and reply together; 0 takes the model's own limit.
        kv_bits: bits of a kept key or value, 8 or 4, to save memory; 0 keeps them as the model makes them.
    """

    default: str = "builtin"
    context_limit: Annotated[int, Meta(ge=0)] = 0
    kv_bits: Literal[0, 4, 8] = 0


class EngineConfig(Section, frozen=True):
    """Section `[engine]`: how replies are drafted. Bounds as in the reference systems.

    Attributes:
        policy: the governor's policy; `off` is plain decoding.
        ngram_max: longest n-gram that is looked up; 0 takes the policy's own.
        ngram_min: shortest n-gram that is looked up; 0 takes the policy's own.
        max_draft: most tokens in one draft; 0 takes the policy's own.
        prefill_slice: prompt tokens per pass of the model; a cancel waits for one slice.
        near_tie_margin: a choice whose runner-up is closer than this, in logits, counts as a near tie; 0 takes the
            margin that suits the precision of the model.
        exact: give plain decoding's own reply in low precision too.
    """

    policy: Policy = "cost"
    ngram_max: NgramLength = 0
    ngram_min: NgramLength = 0
    max_draft: DraftLength = 0
    prefill_slice: Annotated[int, Meta(ge=1, le=8192)] = 512
    near_tie_margin: Annotated[float, Meta(ge=0, le=100)] = 0.0
    exact: bool = False

    def __post_init__(self) -> None:
        """Refuse what contradicts itself or the policy."""
        check_drafting(self.policy, self.max_draft, self.ngram_min, self.ngram_max)


class SamplingConfig(Section, frozen=True):
    """Section `[sampling]`: how tokens are drawn where a request does not say; see `SamplingParams`.

    The defaults take the likeliest token each time, and count penalties over as many tokens as mlx-lm does.
    """

    temperature: bounds.Temperature = 0.0
    top_p: bounds.TopP = 1.0
    top_k: bounds.TopK = 0
    min_p: bounds.MinP = 0.0
    repetition_penalty: bounds.RepetitionPenalty = 1.0
    presence_penalty: bounds.Penalty = 0.0
    frequency_penalty: bounds.Penalty = 0.0
    penalty_context: bounds.PenaltyContext = 20


class EditConfig(Section, frozen=True):
    """Section `[edit]`.

    Attributes:
        max_deleted_share: an edit that deletes a larger share of the text unasked is rejected.
    """

    max_deleted_share: Annotated[float, Meta(gt=0.0, le=1.0)] = 0.6


class WarmConfig(Section, frozen=True):
    """Section `[warm]`: what is kept of documents between edits, so that the next one begins at once.

    Attributes:
        enabled: keep the KV of prompts, and prefill open documents while nobody waits.
        kv_bytes: memory that kept KV may take together; 0 takes an eighth of the device's.
        quiet_s: seconds without a change until an open document is prefilled.
        slice: tokens per pass of such a prefill; an edit that comes meanwhile waits for one slice.
        drop_after_s: seconds without use until kept KV leaves memory, the first of the three stages of idling; then
            the model goes (`daemon.unload_after_s`) and the daemon exits (`daemon.exit_after_s`). 0 keeps it.
        spill_bytes: disk space for KV that leaves memory, so that it comes back with the next edit, in the next daemon
            too; 0 writes none.
    """

    enabled: bool = True
    kv_bytes: Annotated[int, Meta(ge=0, le=2**50)] = 0
    quiet_s: Annotated[float, Meta(ge=0, le=3600)] = 0.5
    slice: Annotated[int, Meta(ge=1, le=8192)] = 128
    drop_after_s: Annotated[float, Meta(ge=0, le=_YEAR_S)] = 900.0
    spill_bytes: Annotated[int, Meta(ge=0, le=2**50)] = 0


class DaemonConfig(Section, frozen=True):
    """Section `[daemon]`: limits and idle times.

    Attributes:
        queue_limit: edits that may wait or run at once.
        client_limit: those of one client; over HTTP, of all clients together.
        running_limit: edits of each priority that share the model at once; each keeps its KV in memory.
        connection_limit: clients connected at once.
        frame_limit: bytes of one message.
        unload_after_s: seconds without an edit until the model leaves memory; 0 keeps it.
        exit_after_s: seconds without a request until the daemon exits; 0 stays.
        log_limit: bytes of the log file before it is rotated.
    """

    queue_limit: Annotated[int, Meta(ge=1, le=65536)] = 32
    client_limit: Annotated[int, Meta(ge=1, le=65536)] = 16
    running_limit: Annotated[int, Meta(ge=1, le=64)] = 4
    connection_limit: Annotated[int, Meta(ge=1, le=65536)] = 256
    frame_limit: Annotated[int, Meta(ge=4096, le=2**30)] = 64 * 1024 * 1024
    unload_after_s: Annotated[float, Meta(ge=0, le=_YEAR_S)] = 1800.0
    exit_after_s: Annotated[float, Meta(ge=0, le=_YEAR_S)] = 28800.0
    log_limit: Annotated[int, Meta(ge=65536, le=2**40)] = 4 * 1024 * 1024


class HttpConfig(Section, frozen=True):
    """Section `[http]`: an endpoint on this machine's loopback address that speaks OpenAI's chat completions.

    Attributes:
        enabled: answer there; needs the extra `http`.
        port: of 127.0.0.1; 0 takes any that is free and tells it in the log.
        token: what clients have to show, 16 visible ASCII characters or more; when empty, one is made at the first
            start and kept in the file `http-token` beside the socket.
        body_limit: bytes of one request.
        connection_limit: clients connected at once.
    """

    enabled: bool = False
    port: Annotated[int, Meta(ge=0, le=65535)] = 8791
    token: Annotated[str, Meta(pattern=r"^([!-~]{16,})?$")] = ""
    body_limit: Annotated[int, Meta(ge=4096, le=2**30)] = 16 * 1024 * 1024
    connection_limit: Annotated[int, Meta(ge=1, le=65536)] = 64


class PresetConfig(Section, frozen=True):
    """An instruction that editors offer by name, a table of `[[editor.presets]]`.

    Attributes:
        id: what tells it from others; in place of a preset of plgd's with this id.
        title: what the editor shows.
        instruction: what the model is told.
        languages: the languages it is for, as editors name them; all when empty.
    """

    id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]+$")]
    title: Annotated[str, Meta(min_length=1)]
    instruction: Annotated[str, Meta(min_length=1)]
    languages: tuple[str, ...] = ()


class EditorConfig(Section, frozen=True):
    """Section `[editor]`: what the language server offers. It reads the file when the editor starts it.

    Attributes:
        presets: instructions besides plgd's own.
    """

    presets: tuple[PresetConfig, ...] = ()


class Config(Section, frozen=True):
    """Everything that can be set. Without a file, all defaults hold."""

    model: ModelConfig = ModelConfig()
    engine: EngineConfig = EngineConfig()
    sampling: SamplingConfig = SamplingConfig()
    edit: EditConfig = EditConfig()
    warm: WarmConfig = WarmConfig()
    daemon: DaemonConfig = DaemonConfig()
    http: HttpConfig = HttpConfig()
    editor: EditorConfig = EditorConfig()


SECTIONS: Final[dict[str, type[Section]]] = {
    "model": ModelConfig,
    "engine": EngineConfig,
    "sampling": SamplingConfig,
    "edit": EditConfig,
    "warm": WarmConfig,
    "daemon": DaemonConfig,
    "http": HttpConfig,
    "editor": EditorConfig,
}


def load_config(path: Path) -> Config:
    """Read the settings.

    Args:
        path: a TOML file; a missing one means all defaults.

    Raises:
        ConfigError: not readable, not TOML, an unknown key (the nearest known one is named) or a value out of bounds.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Config()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 (byte {error.start}). Save it as UTF-8.") from error
    except (OSError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}") from error
    _check_keys(path, table)
    try:
        return msgspec.convert(table, Config)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: {_in_words(error)}") from error


def _in_words(error: msgspec.ValidationError) -> str:
    """Name the key as the file spells it and, where only certain words are allowed, those."""
    message, _, where = str(error).removesuffix("`").partition(" - at `$.")
    section, _, key = where.partition(".")
    words = get_args(get_type_hints(SECTIONS[section])[key]) if "enum value" in message else ()
    allowed = f"; there are {', '.join(map(str, words))}" if words else ""
    return f"{message} (key `{where}`){allowed}"


def _check_keys(path: Path, table: dict[str, object]) -> None:
    for section, content in table.items():
        _check_known(path, section, SECTIONS)
        if isinstance(content, dict):
            known = SECTIONS[section].__struct_fields__
            for key in content:
                _check_known(path, key, known, f"{section}.")


def _check_known(path: Path, key: str, known: tuple[str, ...] | dict[str, type[Section]], prefix: str = "") -> None:
    if key in known:
        return
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.0)
    raise ConfigError(f"{path}: unknown key `{prefix}{key}`; did you mean `{prefix}{near[0]}`?")
