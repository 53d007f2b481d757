package compute

// Ceilings are the most that a machine can do, per second; 0 if it was not measured.
type Ceilings struct {
	ReadBytesPerS  float64 `json:"readBytesPerS"`  // from memory
	FloatMulPerS   float64 `json:"floatMulPerS"`   // of float32, each with an addition
	IntegerMulPerS float64 `json:"integerMulPerS"` // of bytes, each with an addition
}
