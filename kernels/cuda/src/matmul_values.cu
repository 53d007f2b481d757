// Products with weights of four bits that stand for values of a table.
#include "values.h"

using IQ4_NL = Scaled<Looked<128, IQ4Values>, BlockScales<false>>;
using IQ4_XS = Scaled<Looked<256, IQ4Values>, SignedFactors>;
using MXFP4 = Scaled<Looked<128, FP4Values>, ExponentScales>;

PRODUCTS(iq4_nl, IQ4_NL)
PRODUCTS(iq4_xs, IQ4_XS)
PRODUCTS(mxfp4, MXFP4)
