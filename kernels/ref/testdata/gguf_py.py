# python gguf_py.py FILE FORMAT…: writes to FILE what ggml makes of random blocks of each format. For a format it writes the name,
# padded with zeros to 16 bytes, the sizes of blocks and weights in bytes as two u32, the blocks, and their weights as float32. The
# environment variable GGML names ggml's libggml-base.so. If the Python package gguf (0.19.0, or another) makes other weights of a
# format that it knows, a printed line says where; places where both make NaN do not count.
import ctypes
import os
import struct
import sys

import gguf
import numpy as np

SIZES = {"Q1_0": (128, 18), "Q2_0": (64, 18)}
library = ctypes.CDLL(os.environ["GGML"])


def by_ggml(name, blocks, count):
    weights = np.zeros(count, dtype=np.float32)
    function = getattr(library, "dequantize_row_" + name.lower().replace("_k", "_K"))
    function(blocks.ctypes.data_as(ctypes.c_void_p), weights.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(count))
    return weights


random = np.random.default_rng(5)
with open(sys.argv[1], "wb") as out:
    for name in sys.argv[2:]:
        elements, size = SIZES.get(name) or gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]]
        count = 1024 // elements
        blocks = random.integers(0, 256, size=(1, count * size), dtype=np.uint8)
        weights = by_ggml(name, blocks, 1024)
        if name not in SIZES:
            other = gguf.quants.dequantize(blocks, gguf.GGMLQuantizationType[name])[0]
            if not np.array_equal(weights, other, equal_nan=True):
                print(name, "differs at", np.flatnonzero((weights != other) & ~(np.isnan(weights) & np.isnan(other))))
        weights = weights.astype("<f4").tobytes()
        out.write(struct.pack("<16sII", name.encode(), blocks.size, len(weights)) + blocks.tobytes() + weights)
