package compute

// Reshaper is an optional interface of a Backend. It lets an operation treat each head of a row as a
// row of its own.
type Reshaper interface {
	// Reshape returns the numbers of x as a buffer with rows of cols numbers. Both are the same memory.
	// Call it between operations on one of them and operations on the other, each time.
	Reshape(x Buffer, cols int) Buffer
}
