"""A small configuration for every model type of the installed mlx-lm, for walks over all of them.

One table of usual values serves all: each type takes the keys that it knows. What a type needs besides stands in its
own entry. Windows and chunks are 16 tokens, so that a short reply runs past them.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any, Final

import mlx_lm.models

__all__ = ("NOT_RUN", "WINDOW", "make_config", "model_types")

# Types that cannot be built small on every machine, and why.
NOT_RUN: Final = {
    "bitnet": "trim (its caches are plain); its kernels need Metal",
    "phi3small": "refused: in this mlx-lm it adds its causal mask as numbers, so a pass sees its own later tokens",
    "muse_spark": "trim; snapshot once the window is full (its caches are plain and rotating); its kernels need Metal",
}
N_LAYERS: Final = 4
WINDOW: Final = 16
ROPE: Final = {"rope_type": "default", "rope_theta": 10000.0}
YARN: Final = {
    "type": "yarn",
    "factor": 4.0,
    "original_max_position_embeddings": 128,
    "beta_fast": 32,
    "beta_slow": 1,
    "mscale": 1.0,
    "mscale_all_dim": 1.0,
}
HALF: Final = ["sliding_attention", "full_attention"] * 2

USUAL: Final[dict[str, Any]] = {
    "vocab_size": 256,
    "hidden_size": 128,
    "intermediate_size": 128,
    "num_hidden_layers": N_LAYERS,
    "num_layers": N_LAYERS,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "max_position_embeddings": 512,
    "rms_norm_eps": 1e-5,
    "norm_eps": 1e-5,
    "layer_norm_eps": 1e-5,
    "layer_norm_epsilon": 1e-5,
    "layernorm_epsilon": 1e-5,
    "rope_theta": 10000.0,
    "attention_bias": False,
    "mlp_bias": False,
    "use_bias": False,
    "use_conv_bias": True,
    "conv_bias": False,
    "tie_word_embeddings": False,
    "use_qk_norm": True,
    "qk_norm": True,
    "partial_rotary_factor": 0.5,
    "sliding_window": WINDOW,
    "sliding_window_pattern": 2,
    "attention_window_size": WINDOW,
    "hidden_act": "silu",
    # Mixtures of experts
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "moe_num_experts": 4,
    "num_experts_per_tok": 2,
    "num_experts_per_token": 2,
    "moe_topk": 2,
    "moe_top_k": 2,
    "moe_k": 2,
    "n_shared_experts": 1,
    "num_shared_experts": 1,
    "moe_intermediate_size": 64,
    "moe_num_shared_experts": 1,
    "shared_expert_intermediate_size": 64,
    "shared_intermediate_size": 64,
    "first_k_dense_replace": 1,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "norm_topk_prob": True,
    "n_group": 1,
    "topk_group": 1,
    "topk_method": "noaux_tc",
    "scoring_func": "sigmoid",
    "routed_scaling_factor": 1.0,
    # Latent attention
    "kv_lora_rank": 32,
    "q_lora_rank": 32,
    "qk_rope_head_dim": 32,
    "qk_nope_head_dim": 32,
    "v_head_dim": 32,
    # Recurrent layers
    "linear_num_value_heads": 4,
    "linear_num_key_heads": 4,
    "linear_key_head_dim": 32,
    "linear_value_head_dim": 32,
    "linear_conv_kernel_dim": 3,
    "conv_kernel": 3,
    "conv_L_cache": 3,
    "layer_group_size": 2,
    "group_norm_size": 1,
    "state_size": 16,
    "time_step_rank": 8,
    "n_groups": 1,
    # Scales of the Granite and MiniCPM families
    "logits_scaling": 1.0,
    "attention_multiplier": 0.2,
    "embedding_multiplier": 1.0,
    "residual_multiplier": 1.0,
    "scale_depth": 1.4,
    "scale_emb": 1.0,
    "dim_model_base": 128,
}
LATENT_TEXT: Final = {**USUAL, "model_type": "deepseek_v3"}
QWEN_TEXT: Final = {**USUAL, "model_type": "qwen3", "full_attention_interval": 2}

# What the types need besides; also for those whose attention would else not run past its window.
NEEDS: Final[dict[str, dict[str, Any]]] = {
    "afm7": {"hidden_dim": 128, "num_kv_reuse_layers": 2, "num_heads": 4, "num_kv_heads": 2},
    "afmoe": {"layer_types": HALF, "num_dense_layers": 1},
    "apertus": {"mlp_bias": False, "post_norm": True},
    "baichuan_m1": {"sliding_window_layers": [0, 2], "conv_window": 2},
    "bailing_hybrid": {"q_lora_rank": None},
    "dbrx": {
        "d_model": 128,
        "n_layers": N_LAYERS,
        "n_heads": 4,
        "ffn_config": {"ffn_hidden_size": 128, "moe_num_experts": 4, "moe_top_k": 2},
        "attn_config": {"kv_n_heads": 2, "clip_qkv": 8.0, "rope_theta": 10000.0},
    },
    "deepseek_v2": {"rope_scaling": YARN},
    "deepseek_v32": {"index_head_dim": 32, "index_n_heads": 2, "index_topk": WINDOW},
    "deepseek_v41": {
        "head_dim": 64,
        "o_groups": 2,
        "o_lora_rank": 32,
        "compress_ratios": [1, 4, 1, 4],
        "kv_source_layer_ids": [1, 3],
        "index_source_layer_ids": [1, 3],
        "index_n_heads": 2,
        "index_head_dim": 64,
        "index_topk": 4,
        "scoring_func": "sqrtsoftplus",
    },
    "exaone4": {"rope_scaling": None, "sliding_window_pattern": "LLLG"},
    "exaone_moe": {"layer_types": HALF, "is_moe_layer": [False, True, True, True]},
    "falcon_h1": {
        "mamba_d_ssm": 128,
        "mamba_d_head": 32,
        "mamba_n_heads": 4,
        "mamba_d_state": 16,
        "lm_head_multiplier": 1.0,
    },
    "gear": {"layer_types": ["full_attention", "sliding_attention", "conv_mixer", "sliding_attention"]},
    "gemma3": {"text_config": {**USUAL, "model_type": "gemma3_text"}},
    "gemma3n": {
        "text_config": {
            **USUAL,
            "model_type": "gemma3n",
            "num_kv_shared_layers": 2,
            "vocab_size_per_layer_input": 256,
            "hidden_size_per_layer_input": 64,
            "rope_local_base_freq": 10000.0,
            "final_logit_softcapping": 30.0,
            "layer_types": HALF,
            "activation_sparsity_pattern": [0.5] * N_LAYERS,
            "altup_num_inputs": 4,
            "altup_coef_clip": 1.0,
            "altup_correct_scale": True,
            "altup_active_idx": 0,
            "laurel_rank": 8,
        }
    },
    "gemma4_text": {
        "global_head_dim": 64,
        "vocab_size_per_layer_input": 256,
        "num_kv_shared_layers": 2,
        "hidden_size_per_layer_input": 32,
        "num_key_value_heads": 1,
        "tie_word_embeddings": True,
        "num_experts": None,
    },
    "glm4_moe": {"rope_scaling": None},
    "glm_moe_dsa": {
        "index_head_dim": 32,
        "index_n_heads": 2,
        "index_topk": WINDOW,
        "rope_parameters": ROPE,
        "moe_layer_freq": 1,
    },
    "gpt2": {"n_ctx": 512, "n_embd": 128, "n_head": 4, "n_layer": N_LAYERS, "n_positions": 512},
    "gpt_bigcode": {"n_embd": 128, "n_layer": N_LAYERS, "n_inner": 128, "n_head": 4, "n_positions": 512},
    "gpt_neox": {"rotary_emb_base": 10000, "rotary_pct": 0.25},
    "gpt_oss": {"layer_types": HALF},
    "gptj": {"n_embd": 128, "n_head": 4, "n_layer": N_LAYERS, "n_positions": 512, "rotary_dim": 16},
    "granitemoehybrid": {
        "layer_types": ["mamba", "attention"] * 2,
        "mamba_n_heads": 8,
        "mamba_d_head": 16,
        "mamba_proj_bias": False,
        "mamba_d_state": 16,
        "mamba_d_conv": 4,
        "mamba_n_groups": 1,
        "mamba_conv_bias": False,
    },
    "hunyuan": {
        "num_shared_expert": 1,
        "use_mixed_mlp_moe": True,
        "use_cla": True,
        "cla_share_factor": 2,
        "rope_scaling": {"alpha": 1000.0, "factor": 1.0, "type": "dynamic"},
    },
    "iquestloopcoder": {"loop_window_size": WINDOW},
    "jamba": {
        "attn_layer_offset": 1,
        "attn_layer_period": 2,
        "expert_layer_offset": 1,
        "expert_layer_period": 2,
        "mamba_d_conv": 4,
        "mamba_d_state": 16,
        "mamba_expand": 2,
    },
    "kimi_k25": {"text_config": LATENT_TEXT},
    "kimi_k3": {
        "text_config": {
            **USUAL,
            "model_type": "kimi_linear",
            "hidden_act": "situ",
            "activation_situ_beta": 1.0,
            "activation_situ_linear_beta": 1.0,
            "linear_attn_config": {"num_heads": 4, "head_dim": 32, "kda_layers": [1, 3], "short_conv_kernel_size": 4},
        }
    },
    "kimi_linear": {
        "linear_attn_config": {"num_heads": 4, "head_dim": 32, "kda_layers": [1, 3], "short_conv_kernel_size": 4},
        "model_max_length": 512,
    },
    "kimi_vl": {"text_config": LATENT_TEXT},
    "laguna": {"layer_types": HALF, "rope_parameters": {"full_attention": ROPE, "sliding_attention": ROPE}},
    "lfm2": {
        "block_dim": 128,
        "block_ff_dim": 128,
        "block_multiple_of": 4,
        "block_ffn_dim_multiplier": 1.0,
        "block_auto_adjust_ff_dim": False,
        "full_attn_idxs": [1, 3],
    },
    "lfm2_moe": {"use_expert_bias": True, "num_dense_layers": 1, "full_attn_idxs": [1, 3]},
    "lille-130m": {"block_size": 512, "n_embd": 128, "n_head": 4, "n_kv_heads": 2, "n_layer": N_LAYERS},
    "llama": {"layer_types": HALF},
    "llama4": {
        "text_config": {
            **USUAL,
            "model_type": "llama4",
            "attention_chunk_size": WINDOW,
            "num_experts_per_tok": 1,
            "interleave_moe_layer_step": 2,
            "intermediate_size_mlp": 128,
            "rope_scaling": None,
        }
    },
    "llama4_text": {"intermediate_size_mlp": 128, "no_rope_layers": [1, 1, 1, 0]},
    "longcat_flash": {
        "attention_method": "MLA",
        "zero_expert_type": "identity",
        "ffn_hidden_size": 128,
        "expert_ffn_hidden_size": 64,
        "zero_expert_num": 2,
        "mla_scale_q_lora": True,
        "mla_scale_kv_lora": True,
    },
    "mamba2": {"num_heads": 8, "head_dim": 16, "hidden_size": 64, "time_step_limit": (0.01, 10.0)},
    "mellum": {"layer_types": HALF, "rope_parameters": {"full_attention": ROPE, "sliding_attention": ROPE}},
    "mimo_v2_flash": {
        "hybrid_layer_pattern": [0, 1, 0, 1],
        "moe_layer_freq": [0, 1, 0, 1],
        "add_swa_attention_sink_bias": True,
        "add_full_attention_sink_bias": False,
        "sliding_window_size": WINDOW,
        "swa_rope_theta": 10000.0,
        "swa_num_attention_heads": 4,
        "swa_num_key_value_heads": 2,
        "swa_head_dim": 32,
        "swa_v_head_dim": 32,
        "routed_scaling_factor": None,
    },
    "minicpm3": {"rope_scaling": {"original_max_position_embeddings": 512}},
    "minimax": {"rotary_dim": 16},
    "minimax_m3_vl": {
        "text_config": {
            **USUAL,
            "dense_intermediate_size": 128,
            "mlp_layer_types": ["dense", "sparse", "sparse", "sparse"],
            "layer_types": ["full_attention", "sparse_attention"] * 2,
            "sparse_attention_freq": [0, 1, 0, 1],
            "index_n_heads": 2,
            "index_head_dim": 32,
            "index_block_size": 4,
            "index_topk_blocks": 2,
        }
    },
    "ministral3": {
        "layer_types": HALF,
        "rope_parameters": {**ROPE, "llama_4_scaling_beta": 0.1, "original_max_position_embeddings": 32},
    },
    "mistral3": {"text_config": {**USUAL, "model_type": "llama"}},
    "mistral4": {"rope_parameters": {**ROPE, "llama_4_scaling_beta": 0.1, "original_max_position_embeddings": 32}},
    "muse_glimmer": {"layer_types": HALF, "output_multiplier": 1.0},
    "muse_spark": {
        "text_config": {
            **USUAL,
            "post_norm_eps": 1e-5,
            "rope_parameters": ROPE,
            "layer_rope_theta": [10000.0, 0, 10000.0, 0],
            "layer_types": HALF,
            "final_logit_softcapping": 20.0,
            "output_multiplier": 1.0,
            "moe_hidden_size": 64,
            "num_shared_experts": 0,
        }
    },
    "nemotron-nas": {
        "block_configs": [
            {
                "attention": {"n_heads_in_group": 2, "no_op": layer == 1, "replace_with_linear": layer == 2},
                "ffn": {"ffn_mult": 1.3, "no_op": False, "replace_with_linear": False},
            }
            for layer in range(N_LAYERS)
        ]
    },
    "nemotron_h": {
        "mamba_num_heads": 8,
        "mamba_head_dim": 16,
        "mamba_proj_bias": False,
        "ssm_state_size": 16,
        "hybrid_override_pattern": ["M", "*", "M", "-"],
        "time_step_limit": [0.001, 10.0],
    },
    "olmo3": {"layer_types": HALF},
    "olmo_hybrid": {"layer_types": ["linear_attention", "full_attention"] * 2, "linear_allow_neg_eigval": True},
    "openelm": {
        "num_transformer_layers": N_LAYERS,
        "model_dim": 128,
        "ffn_dim_divisor": 32,
        "num_query_heads": [4] * N_LAYERS,
        "num_kv_heads": [2] * N_LAYERS,
        "ffn_multipliers": [1.0] * N_LAYERS,
    },
    "phi3": {"partial_rotary_factor": 1.0},
    "phimoe": {
        "rope_scaling": {
            "long_factor": [1.0] * 16,
            "long_mscale": 1.0,
            "short_factor": [1.0] * 16,
            "short_mscale": 1.0,
            "type": "longrope",
            "original_max_position_embeddings": 256,
        }
    },
    "phixtral": {"num_vocab": 256, "model_dim": 128, "num_heads": 4, "num_layers": N_LAYERS, "rotary_dim": 16},
    "pixtral": {"text_config": {**USUAL, "model_type": "llama"}},
    "plamo": {"n_shared_head": 2},
    "plamo2": {"hidden_size_per_head": 32, "mamba_d_state": 16, "mamba_num_heads": 4},
    "plamo3": {"window_size": WINDOW},
    "prism_hadamard_qwen35": {
        "text_config": {**QWEN_TEXT, "num_experts": 0},
        "tensor_namespace": "mlx-vlm-qwen3_5",
        "quantization": {"bits": 2, "group_size": 128, "mode": "affine"},
        "modules": [{"path": "model.layers.0.mlp.up_proj", "embedding": False, "dtype": "float16", "block": 0}],
    },
    "qwen": {"kv_channels": 32},
    "qwen2_vl": {"text_config": {**USUAL, "model_type": "qwen2"}},
    "qwen3_5": {"text_config": {**QWEN_TEXT, "num_experts": 0}},
    "qwen3_5_moe": {"text_config": QWEN_TEXT},
    "qwen3_next": {"full_attention_interval": 2},
    "qwen3_vl": {"text_config": QWEN_TEXT},
    "qwen3_vl_moe": {"text_config": {**QWEN_TEXT, "model_type": "qwen3_moe"}},
    "recurrent_gemma": {
        "conv1d_width": 4,
        "logits_soft_cap": 30.0,
        "block_types": ["recurrent", "attention"],
        "lru_width": 128,
    },
    "rwkv7": {"a_low_rank_dim": 16, "v_low_rank_dim": 16, "gate_low_rank_dim": 16, "decay_low_rank_dim": 16},
    "spark2_5": {
        "rope_parameters": {"full_attention": ROPE, "sliding_attention": ROPE},
        "hidden_act": "gelu",
        "layer_types": HALF,
    },
    "stablelm": {"use_qkv_bias": False},
    "step3p5": {"num_attention_groups": 2, "layer_types": HALF, "share_expert_dim": 64, "moe_layers_enum": "1,2,3"},
    "bailing_moe_v3": {"moe_shared_expert_intermediate_size": 64},
}
NEEDS["gemma4"] = {"text_config": {**USUAL, **NEEDS["gemma4_text"], "model_type": "gemma4_text"}}
NEEDS["lfm2-vl"] = {"text_config": {**USUAL, **NEEDS["lfm2"], "model_type": "lfm2"}}
NEEDS["longcat_flash_ngram"] = {
    **NEEDS["longcat_flash"],
    "ngram_vocab_size_ratio": 4,
    "emb_neighbor_num": 3,
    "emb_split_num": 2,
}
NEEDS["llama"] = {}


def model_types() -> list[str]:
    """Name every model type that mlx-lm can build here."""
    names = sorted(module.name for module in pkgutil.iter_modules(mlx_lm.models.__path__))
    return [name for name in names if _is_model(name)]


def _is_model(name: str) -> bool:
    try:
        module = importlib.import_module(f"mlx_lm.models.{name}")
    except SystemExit:
        return False  # olmo leaves the interpreter when a package of its own is missing
    return hasattr(module, "Model") and hasattr(module, "ModelArgs")


def make_config(model_type: str) -> dict[str, Any]:
    """Make a small configuration of one type."""
    return {**USUAL, **NEEDS.get(model_type, {}), "model_type": model_type}
