// Numbers of 16 bits.
#include "emulate.h"

namespace emulator {

float widen_bfloat16(unsigned short b) { return unpack<float>((uint32_t)b << 16); }

float widen_half(unsigned short h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 1023;
    if (exponent == 31) return unpack<float>(sign | 0x7f800000u | fraction << 13);
    if (exponent == 0) return unpack<float>(sign | (uint32_t)pack((float)fraction * 0x1p-24f));
    return unpack<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

unsigned short narrow_half(float f) {
    uint32_t u = (uint32_t)pack(f), sign = u >> 16 & 0x8000, magnitude = u & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return 0x7fff;  // the NaN that cvt gives
    if (magnitude >= 0x477ff000u) return (unsigned short)(sign | 0x7c00);
    if (magnitude < 0x38800000u) {               // subnormal: adding 0.5 shifts the fraction into place and rounds it
        float shifted = unpack<float>(magnitude) + 0.5f;
        return (unsigned short)(sign | ((uint32_t)pack(shifted) - 0x3f000000u));
    }
    return (unsigned short)(sign | ((magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000u) >> 13));
}

}  // namespace emulator
