// Products with weights of four and five bits in blocks of 32 with scales of their own (Q4_0 to Q5_1), and
// in five-bit super-blocks (Q5_K).
#include "scaled.h"

using Q4_0 = Scaled<Quants<128, 4, 0, true>, BlockScales<false>>;
using Q4_1 = Scaled<Quants<128, 4, 0, false>, BlockScales<true>>;
using Q5_0 = Scaled<Quants<128, 4, 1, true>, BlockScales<false>>;
using Q5_1 = Scaled<Quants<128, 4, 1, false>, BlockScales<true>>;
using Q5_K = Scaled<Quants<256, 4, 1, false>, Factors>;

PRODUCTS(q4_0, Q4_0)
PRODUCTS(q4_1, Q4_1)
PRODUCTS(q5_0, Q5_0)
PRODUCTS(q5_1, Q5_1)
PRODUCTS(q5_k, Q5_K)
