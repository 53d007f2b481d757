# Writes to the file named first what the Python package gguf (0.19.0, or another) makes of random blocks of the formats named after it:
# for each, its name, padded with zeros to 16 bytes, the sizes of both parts in bytes as two u32, the blocks, and their weights as float32.
import struct
import sys

import gguf
import numpy as np

random = np.random.default_rng(5)
with open(sys.argv[1], "wb") as out:
    for name in sys.argv[2:]:
        kind = gguf.GGMLQuantizationType[name]
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        count = 1024 // elements
        blocks = random.integers(0, 256, size=(1, count * size), dtype=np.uint8)
        weights = gguf.quants.dequantize(blocks, kind).astype("<f4").tobytes()
        out.write(struct.pack("<16sII", name.encode(), blocks.size, len(weights)) + blocks.tobytes() + weights)
