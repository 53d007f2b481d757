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

// ExpertProduct is the launch that multiplies chosen rows with the matrices of their experts, of up to
// MostJoined tensors of equal width. Each Factor is the size of the matrix of one expert. Its arguments
// are those of Product without an epilogue, with any m, and then
//
//	number of groups pointer, groups pointer, used int32
//
// as in src/chosen.h. y is (choices, n).
func (f *Format) ExpertProduct(groups int, matrices ...Factor) Launch {
	l := f.Product(1, matrices...)
	l.Kernel, l.GridY = "matmul_"+f.Name+"_experts", groups
	return l
}
