package format

// The numbers of types that have code of their own.
const (
	F32  = 0
	F16  = 1
	Q8_0 = 8
	Q4_K = 12
	Q6_K = 14
	BF16 = 30
)

// valuesIQ4 are the numbers that quants of the IQ4 formats stand for. valuesFP4 are the numbers that quants of
// the FP4 formats stand for: twice the floating-point numbers with a sign, two bits of exponent and one bit of
// fraction (E2M1).
var (
	valuesIQ4 = [16]int8{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}
	valuesFP4 = [16]int8{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}
)

// loadable are the types that specula computes with. To add a type, add its row, and run make
// generate.
var loadable = []Format{
	{F32, "F32", 1, 4, nil},
	{F16, "F16", 1, 2, nil},
	{BF16, "BF16", 1, 2, nil},
	{Q8_0, "Q8_0", 32, 34, &Quants{Low: Plane{2, 8, 32}, Bias: 128, Signed: true, Deviation: 73.9}},
	{2, "Q4_0", 32, 18, &Quants{Low: Plane{2, 4, 16}, Bias: 8, Deviation: 4.61}},
	{3, "Q4_1", 32, 20, &Quants{Low: Plane{4, 4, 16}, Min: 2, Deviation: 4.61}},
	{6, "Q5_0", 32, 22, &Quants{Low: Plane{6, 4, 16}, High: Plane{2, 1, 1}, Bias: 16, Deviation: 9.23}},
	{7, "Q5_1", 32, 24, &Quants{Low: Plane{8, 4, 16}, High: Plane{4, 1, 1}, Min: 2, Deviation: 9.23}},
	{Q4_K, "Q4_K", 256, 144, &Quants{Low: Plane{16, 4, 32}, Min: 2, Factors: SixBits, FactorsAt: 4, Deviation: 258}},
	{13, "Q5_K", 256, 176, &Quants{Low: Plane{48, 4, 32}, High: Plane{16, 1, 32}, Min: 2, Factors: SixBits, FactorsAt: 4, Deviation: 527}},
	{Q6_K, "Q6_K", 256, 210, &Quants{Low: Plane{0, 4, 64}, High: Plane{128, 2, 32}, Bias: 32, Scale: 208, Factors: SignedBytes, FactorsAt: 192, Deviation: 1365}},
	{10, "Q2_K", 256, 84, &Quants{Low: Plane{16, 2, 32}, Scale: 80, Min: 82, Factors: Nibbles, Deviation: 13.9}},
	{11, "Q3_K", 256, 110, &Quants{Low: Plane{32, 2, 32}, High: Plane{0, 1, 32}, Bias: 4, Scale: 108, Factors: SignedSixBits, FactorsAt: 96, Deviation: 43.5}},
	{20, "IQ4_NL", 32, 18, &Quants{Low: Plane{2, 4, 16}, Values: &valuesIQ4, Deviation: 67.4}},
	{23, "IQ4_XS", 256, 136, &Quants{Low: Plane{8, 4, 16}, Values: &valuesIQ4, Factors: TileSixBits, FactorsAt: 2, Deviation: 1.25e+03}},
	{39, "MXFP4", 32, 17, &Quants{Low: Plane{1, 4, 16}, Values: &valuesFP4, ScaleKind: Exponent, Deviation: 5.85}},
	{40, "NVFP4", 64, 36, &Quants{Low: Plane{4, 4, 8}, Values: &valuesFP4, Factors: HalfScales, Deviation: 5.86}},
	{21, "IQ3_S", 256, 110, &Quants{Low: Plane{Bits: 4}, Values: &valuesIQ3S, Factors: TileBytes, unpack: unpackIQ3S, Deviation: 141}},
	{18, "IQ3_XXS", 256, 98, &Quants{Low: Plane{Bits: 4}, Values: &valuesIQ3XXS, Unit: 0.25, Factors: TileBytes, unpack: unpackIQ3XXS, Deviation: 143}},
	{22, "IQ2_S", 256, 82, &Quants{Low: Plane{Bits: 2}, High: Plane{Bits: 1}, Values: &valuesIQ2, Unit: 0.125, Factors: SignedBytes, unpack: unpackIQ2S, Deviation: 56.4}},
	{17, "IQ2_XS", 256, 74, &Quants{Low: Plane{Bits: 2}, High: Plane{Bits: 1}, Values: &valuesIQ2, Unit: 0.125, Factors: SignedBytes, unpack: unpackIQ2XS, Deviation: 55.9}},
	{16, "IQ2_XXS", 256, 66, &Quants{Low: Plane{Bits: 2}, High: Plane{Bits: 1}, Values: &valuesIQ2, Unit: 0.125, Factors: TileBytes, unpack: unpackIQ2XXS, Deviation: 53.4}},
	{29, "IQ1_M", 256, 56, &Quants{Low: Plane{Bits: 2}, High: Plane{Bits: 1}, Values: &valuesIQ1, ScaleKind: Spread, Scale: 48, Unit: 0.125, Factors: SignedBytes, unpack: unpackIQ1M, Deviation: 7.17}},
	{19, "IQ1_S", 256, 50, &Quants{Low: Plane{Bits: 2}, High: Plane{Bits: 1}, Values: &valuesIQ1, Unit: 0.125, Factors: TileBytes, unpack: unpackIQ1S, Deviation: 7.19}},
	{34, "TQ1_0", 256, 54, &Quants{Low: Plane{Bits: 2}, Bias: 1, Scale: 52, Factors: TileBytes, unpack: unpackTQ10, Deviation: 0.818}},
	{35, "TQ2_0", 256, 66, &Quants{Low: Plane{Bits: 2}, Bias: 1, Scale: 64, Factors: TileBytes, unpack: unpackTQ20, Deviation: 1.23}},
	{41, "Q1_0", 128, 18, &Quants{Low: Plane{Bits: 2}, Bias: 1, unpack: unpackQ10, Deviation: 1}},
	{42, "Q2_0", 64, 18, &Quants{Low: Plane{Bits: 2}, Bias: 1, unpack: unpackQ20, Deviation: 1.22}},
}

// others are the types that specula can only list, with the sizes of ggml's type traits. A number that
// neither list has was never used by ggml or has been withdrawn.
var others = []Format{
	{9, "Q8_1", 32, 36, nil}, {15, "Q8_K", 256, 292, nil},
	{24, "I8", 1, 1, nil}, {25, "I16", 1, 2, nil}, {26, "I32", 1, 4, nil}, {27, "I64", 1, 8, nil}, {28, "F64", 1, 8, nil},
}
