"""Computes what trained heads guess, by a float32 forward pass of its own over target and heads: the reference of the program's tests.

usage: python headsreference.py --model target.gguf --heads FOLDER --reference reference.json --out heads.json

FOLDER has eagle/model.safetensors, medusa/model.safetensors or both. No code of the training heads is used: each guess is
computed anew from all pairs before it, without a cache. Each token of a draft is the head's best token.
"""
import argparse
import json
from pathlib import Path

import torch
import torch.nn.functional as F

import headfile
from model import EPSILON, LM, rotary, rotate
from reference import rounded
from restore import restored

GUESSES = 3
EVERY = 64  # one of so many scores is kept


def eagle_state(w: dict[str, torch.Tensor], target: LM, ids: list[int], states: torch.Tensor) -> torch.Tensor:
    """Returns the state that the head computes from the pairs (states[j], ids[j])."""
    s, n = target.shape, len(ids)
    layer = {name.removeprefix("layers.0."): t for name, t in w.items()}
    x = torch.cat([target.emb(torch.tensor(ids)), states], -1) @ w["fc.weight"].T
    cos, sin = rotary(n, s.hd)

    def heads(name: str) -> torch.Tensor:
        return (x @ layer[f"self_attn.{name}_proj.weight"].T).view(n, -1, s.hd).transpose(0, 1)

    q, k, v = rotate(heads("q"), cos, sin), rotate(heads("k"), cos, sin), heads("v")
    k, v = (t.repeat_interleave(s.heads // s.kv, 0) for t in (k, v))
    weights = torch.softmax((q[:, -1:] @ k.transpose(1, 2)) * s.hd**-0.5, -1)
    last = x[-1] + layer["self_attn.o_proj.weight"] @ (weights @ v).flatten()
    y = F.rms_norm(last, last.shape, layer["post_attention_layernorm.weight"], EPSILON)
    return last + layer["mlp.down_proj.weight"] @ (F.silu(layer["mlp.gate_proj.weight"] @ y) * (layer["mlp.up_proj.weight"] @ y))


def eagle(w: dict[str, torch.Tensor], target: LM, ids: list[int], states: torch.Tensor) -> list[torch.Tensor]:
    """Returns the scores of each token of a draft after ids. states are the target's states after all ids but the last."""
    out, tokens = [], ids[1:]
    for _ in range(GUESSES):
        state = eagle_state(w, target, tokens, states)
        out.append(target.emb.weight @ state)
        tokens, states = tokens + [int(out[-1].argmax())], torch.cat([states, state[None]])
    return out


def medusa(w: dict[str, torch.Tensor], target: LM, ids: list[int], states: torch.Tensor) -> list[torch.Tensor]:
    last, out = states[-1], []
    for i in range(GUESSES):
        state = last + F.silu(w[f"{i}.0.linear.weight"] @ last + w[f"{i}.0.linear.bias"])
        out.append(w["lm_head.weight"] @ state)
    return out


def told(scores: torch.Tensor) -> dict:
    best, second = scores.topk(2).values.tolist()
    return {"best": int(scores.argmax()), "top1_minus_top2": round(best - second, 5), "logits": [round(x, 5) for x in scores[::EVERY].tolist()]}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("model", "heads", "reference", "out"):
        options.add_argument(f"--{name}", type=Path, required=True)
    chosen = options.parse_args()
    torch.set_num_threads(1)
    files = {name: chosen.heads / name / "model.safetensors" for name in ("eagle", "medusa")}
    kinds = {name: headfile.read(path) for name, path in files.items() if path.exists()}
    cases = []
    with torch.no_grad():
        target = rounded(restored(chosen.model))
        for case in json.loads(chosen.reference.read_text())["cases"]:
            ids = case["ids"] + case["target"]["greedy"][:6]
            states = target.norm(target.hidden(torch.tensor([ids[:-1]]))[-1])[0]
            guesses = {name: [told(s) for s in {"eagle": eagle, "medusa": medusa}[name](w, target, ids, states)] for name, w in kinds.items()}
            cases.append({"ids": ids} | guesses)
    chosen.out.write_text(json.dumps({"cases": cases}) + "\n")


if __name__ == "__main__":
    main()
