"""Lets the target answer the questions of the training data, so that the draft learns from texts of the kind that it will have to guess: the
target's own.

usage: python samples.py --data DATA --model TARGET.pt --count N [--temperature 0.8] [--mix …]

The result is DATA/samples.npz, a stream of tokens like those of prepare.py. Prompts of the same length are answered together, so none needs padding.
"""
import argparse
import collections
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from model import LM, load, rotary
from vocabulary import ASSISTANT, TEMPLATE, Vocabulary

LONGEST_PROMPT, LONGEST_ANSWER = 200, 80
TOGETHER = 128


def prompts(folder: Path, mix: dict[str, float], count: int, vocabulary: Vocabulary, rng: np.random.Generator) -> dict[int, list[list[int]]]:
    """Returns beginnings of chats that end where an answer begins, grouped by their length in tokens."""
    by_length = collections.defaultdict(list)
    total = sum(mix.values())
    for name, share in mix.items():
        source = np.load(folder / f"{name}.npz")
        ids, who, starts = source["ids"], source["who"], source["starts"]
        for at in rng.choice(starts, int(count * share / total)):
            window = who[at : at + LONGEST_PROMPT]
            ends = np.flatnonzero(ids[at : at + LONGEST_PROMPT] == vocabulary.end_of_text)
            window = window[: ends[0]] if len(ends) else window
            answers = np.flatnonzero((window[1:] == ASSISTANT) & (window[:-1] == TEMPLATE)) + 1
            if len(answers):
                end = rng.choice(answers)
                by_length[int(end)].append(ids[at : at + end].astype(np.int64).tolist())
    return by_length


class Decoder:
    """Decodes a batch of rows of equal length, and keeps their keys and values."""

    def __init__(self, model: LM, rows: int, room: int):
        s = model.shape
        self.model, self.length = model, 0
        self.kv = [torch.zeros(2, rows, s.kv, room, s.hd, dtype=torch.bfloat16) for _ in range(s.layers)]
        self.cos, self.sin = (t.bfloat16() for t in rotary(room, s.hd))

    def read(self, ids: torch.Tensor) -> torch.Tensor:
        """Reads ids [rows, n] and returns the logits after the last of them, [rows, vocab]."""
        m, begin, end = self.model, self.length, self.length + ids.shape[1]
        x = m.emb(ids)
        for block, kv in zip(m.blocks, self.kv):
            x = block.cached(x, self.cos[begin:end], self.sin[begin:end], kv, begin)
        self.length = end
        return F.linear(m.norm(x[:, -1]), m.emb.weight).float()


def answers(model: LM, asked: list[list[int]], temperature: float, stop: int) -> list[list[int]]:
    decoder = Decoder(model, len(asked), len(asked[0]) + LONGEST_ANSWER)
    logits = decoder.read(torch.tensor(asked))
    out: list[list[int]] = [[] for _ in asked]
    going = set(range(len(asked)))
    for _ in range(LONGEST_ANSWER):
        if temperature == 0:
            drawn = logits.argmax(-1)
        else:
            drawn = torch.multinomial(F.softmax(logits / temperature, -1), 1)[:, 0]
        for row, token in enumerate(drawn.tolist()):
            if row in going:
                out[row].append(token)
                if token == stop:
                    going.discard(row)
        if not going:
            break
        logits = decoder.read(drawn[:, None])
    return out


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--model", type=Path, required=True)
    options.add_argument("--count", type=int, default=20000)
    options.add_argument("--temperature", type=float, default=0.8)
    options.add_argument("--mix", default="sgd=1,tm4=1,spc=1,program=2,general=2,drills=2")
    options.add_argument("--seed", type=int, default=5)
    chosen = options.parse_args()

    torch.set_num_threads(2)
    torch.manual_seed(chosen.seed)
    rng = np.random.default_rng(chosen.seed)
    vocabulary = Vocabulary.read(chosen.data / "vocabulary.json")
    newline = vocabulary.encode("\n")
    mix = {name: float(share) for name, share in (part.split("=") for part in chosen.mix.split(","))}
    model = load(chosen.model).eval().bfloat16()
    texts, began, drawn = [], time.time(), 0
    with torch.no_grad():
        for same in prompts(chosen.data, mix, chosen.count, vocabulary, rng).values():
            for at in range(0, len(same), TOGETHER):
                asked = same[at : at + TOGETHER]
                for prompt, answer in zip(asked, answers(model, asked, chosen.temperature, vocabulary.im_end)):
                    texts.append((prompt, answer))
                    drawn += len(answer)
    print(f"{len(texts)} answers, {drawn} tokens in {time.time() - began:.0f}s")
    rng.shuffle(texts := np.array(texts, dtype=object))
    ids, who, starts = [], [], []
    for prompt, answer in texts:
        starts.append(len(ids))
        ids += prompt + answer + newline + [vocabulary.end_of_text]
        who += [TEMPLATE] * len(prompt) + [ASSISTANT] * len(answer) + [TEMPLATE] * 2
    np.savez(chosen.data / "samples.npz", ids=np.array(ids, np.uint16), who=np.array(who, np.uint8), starts=np.array(starts, np.int64))


if __name__ == "__main__":
    main()
