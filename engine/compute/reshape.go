package compute

// Reshaper is an optional interface of a Backend. It lets an operation treat each head of a row as a
// row of its own.
type Reshaper interface {
	// Reshape returns the numbers of x as a buffer with rows of cols numbers, in the same memory. Call it
	// each time between operations on x and operations on the result.
	Reshape(x Buffer, cols int) Buffer
}
