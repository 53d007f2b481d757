"""Trains the layer of MTP of a hybrid or a mixture; the rest of the model stays as it is.

usage: python mtp.py --model MODEL.pt --data DATA --out MODEL.pt --steps N [--eagle HEAD.safetensors] [--mix …]

The layer learns to guess what the model itself says, in answers only. The model reads each batch once, and its states are kept. A step of
training then costs one layer, not the whole model. With --eagle the layer begins as an EAGLE head of the model's teacher.
"""
import argparse
import time
from pathlib import Path

import torch

import headfile
from eagle import Eagle
from eaglehead import begin_as
from hybrid import Hybrid, load, save
from hybrids import answers, drafted, shown
from train import Streams, optimizers, rate_at

HELD = 8  # batches that are left out of the training, to measure on
SAVE_SECONDS = 60


class Read:
    """Batches that the model reads only once. A batch is its tokens, for each token whether the next one belongs to an answer, and the
    normed state after each token. From step `count` on, the kept batches are used again in the same order."""

    def __init__(self, model: Hybrid, streams: Streams, rows: int, count: int):
        self.model, self.streams, self.rows, self.count = model, streams, rows, count
        self.kept: list[tuple[torch.Tensor, ...]] = []

    @torch.no_grad()
    def at(self, step: int) -> tuple[torch.Tensor, ...]:
        if len(self.kept) < self.count:
            x, _, weight = self.streams.batch(self.rows)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                states = self.model.norm(self.model.hidden(x)[-1])
            self.kept.append((x, answers(weight), states.bfloat16()))
            return self.kept[-1]
        return self.kept[step % self.count]


def loss_at(model: Hybrid, batch: tuple[torch.Tensor, ...], steps: int) -> tuple[torch.Tensor, list[float]]:
    x, answer, states = batch
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return drafted(model, x, answer, states.float(), steps)


@torch.no_grad()
def agreements(model: Hybrid, held: Read, steps: int) -> str:
    each = torch.tensor([loss_at(model, held.at(n), steps)[1] for n in range(HELD)])
    return shown(each.mean(0).tolist())


def train(model: Hybrid, read: Read, held: Read, steps: int, count: int, rate: float, out: Path) -> None:
    changes, began, mean = optimizers(model, rate), time.time(), None
    kept = began
    for step in range(count):
        for o in changes:
            for group in o.param_groups:
                group["lr"] = rate * rate_at(step / count, step, 20)
            o.zero_grad(set_to_none=True)
        loss, _ = loss_at(model, read.at(step), steps)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.head.parameters(), 1.0)
        for o in changes:
            o.step()
        mean = loss.item() if mean is None else 0.95 * mean + 0.05 * loss.item()
        if step % 50 == 49:
            print(f"{time.time() - began:.0f}s batch {step + 1} loss {mean:.4f} agrees {agreements(model, held, steps)}", flush=True)
        if time.time() - kept > SAVE_SECONDS:
            save(model, out)
            kept = time.time()
    save(model, out)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", type=Path, required=True)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--steps", type=int, required=True)
    options.add_argument("--eagle", type=Path, help="begin as this EAGLE head")
    options.add_argument("--mix", default="program=2,general=1,drills=1,visitors=0.5")
    options.add_argument("--length", type=int, default=256)
    options.add_argument("--tokens", type=int, default=2048, help="tokens of a batch")
    options.add_argument("--batches", type=int, default=200, help="that are read, and learned again and again")
    options.add_argument("--rate", type=float, default=2e-3)
    options.add_argument("--draft", type=int, default=3, help="steps of a draft that are trained")
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--seed", type=int, default=17)
    chosen = options.parse_args()

    torch.set_num_threads(chosen.threads)
    torch.manual_seed(chosen.seed)
    model, rows = load(chosen.model), max(1, chosen.tokens // chosen.length)
    model.requires_grad_(False)
    model.head.requires_grad_(True)
    mix = {name: float(share) for name, share in (part.split("=") for part in chosen.mix.split(","))}
    held = Read(model, Streams(chosen.data, mix, chosen.length, chosen.seed + 1), rows, HELD)
    read = Read(model, Streams(chosen.data, mix, chosen.length, chosen.seed), rows, chosen.batches)
    print(f"before: agrees {agreements(model, held, chosen.draft)}", flush=True)
    if chosen.eagle:
        eagle = Eagle(model)
        eagle.restore(headfile.read(chosen.eagle))
        begin_as(model.head, eagle, model.emb(held.at(0)[0]), held.at(0)[2].float())
        print(f"as an EAGLE head: agrees {agreements(model, held, chosen.draft)}", flush=True)
    train(model, read, held, chosen.draft, chosen.steps, chosen.rate, chosen.out)


if __name__ == "__main__":
    main()
