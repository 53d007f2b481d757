package compute

// Ceilings are the highest rates that a machine reaches; 0 if a rate was not measured.
type Ceilings struct {
	ReadBytesPerS  float64 `json:"readBytesPerS"`  // bytes read from memory
	FloatMulPerS   float64 `json:"floatMulPerS"`   // multiplications of float32, each with an addition
	IntegerMulPerS float64 `json:"integerMulPerS"` // multiplications of bytes, each with an addition
}
