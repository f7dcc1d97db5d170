"""The network that is trained computes what transformers computes with the merged weights."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import mlx.core as mx
from transformers import LlamaConfig, LlamaForCausalLM

from tiny_base import write_base
from training.base import Base, load_base
from training.lora import Lora
from training.network import Network


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder."""
    return write_base(tmp_path_factory.mktemp("base"))


@pytest.fixture
def base(folder: Path) -> Base:
    """The base model of the folder."""
    return load_base(folder)


@pytest.fixture
def lora(base: Base) -> Lora:
    """Pairs none of which is zero."""
    found = Lora(base.shape, rank=4, alpha=8.0, device="cpu", seed=1)
    with torch.no_grad():
        found.flat.copy_(torch.randn(found.flat.shape, generator=torch.Generator().manual_seed(2)) * 0.1)
    return found


def reference(base: Base, lora: Lora) -> LlamaForCausalLM:
    """Build transformers' model around the merged weights."""
    config = {key: value for key, value in base.config.items() if key not in ("quantization", "quantization_config")}
    model = LlamaForCausalLM(LlamaConfig(**config)).eval()
    weights = dict(base.weights)
    for layer, (a, b) in lora.pairs().items():
        weights[f"{layer}.weight"] = weights[f"{layer}.weight"] + lora.scale * b @ a
    model.load_state_dict(weights, strict=False)
    model.tie_weights()
    return model


def test_dequantized_weights_are_mlx_own(folder: Path, base: Base) -> None:
    """Each packed weight becomes the numbers that mlx makes of it in float32."""
    stored = mx.load(str(folder / "model.safetensors"))
    assert isinstance(stored, dict)
    packed = [name.removesuffix(".scales") for name in stored if name.endswith(".scales")]
    assert len(packed) == 2 * 7 + 1
    for layer in packed:
        scales, biases = (stored[f"{layer}.{part}"].astype(mx.float32) for part in ("scales", "biases"))
        expected = torch.tensor(
            mx.dequantize(stored[f"{layer}.weight"], scales, biases, group_size=32, bits=4).tolist()
        )
        assert torch.equal(expected, base.weights[f"{layer}.weight"])


def test_hidden_states_are_those_of_transformers(base: Base, lora: Lora) -> None:
    """Rows of a batch, filled up on the right and at the end, give what transformers gives for each row alone."""
    network = Network(base, lora, device="cpu", dtype=torch.float32, max_length=32)
    rows = torch.randint(3, 370, (3, 16), generator=torch.Generator().manual_seed(3))
    rows[1, 10:] = 0
    flat = torch.cat([rows.flatten(), torch.zeros(7, dtype=torch.int64)])
    found = network.hidden(flat, 3, 16)[:48].view(3, 16, -1)
    model = reference(base, lora)
    for row, length in zip(range(3), (16, 10, 16), strict=True):
        with torch.no_grad():
            expected = model.model(rows[row : row + 1, :length]).last_hidden_state[0]
        normed = found[row, :length]
        normed = normed * torch.rsqrt(normed.square().mean(-1, keepdim=True) + base.shape.norm_eps)
        assert torch.allclose(expected, normed * base.weights["model.norm.weight"], atol=1e-4)


def test_loss_is_that_of_transformers(base: Base, lora: Lora) -> None:
    """The loss is the weighted mean cross-entropy at the named places, and its gradient reaches every pair."""
    network = Network(base, lora, device="cpu", dtype=torch.float32, max_length=32)
    tokens = torch.randint(3, 370, (1, 12), generator=torch.Generator().manual_seed(4))
    places = torch.tensor([5, 6, 9])
    weights = torch.tensor([1.0, 4.0, 1.0])
    loss = network.loss(tokens.flatten(), 1, 12, places, tokens.flatten()[places + 1], weights)
    with torch.no_grad():
        logits = reference(base, lora)(tokens).logits[0, places]
    by_place = torch.nn.functional.cross_entropy(logits, tokens[0, places + 1], reduction="none")
    assert torch.allclose((by_place[0] + 4 * by_place[1] + by_place[2]) / 6, loss, atol=1e-5)
    loss.backward()
    assert (lora.flat.grad != 0).float().mean() > 0.99


@pytest.mark.filterwarnings("ignore")  # torch's compiler warns of itself, and trips over its own warnings as errors
def test_compiling_changes_nothing(base: Base, lora: Lora) -> None:
    """The compiled network gives the same losses, for batches of every shape, without compiling anew."""
    plain = Network(base, lora, device="cpu", dtype=torch.float32, max_length=64)
    compiled = Network(base, lora, device="cpu", dtype=torch.float32, max_length=64, compiled=True)
    torch._dynamo.reset()
    n_graphs = []
    for n_rows, n_columns in ((4, 16), (2, 32), (7, 8)):
        tokens = torch.randint(3, 370, (64,), generator=torch.Generator().manual_seed(n_rows))
        places = torch.arange(3, 3 + n_rows)
        arguments = (tokens, n_rows, n_columns, places, tokens[places + 1], 1.0 + torch.arange(n_rows))
        assert torch.allclose(plain.loss(*arguments), compiled.loss(*arguments), atol=1e-5)
        n_graphs.append(torch._dynamo.utils.counters["stats"]["unique_graphs"])
    assert [3, 3, 3] == n_graphs
