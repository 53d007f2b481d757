// Products with weights of two and three bits.
#include "halves.h"

using Q2_K = MinimaOfHalves<Quants<256, 2, 0, false>>;
using Q3_K = Halves<Quants<256, 2, 1, true>>;

PRODUCTS(q2_k, Q2_K)
PRODUCTS(q3_k, Q3_K)
