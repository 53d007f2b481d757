"""Writes a trained model as a GGUF v3 file.

usage: python export.py --model MODEL.pt --vocabulary vocabulary.json --out FILE.gguf --type q8_0|f16 --name NAME [--context 2048]
"""
import argparse
import struct
from pathlib import Path
from typing import BinaryIO

import numpy as np
import torch

from model import EPSILON, ROPE_THETA, LM, load
from vocabulary import SPECIAL, Vocabulary

ALIGNMENT = 32
TENSOR_TYPE = {"f32": 0, "f16": 1, "q8_0": 8}
FILE_TYPE = {"f16": 1, "q8_0": 7}
U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
CHATML = (
    "{%- for message in messages %}{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"
)


def string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key: str, kind: int, value) -> bytes:
    head = string(key) + struct.pack("<I", kind)
    if kind == ARRAY:
        items, values = value
        body = b"".join(map(string, values)) if items == STRING else np.array(values, "<i4").tobytes()
        return head + struct.pack("<IQ", items, len(values)) + body
    if kind == STRING:
        return head + string(value)
    return head + struct.pack({U32: "<I", F32: "<f", BOOL: "<?"}[kind], value)


def metadata(model: LM, v: Vocabulary, name: str, kind: str, context: int) -> list[bytes]:
    s, a = model.shape, "qwen3."
    return [
        entry("general.architecture", STRING, "qwen3"),
        entry("general.name", STRING, name),
        entry("general.file_type", U32, FILE_TYPE[kind]),
        entry("general.alignment", U32, ALIGNMENT),
        entry(a + "context_length", U32, context),
        entry(a + "embedding_length", U32, s.dim),
        entry(a + "block_count", U32, s.layers),
        entry(a + "feed_forward_length", U32, s.ffn),
        entry(a + "attention.head_count", U32, s.heads),
        entry(a + "attention.head_count_kv", U32, s.kv),
        entry(a + "attention.key_length", U32, s.hd),
        entry(a + "attention.value_length", U32, s.hd),
        entry(a + "attention.layer_norm_rms_epsilon", F32, EPSILON),
        entry(a + "rope.freq_base", F32, ROPE_THETA),
        entry(a + "rope.dimension_count", U32, s.hd),
        entry("tokenizer.ggml.model", STRING, "gpt2"),
        entry("tokenizer.ggml.pre", STRING, "qwen2"),
        entry("tokenizer.ggml.tokens", ARRAY, (STRING, v.tokens)),
        entry("tokenizer.ggml.token_type", ARRAY, (I32, [3 if t in SPECIAL else 1 for t in v.tokens])),
        entry("tokenizer.ggml.merges", ARRAY, (STRING, [f"{a} {b}" for a, b in v.merges])),
        entry("tokenizer.ggml.eos_token_id", U32, v.im_end),
        entry("tokenizer.ggml.padding_token_id", U32, v.end_of_text),
        entry("tokenizer.ggml.add_bos_token", BOOL, False),
        entry("tokenizer.chat_template", STRING, CHATML),
    ]


NAMES = {
    "attn_norm": "attn_norm", "attn_q": "wq", "attn_k": "wk", "attn_v": "wv", "attn_output": "wo", "attn_q_norm": "qn", "attn_k_norm": "kn",
    "ffn_norm": "ffn_norm", "ffn_gate": "gate", "ffn_up": "up", "ffn_down": "down",
}  # fmt: skip


def tensors(model: LM) -> list[tuple[str, np.ndarray]]:
    state = {k: p.detach().float().numpy() for k, p in model.state_dict().items()}
    out = [("token_embd.weight", state["emb.weight"])]
    for n in range(model.shape.layers):
        out += [(f"blk.{n}.{theirs}.weight", state[f"blocks.{n}.{ours}.weight"]) for theirs, ours in NAMES.items()]
    return out + [("output_norm.weight", state["norm.weight"])]


def q8_0(weights: np.ndarray) -> bytes:
    """Packs numbers in blocks of 32: a scale in F16, then 32 bytes. It rounds half away from zero, as llama.cpp does."""
    blocks = weights.reshape(-1, 32)
    scale = np.abs(blocks).max(1) / 127.0
    q = np.where(scale[:, None] > 0, blocks / np.where(scale, scale, 1)[:, None], 0)
    out = np.zeros(len(blocks), [("scale", "<f2"), ("q", "i1", 32)])
    out["scale"], out["q"] = scale, (np.sign(q) * np.floor(np.abs(q) + 0.5)).astype(np.int8)
    return out.tobytes()


def encoded(weights: np.ndarray, kind: str) -> tuple[int, bytes]:
    """Returns the type and the bytes of a tensor. Vectors are always F32."""
    if weights.ndim == 1:
        return TENSOR_TYPE["f32"], weights.astype("<f4").tobytes()
    return TENSOR_TYPE[kind], weights.astype("<f2").tobytes() if kind == "f16" else q8_0(weights)


def padding(length: int) -> bytes:
    return bytes(-length % ALIGNMENT)


def write(out: BinaryIO, model: LM, vocabulary: Vocabulary, name: str, kind: str, context: int) -> None:
    entries, listed, data = metadata(model, vocabulary, name, kind, context), b"", []
    offset = 0
    for tensor, weights in tensors(model):
        code, body = encoded(weights, kind)
        shape = b"".join(struct.pack("<Q", d) for d in reversed(weights.shape))
        listed += string(tensor) + struct.pack("<I", weights.ndim) + shape + struct.pack("<IQ", code, offset)
        data.append(body + padding(len(body)))
        offset += len(data[-1])
    head = b"GGUF" + struct.pack("<IQQ", 3, len(data), len(entries)) + b"".join(entries) + listed
    out.write(head + padding(len(head)) + b"".join(data))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", type=Path, required=True)
    options.add_argument("--vocabulary", type=Path, required=True)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--type", choices=FILE_TYPE, required=True)
    options.add_argument("--name", required=True)
    options.add_argument("--context", type=int, default=2048)
    chosen = options.parse_args()
    with torch.no_grad(), open(chosen.out, "wb") as out:
        write(out, load(chosen.model), Vocabulary.read(chosen.vocabulary), chosen.name, chosen.type, chosen.context)


if __name__ == "__main__":
    main()
