"""Trains the target, or a draft that learns from the target.

usage: python train.py --data DATA --model target|draft|smoke --out MODEL.pt --steps N
                       [--init MODEL.pt] [--teacher TARGET.pt] [--mix sgd=1,program=3,…] [--length 256] [--device cpu|cuda]

Each window of a batch begins with a chat. Muon trains the matrices except the embedding, AdamW the other weights, in bfloat16 with weights kept in float32.
With a teacher, the loss is the draft's divergence from the teacher. A part of this divergence is 1 − Σ min(p, q), the probability that a
drafted token is rejected.
"""
import argparse
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from model import DRAFT, LM, SMOKE, TARGET, Shape, grown, load, save, shrunk
from vocabulary import ASSISTANT, USER

SHAPES = {"target": TARGET, "draft": DRAFT, "smoke": SMOKE}
USER_WEIGHT = 0.15  # weight of the user's tokens: predicting them teaches a little about the language


FIRST, FIRST_WEIGHT = 6, 3.0  # the first 6 tokens of an answer have the weight 3, because they decide which answer it becomes


def weights(who: torch.Tensor) -> torch.Tensor:
    """Returns the weight of the prediction of each token but the first, [rows, length]. who [rows, length + 1] says whose token it is."""
    said = who == ASSISTANT
    old = torch.zeros_like(said)  # True where FIRST tokens of the same answer come before the token
    old[:, FIRST:] = said.unfold(1, FIRST + 1, 1).all(-1)
    weight = said.float() * torch.where(old, 1.0, FIRST_WEIGHT) + USER_WEIGHT * (who == USER).float()
    return weight[:, 1:]


class Streams:
    """Draws windows of length + 1 tokens, each from the beginning of a chat on. Sources are drawn in proportion to their shares."""

    def __init__(self, folder: Path, mix: dict[str, float], length: int, seed: int):
        self.rng, self.length = np.random.default_rng(seed), length
        self.names, shares = list(mix), np.array(list(mix.values()), float)
        self.shares = shares / shares.sum()
        self.sources = {name: dict(np.load(folder / f"{name}.npz")) for name in mix}
        for s in self.sources.values():
            s["starts"] = s["starts"][s["starts"] + length + 1 <= len(s["ids"])]

    def batch(self, rows: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Returns ids and the ids that follow them, both [rows, length], and the weight of each prediction."""
        ids, who = [], []
        for name in self.rng.choice(self.names, rows, p=self.shares):
            s = self.sources[name]
            at = s["starts"][self.rng.integers(len(s["starts"]))]
            ids.append(s["ids"][at : at + self.length + 1].astype(np.int64))
            who.append(s["who"][at : at + self.length + 1])
        x, w = torch.from_numpy(np.stack(ids)), torch.from_numpy(np.stack(who))
        return x[:, :-1], x[:, 1:], weights(w)


def divergence(student: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
    """Returns, for each token, half the sum of the Kullback–Leibler divergence and the total variation distances at temperatures 1 and 0.4.
    Both logits are [n, vocab]."""
    log_q, log_p = F.log_softmax(student, -1), F.log_softmax(teacher, -1)
    p = log_p.exp()
    loss = 0.5 * (p * (log_p - log_q)).sum(-1) + 0.5 * 0.5 * (p - log_q.exp()).abs().sum(-1)
    cold = 0.5 * (F.softmax(teacher / 0.4, -1) - F.softmax(student / 0.4, -1)).abs().sum(-1)
    return loss + 0.5 * cold


def optimizers(model: LM, rate: float) -> list[torch.optim.Optimizer]:
    matrices = [p for n, p in model.named_parameters() if p.dim() == 2 and n != "emb.weight"]
    rest = [p for n, p in model.named_parameters() if p.dim() != 2]
    return [
        torch.optim.Muon(matrices, lr=rate, weight_decay=0.05, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(
            [{"params": [model.emb.weight], "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}],
            lr=rate, betas=(0.9, 0.95), eps=1e-8, fused=True,
        ),
    ]


PIECE = 512  # tokens whose logits are in memory at a time: 8 MiB, which fit into a processor's cache


def learn(model: LM, teacher: LM | None, x: torch.Tensor, y: torch.Tensor, weight: torch.Tensor) -> float:
    """Adds the gradient of the weighted mean loss over the tokens with a weight above 0, and returns this loss. It computes logits for these
    tokens only, PIECE tokens at a time."""
    kept = weight.reshape(-1) > 0
    weight = (weight.reshape(-1)[kept] / weight.sum()).split(PIECE)
    with torch.autocast(x.device.type, dtype=torch.bfloat16):
        states = model.norm(model.hidden(x)[-1]).flatten(0, 1)[kept]
        if teacher is not None:
            with torch.no_grad():
                wanted = teacher.norm(teacher.hidden(x)[-1]).flatten(0, 1)[kept].split(PIECE)
    leaves, total = states.detach().requires_grad_(), 0.0
    for n, (piece, right) in enumerate(zip(leaves.split(PIECE), y.reshape(-1)[kept].split(PIECE))):
        with torch.autocast(x.device.type, dtype=torch.bfloat16):
            logits = F.linear(piece, model.emb.weight).float()
            if teacher is not None:
                with torch.no_grad():
                    logits_wanted = F.linear(wanted[n], teacher.emb.weight).float()
        each = F.cross_entropy(logits, right, reduction="none") if teacher is None else divergence(logits, logits_wanted)
        loss = (each * weight[n]).sum()
        loss.backward()
        total += loss.item()
    states.backward(leaves.grad)
    return total


def rate_at(fraction: float, step: int, warm: int) -> float:
    """Returns the factor of the learning rate: it rises over the first warm steps, is then constant, and falls linearly over the last half."""
    return min(1.0, (step + 1) / warm) * (1.0 if fraction < 0.5 else max(0.02, 2 * (1 - fraction)))


def train(model: LM, teacher: LM | None, streams: Streams, rows: int, steps: int, rate: float, out: Path) -> None:
    changes, device = optimizers(model, rate), model.emb.weight.device
    began = kept = time.time()
    mean = None
    for step in range(steps):
        for o in changes:
            for group in o.param_groups:
                group["lr"] = rate * rate_at(step / steps, step, 50)
        for o in changes:
            o.zero_grad(set_to_none=True)
        loss = learn(model, teacher, *(t.to(device) for t in streams.batch(rows)))
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for o in changes:
            o.step()
        mean = loss if mean is None else 0.97 * mean + 0.03 * loss
        if (step + 1) % 25 == 0:
            elapsed, tokens = time.time() - began, (step + 1) * rows * streams.length
            print(f"step {step + 1} loss {mean:.4f} tokens {tokens / 1e6:.2f}M {tokens / elapsed:.0f}/s {elapsed:.0f}s", flush=True)
        if time.time() - kept > 180:
            save(model, out)
            kept = time.time()
    save(model, out)


def begin(shape: Shape, init: Path | None) -> LM:
    if init is None:
        return LM(shape)
    model = load(init)
    if model.shape == shape:
        return model
    return grown(model, shape) if shape.layers >= model.shape.layers else shrunk(model, shape)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--model", choices=SHAPES, required=True)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--steps", type=int, required=True)
    options.add_argument("--init", type=Path)
    options.add_argument("--teacher", type=Path)
    options.add_argument("--mix", default="sgd=1,tm4=1,spc=1,program=3,general=3,drills=2")
    options.add_argument("--length", type=int, default=256)
    options.add_argument("--tokens", type=int, default=8192, help="tokens of a batch")
    options.add_argument("--rate", type=float, default=2e-3)
    options.add_argument("--device", default="cpu")
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--seed", type=int, default=3)
    chosen = options.parse_args()

    torch.set_num_threads(chosen.threads)
    torch.manual_seed(chosen.seed)
    model = begin(SHAPES[chosen.model], chosen.init).to(chosen.device)
    model.hidden = torch.compile(model.hidden, dynamic=False)  # fuses the operations between matrix products
    print(model.shape, sum(p.numel() for p in model.parameters()), "parameters", flush=True)
    mix = {name: float(share) for name, share in (part.split("=") for part in chosen.mix.split(","))}
    streams = Streams(chosen.data, mix, chosen.length, chosen.seed)
    teacher = None
    if chosen.teacher:
        teacher = load(chosen.teacher).eval().to(chosen.device)
        teacher.hidden = torch.compile(teacher.hidden, dynamic=False)
    train(model, teacher, streams, max(1, chosen.tokens // chosen.length), chosen.steps, chosen.rate, chosen.out)


if __name__ == "__main__":
    main()
