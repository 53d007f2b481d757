// Products with weights in the formats that most files have.
#include "halves.h"
#include "scaled.h"

// The quants of Q6_K:
//   low:  the lower 4 bits as in Q4_K, 2048 bytes
//   high: the upper 2 bits, the top bit inverted: 2 × 512 bytes for 4 blocks each, in the same order;
//         the top bits of a byte belong to the first block, so that few shifts move them to the top
struct SixBits {
    static constexpr int bytes = 2048 + 1024, up = 2;
    struct Part { uint4 low; };
    struct Common { uint4 high[2]; };

    template <class Place> INLINE void load_common(Common &common, Place w, int lane) {
        common.high[0] = load16(w + (2048 + lane * 16));
        common.high[1] = load16(w + (2048 + 512 + lane * 16));
    }
    template <class Place> INLINE void load_part(Part &part, Place w, int number, int lane) { part.low = load16(w + (number * 512 + lane * 16)); }
    INLINE void unpack(unsigned (&quants)[2][4], const Part &part, const Common &common, int number) {
        UNROLL for (int i = 0; i < 4; i++) {
            unsigned low = word_of(part.low, i), high = word_of(number < 2 ? common.high[0] : common.high[1], i) << number % 2 * 4;
            quants[0][i] = (low << 2 & 0x3c3c3c3cu) | (high & 0xc0c0c0c0u);
            quants[1][i] = (low >> 2 & 0x3c3c3c3cu) | (high << 2 & 0xc0c0c0c0u);
        }
    }
    INLINE int at(const Element &p) {
        int low = p.slab[p.block / 2 * 512 + p.byte] >> p.block % 2 * 4 & 15;
        int high = (p.slab[2048 + p.block / 4 * 512 + p.byte] >> (6 - p.block % 4 * 2) & 3) ^ 2;
        return low + 16 * high - 32;
    }
};

using Q8_0 = Scaled<Quants<128, 8, 0, true>, BlockScales<false>>;
using Q4_K = Scaled<Quants<256, 4, 0, false>, Factors>;
using Q6_K = Halves<SixBits>;

PRODUCTS(q8_0, Q8_0)
PRODUCTS(q4_k, Q4_K)
PRODUCTS(q6_k, Q6_K)
