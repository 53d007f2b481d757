// Package graph draws series of numbers with characters: lines in braille, two columns and four rows of dots a cell, or in
// ASCII where the terminal has nothing better. Functions are pure: values in, lines of an exact size out, without colour.
package graph

// Plot is a line over equidistant steps, newest at the right.
type Plot struct {
	Values []float64 // NaN is a gap
	Min    float64   // value at the bottom row
	Max    float64   // value at the top row
	ASCII  bool
}
