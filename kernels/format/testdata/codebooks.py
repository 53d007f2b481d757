# Writes the codebooks of the formats whose quants stand for points of a grid, as the Python package gguf (0.19.0, or another) has
# them, to the file that the argument names. A point is 16 bits: eight numbers of two bits each, or four numbers of four bits, the
# first number lowest. codebook.go says what the numbers mean.
import sys

import numpy as np
from gguf import quants

with open(sys.argv[1], "wb") as out:
    for kind, values in [
        (quants.IQ1_S, [-1, 0, 1]),
        (quants.IQ2_XXS, [8, 25, 43]),
        (quants.IQ2_XS, [8, 25, 43]),
        (quants.IQ2_S, [8, 25, 43]),
        (quants.IQ3_XXS, [4, 12, 20, 28, 36, 44, 52, 62]),
        (quants.IQ3_S, [1, 3, 5, 7, 9, 11, 13, 15]),
    ]:
        kind.init_grid()
        points = kind.grid.reshape(kind.grid_shape)
        numbers = np.searchsorted(values, points)
        assert (np.array(values)[numbers] == points).all()
        bits = 16 // points.shape[-1]
        packed = (numbers.astype(np.uint16) << (bits * np.arange(points.shape[-1]))).sum(axis=-1)
        out.write(packed.astype("<u2").tobytes())
