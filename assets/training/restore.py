"""Makes a checkpoint of a pair's F16 file again, to go on training from: what ../reference holds needs no second copy.

usage: python restore.py --file FILE.gguf --shape target|draft --out MODEL.pt
"""
import argparse
from pathlib import Path

import numpy as np
import torch
from gguf import GGUFReader

from export import tensors
from model import LM, save
from train import SHAPES


def restored(file: Path, model: LM) -> LM:
    """The model with the file's weights."""
    found = {t.name: np.array(t.data) for t in GGUFReader(file).tensors}
    if (wanted := {name for name, _ in tensors(model)}) != found.keys():
        raise ValueError(f"{file}: has the tensors {sorted(found.keys() ^ wanted)} more or less than a model of this shape")
    for name, place in tensors(model):  # which are the memory of the model's parameters
        place[...] = found[name].reshape(place.shape)
    return model


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--file", type=Path, required=True)
    options.add_argument("--shape", choices=SHAPES, required=True)
    options.add_argument("--out", type=Path, required=True)
    chosen = options.parse_args()
    with torch.no_grad():
        save(restored(chosen.file, LM(SHAPES[chosen.shape])), chosen.out)


if __name__ == "__main__":
    main()
