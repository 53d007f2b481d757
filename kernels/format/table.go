package format

// The numbers of types that code treats in a way of its own.
const (
	F32  = 0
	F16  = 1
	Q8_0 = 8
	Q4_K = 12
	Q6_K = 14
	BF16 = 30
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
}

// others are the types that specula can only list, with the sizes of ggml's type traits. Gaps are
// numbers that ggml never used or has withdrawn.
var others = []Format{
	{9, "Q8_1", 32, 36, nil}, {10, "Q2_K", 256, 84, nil}, {11, "Q3_K", 256, 110, nil}, {15, "Q8_K", 256, 292, nil},
	{16, "IQ2_XXS", 256, 66, nil}, {17, "IQ2_XS", 256, 74, nil}, {18, "IQ3_XXS", 256, 98, nil}, {19, "IQ1_S", 256, 50, nil},
	{20, "IQ4_NL", 32, 18, nil}, {21, "IQ3_S", 256, 110, nil}, {22, "IQ2_S", 256, 82, nil}, {23, "IQ4_XS", 256, 136, nil},
	{24, "I8", 1, 1, nil}, {25, "I16", 1, 2, nil}, {26, "I32", 1, 4, nil}, {27, "I64", 1, 8, nil}, {28, "F64", 1, 8, nil},
	{29, "IQ1_M", 256, 56, nil}, {34, "TQ1_0", 256, 54, nil}, {35, "TQ2_0", 256, 66, nil}, {39, "MXFP4", 32, 17, nil},
	{40, "NVFP4", 64, 36, nil}, {41, "Q1_0", 128, 18, nil},
}
