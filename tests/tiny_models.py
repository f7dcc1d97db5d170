"""Small models with random weights, of mlx-lm's own classes, and small tokenizers: real in kind, made in a moment."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import mlx.core as mx
import mlx.nn as nn
import mlx_lm.utils
from mlx.utils import tree_map
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

__all__ = (
    "CHATML",
    "LLAMA",
    "byte_level_tokenizer",
    "make_network",
    "sentencepiece_tokenizer",
    "unigram_tokenizer",
    "write_model",
    "write_tokenizer",
)

CHATML: Final = (
    "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)

LLAMA: Final[dict[str, Any]] = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-5,
    "vocab_size": 400,
    "max_position_embeddings": 512,
    "tie_word_embeddings": True,
}

CORPUS: Final = (
    "def total(items):\n    subtotal = 0\n    for item in items:\n        subtotal += item.price\n    return subtotal",
    '{\n  "name": "plgd",\n  "tags": ["a", "b"],\r\n\t"n": 12\n}\n',
    "The model drafts from the file itself, and verifies many tokens in one pass.\n\n- one\n- two\n",
)
UNKNOWN: Final = "<unk>"
CONTROLS: Final = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


def make_network(
    config: dict[str, Any], seed: int = 0, *, classes: tuple[type[nn.Module], Any] | None = None
) -> nn.Module:
    """Build the architecture that a configuration names, in float32.

    Weights are drawn wide enough that what comes next depends on all that came before, and not on the last token
    alone: a decoder that loses track then says something else.

    Args:
        config: what `config.json` says.
        seed: another seed, other weights.
        classes: mlx-lm's classes of model and arguments; those of the configuration's type when left out.
    """
    model_class, args_class = classes or mlx_lm.utils._get_classes(config)
    mx.random.seed(seed)
    network = model_class(args_class.from_dict(config))
    network.set_dtype(mx.float32)
    network.update(tree_map(_spread, network.parameters()))
    network.eval()
    mx.eval(network.parameters())
    return network


def _spread(weight: mx.array) -> mx.array:
    if weight.ndim < 2 or weight.dtype != mx.float32:
        return weight
    wide: mx.array = mx.random.normal(weight.shape) * (1.5 / weight.shape[-1] ** 0.5)
    return wide


def write_model(folder: Path, config: dict[str, Any] = LLAMA, *, seed: int = 0, bits: int | None = None) -> Path:
    """Write a model folder as mlx-lm does, tokenizer included.

    Args:
        folder: created if missing.
        config: what `config.json` says.
        seed: another seed, other weights.
        bits: quantize to so many bits, in groups of 32.
    """
    folder.mkdir(parents=True, exist_ok=True)
    network, written = make_network(config, seed), dict(config)
    if bits is not None:
        network, written = mlx_lm.utils.quantize_model(network, written, group_size=32, bits=bits)
    mlx_lm.utils.save_model(folder, network)
    mlx_lm.utils.save_config(written, folder / "config.json")
    write_tokenizer(folder, byte_level_tokenizer(), template=CHATML, eos="<|im_end|>")
    return folder


def write_tokenizer(
    folder: Path, tokenizer: Tokenizer, *, template: str | None, eos: str, bos: str | None = None
) -> None:
    """Write a tokenizer's files as transformers does."""
    folder.mkdir(parents=True, exist_ok=True)
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=eos, bos_token=bos)
    wrapped.chat_template = template
    wrapped.save_pretrained(folder)


def byte_level_tokenizer(extra: Iterable[AddedToken] = ()) -> Tokenizer:
    """Make a byte-level BPE vocabulary of the GPT-2 kind, as Llama 3, Qwen and SmolLM have."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=380,
        special_tokens=list(CONTROLS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS * 3, trainer)
    tokenizer.add_tokens(list(extra))
    return tokenizer


def sentencepiece_tokenizer() -> Tokenizer:
    """Make a BPE vocabulary of the SentencePiece kind, as Llama 2 has: marked blanks, bytes as fallback."""
    letters = sorted({character.replace(" ", "\u2581") for text in CORPUS for character in text})
    words = ["\u2581i", "\u2581it", "\u2581ite", "\u2581item", "su", "sub"]
    merges = [("\u2581", "i"), ("\u2581i", "t"), ("\u2581it", "e"), ("\u2581ite", "m"), ("s", "u"), ("su", "b")]
    spellings = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *letters, *words]
    tokenizer = Tokenizer(
        models.BPE(
            vocab={spelling: number for number, spelling in enumerate(dict.fromkeys(spellings))},
            merges=merges,
            unk_token=UNKNOWN,
            fuse_unk=True,
            byte_fallback=True,
        )
    )
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("\u2581", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(content=" ", left=1, right=0),
        ]
    )
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    return tokenizer


def unigram_tokenizer() -> Tokenizer:
    """Make a Unigram vocabulary in which a control token is an ordinary piece too, as in T5 and its kin."""
    letters = sorted({character.replace(" ", "\u2581") for text in CORPUS for character in text} | set("</s>"))
    pieces = [("<unk>", 0.0), ("</s>", 0.0), *((letter, -4.0) for letter in letters), ("\u2581item", -2.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement="\u2581", prepend_scheme="always")
    tokenizer.add_special_tokens(["</s>"])
    return tokenizer
