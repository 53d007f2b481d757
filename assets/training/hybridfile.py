"""Writes a hybrid or a mixture as a GGUF file of the architecture qwen35 or qwen35moe. The layer of MTP comes after the others.

usage: python hybridfile.py --model MODEL.pt --vocabulary vocabulary.json --out FILE.gguf --type q8_0|f16|f32 --name NAME [--context 2048]
"""
import argparse
from pathlib import Path

import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFWriter, quantize

from hybrid import KERNEL, Attention, Hybrid, Layer, Mixture, load
from model import EPSILON, ROPE_THETA
from export import CHATML
from vocabulary import SPECIAL, Vocabulary

TYPES = {"f32": GGMLQuantizationType.F32, "f16": GGMLQuantizationType.F16, "q8_0": GGMLQuantizationType.Q8_0}
FILE_TYPE = {"f32": 0, "f16": 1, "q8_0": 7}
EXACT = ("ffn_gate_inp", "ssm_conv1d", "ssm_alpha", "ssm_beta")  # always F32, as vectors are: these matrices are small, and errors in them matter much


def metadata(out: GGUFWriter, model: Hybrid, v: Vocabulary, name: str, kind: str, context: int) -> None:
    s, layers = model.shape, len(model.blocks) + 1
    out.add_name(name)
    out.add_file_type(FILE_TYPE[kind])
    out.add_context_length(context)
    out.add_embedding_length(s.dim)
    out.add_block_count(layers)
    out.add_nextn_predict_layers(1)
    out.add_feed_forward_length(s.ffn)
    if s.experts:
        out.add_expert_count(s.experts)
        out.add_expert_used_count(s.used)
        out.add_expert_feed_forward_length(s.expert)
        out.add_expert_shared_feed_forward_length(s.ffn)
    out.add_head_count(s.heads)
    out.add_head_count_kv(s.kv)
    out.add_key_length(s.hd)
    out.add_value_length(s.hd)
    out.add_layer_norm_rms_eps(EPSILON)
    out.add_rope_freq_base(ROPE_THETA)
    out.add_rope_dimension_count(s.hd)
    out.add_rope_dimension_sections([s.hd // 2, 0, 0, 0])
    out.add_full_attention_interval(s.every)
    out.add_ssm_conv_kernel(KERNEL)
    out.add_ssm_state_size(s.hd)
    out.add_ssm_group_count(s.heads)
    out.add_ssm_time_step_rank(s.heads)
    out.add_ssm_inner_size(s.heads * s.hd)
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("qwen2")
    out.add_token_list(v.tokens)
    out.add_token_types([3 if t in SPECIAL else 1 for t in v.tokens])
    out.add_token_merges([f"{a} {b}" for a, b in v.merges])
    out.add_eos_token_id(v.im_end)
    out.add_pad_token_id(v.end_of_text)
    out.add_add_bos_token(False)
    out.add_chat_template(CHATML)


def mixed(layer: Layer) -> dict[str, torch.Tensor]:
    m = layer.mix
    if isinstance(m, Attention):
        return {"attn_q": m.wq.weight, "attn_k": m.wk.weight, "attn_v": m.wv.weight, "attn_output": m.wo.weight, "attn_q_norm": m.qn.weight, "attn_k_norm": m.kn.weight}
    return {
        "attn_qkv": m.qkv.weight, "attn_gate": m.gate.weight, "ssm_out": m.wo.weight, "ssm_alpha": m.alpha.weight, "ssm_beta": m.beta.weight,
        "ssm_conv1d": m.convolution[:, 0], "ssm_norm": m.norm.weight,
    }  # fmt: skip


def fed(layer: Layer) -> dict[str, torch.Tensor]:
    f = layer.feed
    if not isinstance(f, Mixture):
        return {"ffn_gate": f.gate.weight, "ffn_up": f.up.weight, "ffn_down": f.down.weight}
    width = f.shape.expert
    return {
        "ffn_gate_inp": f.router.weight, "ffn_gate_inp_shexp": f.weigh.weight,
        "ffn_gate_shexp": f.shared.gate.weight, "ffn_up_shexp": f.shared.up.weight, "ffn_down_shexp": f.shared.down.weight,
        "ffn_gate_exps": f.parts.gate.weight.unflatten(0, (-1, width)), "ffn_up_exps": f.parts.up.weight.unflatten(0, (-1, width)),
        "ffn_down_exps": f.parts.down.weight.unflatten(1, (-1, width)).transpose(0, 1),
    }  # fmt: skip


def tensors(model: Hybrid) -> dict[str, torch.Tensor]:
    """Returns the tensors by their names in the file."""
    h, layers = model.head, [*model.blocks, model.head.layer]
    out = {"token_embd.weight": model.emb.weight, "output_norm.weight": model.norm.weight}
    for n, layer in enumerate(layers):
        named = {"attn_norm": layer.attn_norm.weight, "post_attention_norm": layer.ffn_norm.weight} | mixed(layer) | fed(layer)
        out |= {f"blk.{n}.{name}.weight": weight for name, weight in named.items()}
        if not isinstance(layer.mix, Attention):
            out |= {f"blk.{n}.ssm_a": -layer.mix.rate.exp(), f"blk.{n}.ssm_dt.bias": layer.mix.shift}
    own = {"enorm": h.enorm, "hnorm": h.hnorm, "shared_head_norm": h.norm, "eh_proj": h.join}
    return out | {f"blk.{len(layers) - 1}.nextn.{name}.weight": m.weight for name, m in own.items()}


def write(path: Path, model: Hybrid, vocabulary: Vocabulary, name: str, kind: str, context: int) -> None:
    out = GGUFWriter(path, "qwen35moe" if model.shape.experts else "qwen35")
    metadata(out, model, vocabulary, name, kind, context)
    for tensor, weight in tensors(model).items():
        exact = weight.dim() == 1 or any(f".{part}." in tensor or f".{part}_shexp." in tensor for part in EXACT)
        chosen = TYPES["f32" if exact else kind]
        out.add_tensor(tensor, quantize(np.ascontiguousarray(weight.detach().float().numpy()), chosen), raw_dtype=chosen)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", type=Path, required=True)
    options.add_argument("--vocabulary", type=Path, required=True)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--type", choices=FILE_TYPE, required=True)
    options.add_argument("--name", required=True)
    options.add_argument("--context", type=int, default=2048)
    chosen = options.parse_args()
    write(chosen.out, load(chosen.model), Vocabulary.read(chosen.vocabulary), chosen.name, chosen.type, chosen.context)


if __name__ == "__main__":
    main()
