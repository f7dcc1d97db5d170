"""The tokenizers of today's model families, trained in a moment; normalizers, patterns and decoders as published."""

from __future__ import annotations

import argparse
import difflib
import functools
import inspect
import textwrap
from collections.abc import Callable
from typing import Any, Final

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

__all__ = ("FAMILIES", "superword", "train_family")

# Each splits off words with the blank before them; they differ in line ends, numbers, capitals and other scripts.
LLAMA3: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN: Final = LLAMA3.replace("{1,3}", "")
O200K: Final = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK: Final = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
N_TOKENS: Final = 700
MARK: Final = "\u2581"
UNKNOWN: Final = "<unk>"


def _corpus() -> list[str]:
    prose = "Größe, naïve café — 漢字とかな 👩‍💻 ﬁ x\u0301. It's the user's file; they'll edit it.\r\n\r\n\tYes!\n"
    return [*(inspect.getsource(module) for module in (textwrap, difflib, argparse)), prose * 20]


def _byte_level(*splits: Any) -> Tokenizer:  # noqa: ANN401 - the library has no annotations
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(list(splits))
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=N_TOKENS, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(_corpus(), trainer)
    return tokenizer


def _by_pattern(*patterns: str) -> Tokenizer:
    splits = (pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns)
    return _byte_level(*splits, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False))


def _smollm() -> Tokenizer:
    return _byte_level(pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False))


def _qwen() -> Tokenizer:
    tokenizer = _by_pattern(QWEN)
    tokenizer.normalizer = normalizers.NFC()
    return tokenizer


def _sentencepiece(tokenizer: Tokenizer, *, prepends: bool) -> Tokenizer:
    """Make of a trained one what SentencePiece models become: no words are split off, blanks are marked."""
    marks = normalizers.Replace(" ", MARK)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend(MARK), marks]) if prepends else marks
    parts = [decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer.decoder = decoders.Sequence([*parts, decoders.Strip(" ", 1, 0)] if prepends else parts)
    return tokenizer


def _merging(*, prepends: bool) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN, byte_fallback=True, fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(prepend_scheme="never"), pre_tokenizers.Split("\n", "isolated")]
    )
    bytes_first = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = trainers.BpeTrainer(vocab_size=N_TOKENS, special_tokens=bytes_first, show_progress=False)
    tokenizer.train_from_iterator(_corpus(), trainer)
    return _sentencepiece(tokenizer, prepends=prepends)


def _unigram() -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    trainer = trainers.UnigramTrainer(vocab_size=400, special_tokens=["<unk>"], unk_token=UNKNOWN, show_progress=False)
    tokenizer.train_from_iterator([_corpus()[0][:4000], _corpus()[-1]], trainer)
    return tokenizer


def superword() -> Tokenizer:
    """Make a byte-level vocabulary with tokens that reach across words and lines, so that nothing is a border."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("x", "Ġ"), ("xĠ", "="), ("Ċ", "d"), ("Ċd", "e")]
    spellings = [*alphabet, *("".join(merge) for merge in merges)]
    tokenizer = Tokenizer(models.BPE(vocab={spelling: i for i, spelling in enumerate(spellings)}, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


FAMILIES: Final[dict[str, Callable[[], Tokenizer]]] = {
    "smollm": _smollm,
    "qwen": _qwen,
    "llama3": lambda: _by_pattern(LLAMA3),
    "o200k": lambda: _by_pattern(O200K),
    "deepseek": lambda: _by_pattern(r"[\r\n]", r"\p{N}{1,3}", "[一-龥\u3040-ゟ゠-ヿ]+", DEEPSEEK),
    "llama2": lambda: _merging(prepends=True),
    "gemma": lambda: _merging(prepends=False),
    "unigram": _unigram,
}


@functools.cache
def train_family(name: str) -> Tokenizer:
    """Train a family's tokenizer, once."""
    return FAMILIES[name]()
