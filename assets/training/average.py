"""Averages checkpoints that went on from each other or from the same one: the mean answers better than any of them (Wortsman et al. 2022).

usage: python average.py --out MODEL.pt MODEL.pt MODEL.pt …
"""
import argparse
from pathlib import Path

import torch

from model import LM, load, save


def average(models: list[LM]) -> LM:
    """The mean of models of one shape, weight by weight; the first of them holds it."""
    if any(m.shape != models[0].shape for m in models):
        raise ValueError("models of different shapes have no mean")
    with torch.no_grad():
        for together in zip(*(m.parameters() for m in models)):
            together[0].copy_(torch.stack(together).mean(0))
    return models[0]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("models", type=Path, nargs="+")
    options.add_argument("--out", type=Path, required=True)
    chosen = options.parse_args()
    save(average([load(path) for path in chosen.models]), chosen.out)


if __name__ == "__main__":
    main()
