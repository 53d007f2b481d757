package cuda

// MostExperts is the largest number of experts of a mixture. The kernels keep a number for each of them in
// shared memory.
const MostExperts = 4096

// MostGroups is the largest number of groups of 8 choices that a pass has, if this many choices are made
// among this many experts. Choices of different experts are in different groups.
func MostGroups(choices, experts int) int {
	touched := min(choices, experts)
	return touched + (choices-touched)/groupRows
}

// GroupBytes is the size of a group in device memory.
const GroupBytes = 4 * (1 + groupRows)

// ExpertProduct is the launch that multiplies each row of x with the matrices of the experts that the row
// chose. One launch does this for 1 to MostJoined tensors of equal width; a Factor is the size of one
// expert's matrix in a tensor. groups is the largest number of groups of choices (MostGroups). The arguments
// are those of Product, but whatever m is none for an epilogue, and then
//
//	number of groups pointer, groups pointer, used int32
//
// as in src/chosen.h. used is the number of experts of a row, or 1 if x has a row for each choice. The
// result y of each tensor is (choices, n).
func (f *Format) ExpertProduct(groups int, matrices ...Factor) Launch {
	l := f.Product(1, matrices...)
	l.Kernel, l.GridY = "matmul_"+f.Name+"_experts", groups
	return l
}
