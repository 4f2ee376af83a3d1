"""LLaDA-8B Base and Instruct, LLaDA-1.5, and the shipped model: the same form in other sizes."""

from __future__ import annotations

from .config import Fields
from .transformer import Config

NAMES = {
    "embedding.weight": "model.transformer.wte.weight",
    "norm.weight": "model.transformer.ln_f.weight",
    "head.weight": "model.transformer.ff_out.weight",
    "layers.{}.attention_norm.weight": "model.transformer.blocks.{}.attn_norm.weight",
    "layers.{}.q.weight": "model.transformer.blocks.{}.q_proj.weight",
    "layers.{}.k.weight": "model.transformer.blocks.{}.k_proj.weight",
    "layers.{}.v.weight": "model.transformer.blocks.{}.v_proj.weight",
    "layers.{}.out.weight": "model.transformer.blocks.{}.attn_out.weight",
    "layers.{}.mlp_norm.weight": "model.transformer.blocks.{}.ff_norm.weight",
    "layers.{}.gate.weight": "model.transformer.blocks.{}.ff_proj.weight",
    "layers.{}.up.weight": "model.transformer.blocks.{}.up_proj.weight",
    "layers.{}.down.weight": "model.transformer.blocks.{}.ff_out.weight",
}

FORM = {
    "block_type": "llama",
    "activation_type": "silu",
    "layer_norm_type": "rms",
    "rope": True,
    "alibi": False,
    "attention_layer_norm": False,
    "input_emb_norm": False,
    "include_bias": False,
    "include_qkv_bias": False,
    "bias_for_layer_norm": False,
    "scale_logits": False,
    "weight_tying": False,
}


def config(fields: Fields) -> Config:
    """Our configuration from LLaDA's."""
    fields.must_be(FORM)
    heads = fields.whole("n_heads")
    return Config(
        width=fields.whole("d_model"),
        layers=fields.whole("n_layers"),
        heads=heads,
        kv_heads=fields.whole("n_kv_heads", heads),
        mlp_width=fields.whole("mlp_hidden_size"),
        vocabulary=fields.whole("embedding_size", fields.whole("vocab_size")),
        max_length=fields.whole("max_sequence_length"),
        mask_id=fields.whole("mask_token_id", low=0),
        end_ids=fields.end_ids(),
        norm_epsilon=fields.number("rms_norm_eps", 1e-5),
        rope_base=fields.number("rope_theta", 500_000.0),
    )


def fields(config: Config) -> dict[str, object]:
    """LLaDA's config.json for one of our configurations."""
    return {
        "model_type": "llada",
        "architectures": ["LLaDAModelLM"],
        **FORM,
        "d_model": config.width,
        "n_layers": config.layers,
        "n_heads": config.heads,
        "n_kv_heads": config.kv_heads,
        "mlp_hidden_size": config.mlp_width,
        "vocab_size": config.vocabulary,
        "embedding_size": config.vocabulary,
        "max_sequence_length": config.max_length,
        "mask_token_id": config.mask_id,
        "eos_token_id": list(config.end_ids),
        "rms_norm_eps": config.norm_epsilon,
        "rope_theta": config.rope_base,
    }
