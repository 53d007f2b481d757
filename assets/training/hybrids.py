"""Trains a hybrid or a mixture of experts, with its layer of MTP. A model of the pair is the teacher.

usage: python hybrids.py --kind hybrid|mixture --teacher TARGET.pt --data DATA --out MODEL.pt --steps N [--init MODEL.pt] [--fit N] [--apart N]

The model begins as the teacher (grow.py, fit.py), and keeps the teacher's embedding. Its loss is the sum of three parts: the divergence of
its scores from the teacher's, the distance of its states after each layer from the teacher's, and both of these for each draft step of the
layer of MTP, which learns from the model itself. A mixture has a fourth part: how unevenly it chooses experts.
"""
import argparse
import time
from pathlib import Path
from typing import Callable

import torch
import torch.nn.functional as F

from fit import Part, fit, new_parts
from grow import grown, with_experts
from heads import LATER, REGRESSION
from hybrid import HYBRID, MIXTURE, SMOKE, SMOKE_MIXTURE, Hybrid, load, save
from model import LM
from model import load as load_pair
from train import Streams, divergence, optimizers, rate_at

SHAPES = {"hybrid": HYBRID, "mixture": MIXTURE, "smoke-hybrid": SMOKE, "smoke-mixture": SMOKE_MIXTURE}
STATES = 0.3  # weight of the distance from the teacher's states
UNEVEN = 0.01  # weight of the measure of how unevenly experts are chosen
SCORED = 0.25  # share of the places of answers at which scores are compared
SAVE_SECONDS = 60


def answers(weight: torch.Tensor) -> torch.Tensor:
    """Returns the places whose next token belongs to an answer. Tokens of questions have a weight below 1 (train.weights). The head must not
    learn them: nobody can guess them, and no draft has to guess them."""
    return weight >= 1


def some(mask: torch.Tensor) -> torch.Tensor:
    """Chooses a random part of the places in mask. Scores are compared only there, because they cost the most time; states everywhere."""
    return mask & (torch.rand(mask.shape) < SCORED)


def scores_at(model: LM | Hybrid, states: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    return F.linear(states[places], model.emb.weight).float()


def distance(got: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    return F.mse_loss(got.float(), wanted.float()) / wanted.float().square().mean()


def agreement(p: torch.Tensor, q: torch.Tensor) -> float:
    """The share of places at which both best tokens are the same."""
    return (p.argmax(-1) == q.argmax(-1)).float().mean().item()


def shown(numbers: list[float]) -> str:
    return " ".join(f"{a:.3f}" for a in numbers)


def learned(model: Hybrid, teacher: LM, x: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, float]:
    """Returns the model's normed states, its loss, and the share of an answer's places at which its best token is the teacher's. The states are
    not detached: a loss computed from them teaches the model, too."""
    with torch.no_grad():
        wanted = teacher.hidden(x)
    stream, places = model.hidden(x), some(weight > 0)
    states = model.norm(stream[-1])
    p, q = scores_at(teacher, teacher.norm(wanted[-1]), places), scores_at(model, states, places)
    loss = (divergence(q, p) * weight[places]).sum() / weight[places].sum()
    far = sum(distance(a, b) for a, b in zip(stream[1:], wanted[1:])) / len(model.blocks)
    of_answers = answers(weight[places])
    return states, loss + STATES * far, agreement(p[of_answers], q[of_answers])


def drafted(model: Hybrid, x: torch.Tensor, answer: torch.Tensor, states: torch.Tensor, steps: int) -> tuple[torch.Tensor, list[float]]:
    """Returns the loss of the head and, for each step of a draft, the share of places at which its best token is the model's. If states are not
    detached, the model learns, too: to leave in them what the head needs, which is the token after the next. What the head should guess is
    detached."""
    loss, agreed, wanted = torch.zeros(()), [], states.detach()
    for i, guessed in enumerate(model.head(model.emb(x), states, steps)):
        places = some(answer[:, i + 1 :] & answer[:, 1 : answer.shape[1] - i])
        with torch.no_grad():
            p = scores_at(model, wanted[:, i + 1 :], places)
        q = scores_at(model, guessed, places)
        loss = loss + LATER**i * (divergence(q, p).mean() + REGRESSION * distance(guessed, wanted[:, i + 1 :]))
        agreed.append(agreement(p, q))
    return loss, agreed


def loss_of(model: Hybrid, teacher: LM, x: torch.Tensor, weight: torch.Tensor, steps: int) -> tuple[torch.Tensor, list[float]]:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        states, loss, agreed = learned(model, teacher, x, weight)
        of_head, more = drafted(model, x, answers(weight), states, steps)
    return loss + of_head + UNEVEN * model.uneven(), [agreed, *more]  # the head has chosen experts, too


@torch.no_grad()
def agreements(model: Hybrid, teacher: LM, x: torch.Tensor, weight: torch.Tensor, steps: int) -> str:
    return shown(loss_of(model, teacher, x, weight, steps)[1])


class Apart:
    """The loss of parts that learn apart from each other. Each new part reads the teacher's states and learns to add what the teacher adds in its
    place (new_parts); the head learns to guess the next state. No gradient passes through another layer, and the teacher reads a batch only
    once. So a step costs less than one with loss_of. Train with this loss first, and with loss_of after it."""

    def __init__(self, model: Hybrid, teacher: LM, streams: Streams, rows: int, count: int):
        self.model, self.teacher, self.streams, self.rows, self.count = model, teacher, streams, rows, count
        self.kept: list[tuple] = []

    @torch.no_grad()
    def read(self) -> tuple[torch.Tensor, torch.Tensor, list[Part], torch.Tensor]:
        """Returns a batch: its tokens, the places of answers, the new parts with their inputs and wanted outputs, and the teacher's normed states."""
        x, _, weight = self.streams.batch(self.rows)
        stream = self.teacher.hidden(x)
        return x, answers(weight), list(new_parts(self.model, self.teacher, stream)), self.teacher.norm(stream[-1])

    def loss(self, step: int, steps: int) -> tuple[torch.Tensor, list[float]]:
        """Returns the loss, and a list: the parts' mean distance from the teacher, then the head's agreement for each step of a draft."""
        with torch.autocast("cpu", dtype=torch.bfloat16):
            if len(self.kept) < self.count:
                self.kept.append(self.read())
            x, answer, parts, states = self.kept[step % self.count if len(self.kept) == self.count else -1]
            far = [distance(part(x), added) for part, x, added in parts]
            of_head, agreed = drafted(self.model, x, answer, states, steps)
        loss = of_head + sum(far) + UNEVEN * self.model.uneven()
        return loss, [sum(f.item() for f in far) / max(1, len(far)), *agreed]


def train(model: Hybrid, loss_at: Callable[[int], tuple[torch.Tensor, list[float]]], named: str, count: int, rate: float, out: Path) -> None:
    """Trains for count steps. loss_at returns the loss and some numbers, which are printed after the name named."""
    changes, began = optimizers(model, rate), time.time()
    kept = began
    for step in range(count):
        for o in changes:
            for group in o.param_groups:
                group["lr"] = rate * rate_at(step / count, step, 10)
            o.zero_grad(set_to_none=True)
        loss, numbers = loss_at(step)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for o in changes:
            o.step()
        if step % 5 == 4:
            print(f"{time.time() - began:.0f}s batch {step + 1} loss {loss.item():.4f} {named} {shown(numbers)} uneven {model.uneven().item():.2f}", flush=True)
        if time.time() - kept > SAVE_SECONDS:
            save(model, out)
            kept = time.time()
    save(model, out)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--kind", choices=SHAPES, required=True)
    options.add_argument("--teacher", type=Path, required=True)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--steps", type=int, required=True)
    options.add_argument("--init", type=Path, help="go on from this model")
    options.add_argument("--mix", default="program=2,general=1,drills=1,visitors=0.5,samples=2")
    options.add_argument("--length", type=int, default=256)
    options.add_argument("--tokens", type=int, default=2048, help="tokens of a batch")
    options.add_argument("--rate", type=float, default=1e-3)
    options.add_argument("--draft", type=int, default=3, help="steps of a draft that are trained")
    options.add_argument("--fit", type=int, default=0, metavar="N", help="first fit the last matrix of each new part to N batches")
    options.add_argument("--apart", type=int, default=0, metavar="N", help="each part learns by itself, from N batches again and again")
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--seed", type=int, default=11)
    chosen = options.parse_args()

    torch.set_num_threads(chosen.threads)
    torch.manual_seed(chosen.seed)
    teacher = load_pair(chosen.teacher).eval().requires_grad_(False)
    shape = SHAPES[chosen.kind]
    model = load(chosen.init) if chosen.init else grown(teacher, shape)
    if model.shape != shape:
        model = with_experts(model, shape)
    model.emb.requires_grad_(False)
    print(chosen.kind, sum(p.numel() for p in model.parameters()), "parameters", flush=True)
    mix = {name: float(share) for name, share in (part.split("=") for part in chosen.mix.split(","))}
    streams, rows = Streams(chosen.data, mix, chosen.length, chosen.seed), max(1, chosen.tokens // chosen.length)
    if chosen.fit:
        x, _, weight = streams.batch(rows)
        print(f"before it is fitted: agrees {agreements(model, teacher, x, weight, chosen.draft)}", flush=True)
        began = time.time()
        fit(model, teacher, (streams.batch(rows)[0] for _ in range(chosen.fit)))
        print(f"{time.time() - began:.0f}s fitted to {chosen.fit} other batches: agrees {agreements(model, teacher, x, weight, chosen.draft)}", flush=True)
    if chosen.apart:
        apart = Apart(model, teacher, streams, rows, chosen.apart)
        train(model, lambda step: apart.loss(step, chosen.draft), "distance, and head agrees", chosen.steps, chosen.rate, chosen.out)
    else:
        train(model, lambda _: loss_of(model, teacher, *streams.batch(rows)[::2], chosen.draft), "agrees", chosen.steps, chosen.rate, chosen.out)


if __name__ == "__main__":
    main()
