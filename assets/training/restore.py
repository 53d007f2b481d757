"""Makes a checkpoint from a file of the pair, to train it further or to compute its reference.

usage: python restore.py --file FILE.gguf --out MODEL.pt [--vocabulary vocabulary.json]

From a Q8_0 file the checkpoint gets the rounded weights; those of the training were more exact.
"""
import argparse
from pathlib import Path

import numpy as np
import torch
from gguf import GGUFReader, dequantize

from export import tensors
from model import LM, Shape, save
from vocabulary import Vocabulary


def shape(file: GGUFReader) -> Shape:
    def value(key: str) -> int:
        return int(file.fields["qwen3." + key].contents())

    return Shape(
        dim=value("embedding_length"), layers=value("block_count"), heads=value("attention.head_count"),
        kv=value("attention.head_count_kv"), hd=value("attention.key_length"), ffn=value("feed_forward_length"),
        vocab=next(int(t.shape[1]) for t in file.tensors if t.name == "token_embd.weight"),
    )  # fmt: skip


def vocabulary(path: Path) -> Vocabulary:
    fields = GGUFReader(path).fields
    merges = [tuple(m.split(" ")) for m in fields["tokenizer.ggml.merges"].contents()]
    return Vocabulary(fields["tokenizer.ggml.tokens"].contents(), merges)


def restored(path: Path) -> LM:
    """Returns the model with the weights of the file in float32."""
    file = GGUFReader(path)
    model = LM(shape(file))
    found = {t.name: dequantize(t.data, t.tensor_type) for t in file.tensors}
    if (wanted := {name for name, _ in tensors(model)}) != found.keys():
        raise ValueError(f"{path}: has the tensors {sorted(found.keys() ^ wanted)} more or less than a model of this shape")
    for name, place in tensors(model):  # the arrays share their memory with the model's parameters
        place[...] = found[name].reshape(place.shape)
    return model


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--file", type=Path, required=True)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--vocabulary", type=Path, help="write the file's vocabulary here, too")
    chosen = options.parse_args()
    if chosen.vocabulary:
        vocabulary(chosen.file).write(chosen.vocabulary)
    with torch.no_grad():
        save(restored(chosen.file), chosen.out)


if __name__ == "__main__":
    main()
