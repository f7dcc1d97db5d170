"""Builds a model folder's tokenizer from a GGUF file's metadata."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from plgd.errors import UnsupportedModel

__all__ = ("write_tokenizer",)

# Token types of the GGUF specification.
CONTROL: Final = 3
USER_DEFINED: Final = 4


def write_tokenizer(name: str, metadata: dict[str, Any], folder: Path) -> None:
    """Write `tokenizer.json` and `tokenizer_config.json`, the chat template included.

    Args:
        name: the GGUF file's name, for messages.
        metadata: as mlx reads it: strings, lists of strings, arrays.
        folder: where to.

    Raises:
        UnsupportedModel: not byte-level BPE with SmolLM's pre-tokenizer.
    """
    kind, pre = metadata.get("tokenizer.ggml.model"), metadata.get("tokenizer.ggml.pre")
    if (kind, pre) != ("gpt2", "smollm"):
        raise UnsupportedModel.of(name, f"its tokenizer is {kind}/{pre}, only gpt2/smollm is converted from GGUF")
    tokens: list[str] = metadata["tokenizer.ggml.tokens"]
    types: list[int] = metadata["tokenizer.ggml.token_type"].tolist()

    tokenizer = Tokenizer(
        models.BPE(
            vocab={token: i for i, token in enumerate(tokens)},
            merges=[_split_merge(merge) for merge in metadata["tokenizer.ggml.merges"]],
        )
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([_added(token) for token, t in zip(tokens, types, strict=True) if t == CONTROL])
    tokenizer.add_tokens([_added(token) for token, t in zip(tokens, types, strict=True) if t == USER_DEFINED])
    tokenizer.save(str(folder / "tokenizer.json"))

    def named(role: str) -> str | None:
        token = metadata.get(f"tokenizer.ggml.{role}_token_id")
        return None if token is None else tokens[token.item()]

    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": named("bos"),
        "eos_token": named("eos"),
        "unk_token": named("unknown"),
        "pad_token": named("padding"),
        "model_max_length": metadata["llama.context_length"].item(),
        "clean_up_tokenization_spaces": False,
        "chat_template": metadata["tokenizer.chat_template"],
    }
    config = {key: value for key, value in config.items() if value is not None}
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _split_merge(merge: str) -> tuple[str, str]:
    left, _, right = merge.partition(" ")
    return left, right


def _added(token: str) -> AddedToken:
    return AddedToken(token, normalized=False, special=True)
