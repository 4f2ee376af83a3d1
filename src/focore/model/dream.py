"""Dream-7B Base and Instruct, Dream-Coder, DiffuCoder: Qwen2.5's layout, outputs shifted."""

from __future__ import annotations

from .config import Fields
from .transformer import Config

NAMES = {
    "embedding.weight": "model.embed_tokens.weight",
    "norm.weight": "model.norm.weight",
    "head.weight": "lm_head.weight",
    "layers.{}.attention_norm.weight": "model.layers.{}.input_layernorm.weight",
    "layers.{}.q.weight": "model.layers.{}.self_attn.q_proj.weight",
    "layers.{}.k.weight": "model.layers.{}.self_attn.k_proj.weight",
    "layers.{}.v.weight": "model.layers.{}.self_attn.v_proj.weight",
    "layers.{}.q.bias": "model.layers.{}.self_attn.q_proj.bias",
    "layers.{}.k.bias": "model.layers.{}.self_attn.k_proj.bias",
    "layers.{}.v.bias": "model.layers.{}.self_attn.v_proj.bias",
    "layers.{}.out.weight": "model.layers.{}.self_attn.o_proj.weight",
    "layers.{}.mlp_norm.weight": "model.layers.{}.post_attention_layernorm.weight",
    "layers.{}.gate.weight": "model.layers.{}.mlp.gate_proj.weight",
    "layers.{}.up.weight": "model.layers.{}.mlp.up_proj.weight",
    "layers.{}.down.weight": "model.layers.{}.mlp.down_proj.weight",
}

# Without a generation_config.json, Dream's code takes the default of transformers. The published
# checkpoints have the file, and no cut in it.
TRANSFORMERS_TOP_K = 50


def config(fields: Fields) -> Config:
    """Our configuration from Dream's."""
    fields.must_be(
        {
            "hidden_act": "silu",
            "tie_word_embeddings": False,
            "use_sliding_window": False,
            "rope_scaling": None,
        }
    )
    heads = fields.whole("num_attention_heads")
    return Config(
        width=fields.whole("hidden_size"),
        layers=fields.whole("num_hidden_layers"),
        heads=heads,
        kv_heads=fields.whole("num_key_value_heads", heads),
        mlp_width=fields.whole("intermediate_size"),
        vocabulary=fields.whole("vocab_size"),
        max_length=fields.whole("max_position_embeddings"),
        mask_id=fields.whole("mask_token_id", low=0),
        end_ids=fields.end_ids(),
        norm_epsilon=fields.number("rms_norm_eps", 1e-6),
        rope_base=fields.number("rope_theta", 1_000_000.0),
        qkv_bias=True,
        shifted=True,
        own_top_k=fields.generation.get("top_k") if fields.generation else TRANSFORMERS_TOP_K,
    )
