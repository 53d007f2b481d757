"""Computes the scores of a hybrid or a mixture and of a draft of its layer of MTP, in float32: a reference for the program's tests.

usage: python hybridreference.py --model MODEL.pt --vocabulary vocabulary.json --out reference.json

For each prompt it writes the scores after every eighth token, and the scores of a draft after the prompt. Each token of the draft is the
head's best token. Of all scores, every eighth is kept.
"""
import argparse
import json
from pathlib import Path

import torch
import torch.nn.functional as F

from hybrid import STEPS, Hybrid, load
from reference import PROMPTS
from vocabulary import Vocabulary

EVERY = 8  # one of so many rows, and one of so many scores, is kept


def drafted(model: Hybrid, ids: list[int], states: torch.Tensor) -> tuple[list[int], list[list[float]]]:
    """Returns the tokens of a draft after ids, and the scores of each. states are the states after all ids but the last, [1, length, dim]."""
    tokens, scores = [], []
    for n in range(STEPS):
        embedded = model.emb(torch.tensor([ids + tokens]))
        behind = torch.cat([states, torch.zeros(1, n + 1, states.shape[-1])], 1)
        row = F.linear(model.head(embedded, behind, n + 1)[n][0, len(ids) - 2], model.emb.weight)
        scores.append(row[::EVERY].tolist())
        tokens.append(int(row.argmax()))
    return tokens, scores


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("model", "vocabulary", "out"):
        options.add_argument(f"--{name}", type=Path, required=True)
    chosen = options.parse_args()
    torch.set_num_threads(1)
    model, words, cases = load(chosen.model).eval(), Vocabulary.read(chosen.vocabulary), []
    with torch.no_grad():
        for prompt in PROMPTS:
            ids = words.prompt([("user", prompt)])
            states = model.norm(model.hidden(torch.tensor([ids]))[-1])
            rows = F.linear(states[0, ::EVERY], model.emb.weight)[:, ::EVERY]
            tokens, scores = drafted(model, ids, states[:, :-1])
            cases.append({"prompt": prompt, "ids": ids, "rows": rows.tolist(), "drafted": tokens, "guesses": scores})
    chosen.out.write_text(json.dumps({"every": EVERY, "cases": cases}))


if __name__ == "__main__":
    main()
