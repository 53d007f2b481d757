"""Averages checkpoints of one training, or of several that went on from the same checkpoint. The mean often answers better than each of
them (Wortsman et al. 2022).

usage: python average.py --out MODEL.pt [--shares 1,1,2] MODEL.pt MODEL.pt MODEL.pt …
"""
import argparse
from pathlib import Path

import torch

from model import LM, load, save


def average(models: list[LM], shares: list[float]) -> LM:
    """Overwrites the first model by the weighted mean of all models, which must have the same shape, and returns it."""
    if len(shares) != len(models):
        raise ValueError(f"{len(models)} models have {len(shares)} shares")
    if any(m.shape != models[0].shape for m in models):
        raise ValueError("models of different shapes have no mean")
    with torch.no_grad():
        for together in zip(*(m.parameters() for m in models)):
            together[0].copy_(sum(share * p for share, p in zip(shares, together)) / sum(shares))
    return models[0]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("models", type=Path, nargs="+")
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--shares", help="of the models in the mean; without it all have the same")
    chosen = options.parse_args()
    shares = [float(share) for share in chosen.shares.split(",")] if chosen.shares else [1.0] * len(chosen.models)
    save(average([load(path) for path in chosen.models], shares), chosen.out)


if __name__ == "__main__":
    main()
