"""Trains Medusa heads or an EAGLE head for a target, which stays as it is.

usage: python heads.py --kind medusa|eagle --model TARGET.pt --data DATA --out FOLDER/model.safetensors --steps N [--threads N] [--init HEADS.safetensors]

The heads learn the target's distribution after each token of an answer. Once a minute the file is written, and two figures are printed for
each step of a draft, on dialogues left out of the training: how often its best token is the target's (temperature 0), and Σ min(p, q), the
probability that a token is accepted at temperature 1. Both assume that the earlier tokens of the draft were accepted.
"""
import argparse
import collections
import json
import random
import time
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F

import headfile
from eagle import Eagle
from medusa import Medusa
from model import LM, load
from train import Streams, divergence, rate_at
from vocabulary import ASSISTANT, Vocabulary

KINDS = {"medusa": Medusa, "eagle": Eagle}
REGRESSION = 0.2  # weight of the distance between guessed and true states
LATER = 0.8  # weight of a step divided by that of the step before it, because later steps are reached less often
REPORT_SECONDS = 60
HELD_WINDOWS = 5  # of each source


def held_out(data: Path, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns ids and who of windows of dialogues that were left out of the training, both [windows, length]. Each source has about
    HELD_WINDOWS windows."""
    vocabulary, by_source = Vocabulary.read(data / "vocabulary.json"), collections.defaultdict(list)
    for line in (data / "holdout.jsonl").read_text().splitlines():
        chat = json.loads(line)
        by_source[chat["source"]].append(chat["turns"])
    ids, who = [], []
    for chats in by_source.values():
        random.Random(1).shuffle(chats)
        tokens: list[tuple[int, int]] = []
        while chats and len(tokens) < HELD_WINDOWS * length:
            tokens += zip(*vocabulary.chat([(role, text) for role, text in chats.pop()]))
            tokens.append((vocabulary.end_of_text, 0))
        for at in range(0, len(tokens) - length + 1, length):
            ids.append([t for t, _ in tokens[at : at + length]])
            who.append([w for _, w in tokens[at : at + length]])
    return torch.tensor(ids), torch.tensor(who)


def steps(head: nn.Module, target: LM, ids: torch.Tensor, answer: torch.Tensor):
    """Yields for each step of a draft the guessed states, the target's states, and the target's scores. Each has one row for every place where
    a token of an answer would be drafted.

    answer says for each token of ids [batch, length] whether the next token belongs to an answer."""
    with torch.no_grad():
        embedded = target.emb(ids)
        states = target.norm(target.hidden(ids)[-1])
        scores = F.linear(states, target.emb.weight)
    for i, guessed in enumerate(head(embedded, states)):
        kept = answer[:, i + 1 :] & answer[:, 1 : answer.shape[1] - i]  # the first token of the draft belongs to an answer, too
        yield guessed[kept], states[:, i + 1 :][kept], scores[:, i + 1 :][kept].float()


def loss_of(head: nn.Module, target: LM, ids: torch.Tensor, answer: torch.Tensor) -> torch.Tensor:
    loss = torch.zeros(())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        for i, (guessed, states, scores) in enumerate(steps(head, target, ids, answer)):
            each = divergence(F.linear(guessed, target.emb.weight).float(), scores).mean()
            distance = F.mse_loss(guessed.float(), states.float()) / states.float().square().mean()
            loss = loss + LATER**i * (each + REGRESSION * distance)
    return loss


def acceptance(head: nn.Module, target: LM, ids: torch.Tensor, who: torch.Tensor) -> str:
    answer = torch.zeros_like(who, dtype=torch.bool)
    answer[:, :-1] = who[:, 1:] == ASSISTANT
    totals: list[list[float]] = []
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        for at in range(0, len(ids), 8):
            for i, (guessed, _, p) in enumerate(steps(head, target, ids[at : at + 8], answer[at : at + 8])):
                q = F.linear(guessed, target.emb.weight).float()
                best = (p.argmax(-1) == q.argmax(-1)).sum()
                shared = torch.minimum(F.softmax(p, -1), F.softmax(q, -1)).sum()
                totals += [[0.0, 0.0, 0.0]] if len(totals) == i else []
                totals[i] = [a + float(b) for a, b in zip(totals[i], (len(p), best, shared))]
    return "  ".join(f"step {i + 1}: {best / n:.3f} {shared / n:.3f}" for i, (n, best, shared) in enumerate(totals))


def train(head: nn.Module, target: LM, streams: Streams, held: tuple[torch.Tensor, torch.Tensor], rows: int, count: int, rate: float, out: Path) -> None:
    matrices = [p for p in head.parameters() if p.dim() == 2]
    rest = [p for p in head.parameters() if p.dim() == 1]
    optimizers = [torch.optim.Muon(matrices, lr=rate, weight_decay=0.0, adjust_lr_fn="match_rms_adamw"), torch.optim.AdamW(rest, lr=rate, weight_decay=0.0)]
    began = reported = time.time()
    mean = None
    for step in range(count):
        for o in optimizers:
            for group in o.param_groups:
                group["lr"] = rate * rate_at(step / count, step, 20)
        ids, _, weight = streams.batch(rows)
        loss = loss_of(head, target, ids, weight == 1)
        for o in optimizers:
            o.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(head.parameters(), 1.0)
        for o in optimizers:
            o.step()
        mean = loss.item() if mean is None else 0.95 * mean + 0.05 * loss.item()
        if time.time() - reported > REPORT_SECONDS:
            headfile.write(out, head.tensors(), head.config())
            print(f"{time.time() - began:.0f}s batch {step + 1} tokens {(step + 1) * ids.numel() / 1e6:.2f}M loss {mean:.4f}  {acceptance(head, target, *held)}", flush=True)
            reported = time.time()
    headfile.write(out, head.tensors(), head.config())
    print(f"done: {count} batches, {count * rows * streams.length / 1e6:.2f}M tokens  {acceptance(head, target, *held)}", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--kind", choices=KINDS, required=True)
    options.add_argument("--model", type=Path, required=True)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--steps", type=int, required=True)
    options.add_argument("--init", type=Path, help="go on from this file")
    options.add_argument("--mix", default="sgd=1,tm4=1,spc=1,program=2,general=2,drills=2")
    options.add_argument("--length", type=int, default=256)
    options.add_argument("--tokens", type=int, default=4096, help="tokens of a batch")
    options.add_argument("--rate", type=float, default=2e-3)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--seed", type=int, default=9)
    chosen = options.parse_args()

    torch.set_num_threads(chosen.threads)
    torch.manual_seed(chosen.seed)
    target = load(chosen.model).eval().requires_grad_(False)
    head = KINDS[chosen.kind](target)
    if chosen.init:
        head.restore(headfile.read(chosen.init))
    print(chosen.kind, sum(p.numel() for p in head.parameters()), "parameters", flush=True)
    mix = {name: float(share) for name, share in (part.split("=") for part in chosen.mix.split(","))}
    streams, held = Streams(chosen.data, mix, chosen.length, chosen.seed), held_out(chosen.data, chosen.length)
    print(f"untrained, on {len(held[0])} windows: {acceptance(head, target, *held)}", flush=True)
    train(head, target, streams, held, max(1, chosen.tokens // chosen.length), chosen.steps, chosen.rate, chosen.out)


if __name__ == "__main__":
    main()
