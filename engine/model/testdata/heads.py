"""Makes the heads of head_oracle_test.go and computes what they guess, with PyTorch and the Llama layer of transformers 4.36.

Run in this folder: python3 heads.py. The hidden states are noise: what is compared is the head, not its target.
"""

import json

import torch
from safetensors.torch import save_file
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaDecoderLayer, LlamaRMSNorm

DIM, FFN, HEADS, KV_HEADS, VOCAB, DRAFT_VOCAB, PAIRS, STEPS = 64, 32, 4, 2, 50, 20, 5, [7, 11]
CONFIG = dict(hidden_size=DIM, intermediate_size=FFN, num_attention_heads=HEADS, num_key_value_heads=KV_HEADS,
              num_hidden_layers=1, vocab_size=VOCAB, rms_norm_eps=1e-5, rope_theta=7000.0, hidden_act="silu")
torch.manual_seed(5)
torch.set_default_dtype(torch.float64)


def noise(*shape, centre=0.0):
    return centre + torch.randn(*shape) / shape[-1] ** 0.5


def stored(tensors, dtype):
    """Rounds as the file does, so that both sides compute with the same numbers."""
    return {name: t.to(dtype) if t.is_floating_point() else t for name, t in tensors.items()}


def layer(width):
    made = LlamaDecoderLayer(LlamaConfig(**CONFIG), 0)
    attention = made.self_attn
    for name in ("q_proj", "k_proj", "v_proj"):
        rows = getattr(attention, name).weight.shape[0]
        setattr(attention, name, torch.nn.Linear(width, rows, bias=False))
    for p in made.parameters():
        p.data = noise(*p.shape) if p.dim() == 2 else noise(*p.shape, centre=1.0)
    return made


def causal(n):
    return torch.triu(torch.full((n, n), -1e9), 1)[None, None]


def attend(made, x):
    n = x.shape[0]
    return made.self_attn(x[None], attention_mask=causal(n), position_ids=torch.arange(n)[None])[0][0]


def feed(made, x):
    return x + made.mlp(made.post_attention_layernorm(x))


def chain(ids, hidden, states_of, logits_of, scores):
    """Adds to scores the logits after every prefix of the pairs, and after each step of a draft, which reads the state before it. All pairs are
    computed anew each time, without a cache."""
    ids, inputs, rows = list(ids), list(hidden), []
    for n in range(1, len(ids) + 1):
        states = states_of(ids[:n], inputs[:n])
        rows.append(logits_of(states[-1]))
    for step in STEPS:
        ids.append(step)
        inputs.append(states[-1])
        states = states_of(ids, inputs)
        rows.append(logits_of(states[-1]))
    scores["logits"] = [r.tolist() for r in rows]


def eagle():
    made = layer(DIM)
    w = {"layers.0." + k: v for k, v in made.state_dict().items() if "input_layernorm" not in k}
    w |= {"fc.weight": noise(DIM, 2 * DIM), "fc.bias": noise(DIM), "embed_tokens.weight": noise(VOCAB, DIM), "lm_head.weight": noise(VOCAB, DIM)}
    w = stored(w, torch.bfloat16)
    save_file(w, "eagle.safetensors")
    w = {k: v.to(torch.float64) for k, v in w.items()}
    made.input_layernorm = torch.nn.Identity()
    made.load_state_dict({k[9:]: v for k, v in w.items() if k.startswith("layers.0.")})

    def states_of(ids, inputs):
        x = torch.cat([w["embed_tokens.weight"][ids], torch.stack(inputs)], 1) @ w["fc.weight"].T + w["fc.bias"]
        return feed(made, x + attend(made, x))

    out = {"ids": [3, 1, 4, 1, 5], "hidden": noise(PAIRS, DIM).tolist(), "config": CONFIG}
    chain(out["ids"], torch.tensor(out["hidden"]), states_of, lambda s: w["lm_head.weight"] @ s, out)
    return out


def eagle3():
    made = layer(2 * DIM)
    w = {"midlayer." + k: v for k, v in made.state_dict().items()}
    kept = torch.tensor(sorted(torch.randperm(VOCAB)[:DRAFT_VOCAB].tolist()))
    present = torch.zeros(VOCAB, dtype=torch.bool)
    present[kept] = True
    w |= {"midlayer.hidden_norm.weight": noise(DIM, centre=1.0), "fc.weight": noise(DIM, 3 * DIM), "norm.weight": noise(DIM, centre=1.0),
          "embed_tokens.weight": noise(VOCAB, DIM), "lm_head.weight": noise(DRAFT_VOCAB, DIM), "d2t": kept - torch.arange(DRAFT_VOCAB), "t2d": present}
    w = stored(w, torch.float16)
    save_file(w, "eagle3.safetensors")
    w = {k: v.to(torch.float64) if v.is_floating_point() else v for k, v in w.items()}
    made.load_state_dict({k[9:]: v for k, v in w.items() if k.startswith("midlayer.") and "hidden_norm" not in k})

    def norm(name):
        n = LlamaRMSNorm(DIM, 1e-5)
        n.weight.data = w[name]
        return n

    def states_of(ids, inputs):
        state = torch.stack([w["fc.weight"] @ i if len(i) == 3 * DIM else i for i in inputs])
        both = torch.cat([made.input_layernorm(w["embed_tokens.weight"][ids]), norm("midlayer.hidden_norm.weight")(state)], 1)
        return feed(made, state + attend(made, both))

    config = dict(CONFIG, draft_vocab_size=DRAFT_VOCAB, eagle_aux_hidden_state_layer_ids=[0, 1, 2])
    out = {"ids": [3, 1, 4, 1, 5], "hidden": noise(PAIRS, 3 * DIM).tolist(), "config": config, "targets": kept.tolist()}
    chain(out["ids"], torch.tensor(out["hidden"]), states_of, lambda s: w["lm_head.weight"] @ norm("norm.weight")(s), out)
    return out


def medusa():
    w = {}
    for head in range(3):
        w[f"{head}.0.linear.weight"], w[f"{head}.0.linear.bias"], w[f"{head}.1.weight"] = noise(DIM, DIM), noise(DIM), noise(VOCAB, DIM)
    w = stored(w, torch.float32)
    save_file(w, "medusa.safetensors")
    w = {k: v.to(torch.float64) for k, v in w.items()}
    hidden, rows = noise(1, DIM), []
    for head in range(3):
        x = hidden[0] + torch.nn.functional.silu(w[f"{head}.0.linear.weight"] @ hidden[0] + w[f"{head}.0.linear.bias"])
        rows.append((w[f"{head}.1.weight"] @ x).tolist())
    return {"hidden": hidden.tolist(), "logits": rows, "config": {"medusa_num_heads": 3, "medusa_num_layers": 1}}


def rounded(x):
    if isinstance(x, float):
        return float(f"{x:.9g}")
    if isinstance(x, dict):
        return {k: rounded(v) for k, v in x.items()}
    return [rounded(v) for v in x] if isinstance(x, list) else x


with torch.no_grad(), open("heads.json", "w") as f:
    json.dump(rounded({"eagle": eagle(), "eagle3": eagle3(), "medusa": medusa()}), f)
