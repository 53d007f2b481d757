package host

import (
	"errors"
	"slices"
	"testing"

	"specula/engine/compute"
)

func TestCopyOfABlock(t *testing.T) {
	b := New(1)
	defer b.Close()
	x, _ := b.Buffer(3, 2)
	wide, _ := b.Buffer(3, 5)
	copy(x.(*buffer).data, []float32{1, 2, 3, 4, 5, 6})
	if err := b.Copy(wide, x, 2, compute.Block{From: 1, Row: 1, Col: 3}); err != nil {
		t.Fatal(err)
	}
	if got, want := numbersIn(wide), []float32{0, 0, 0, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("the block gave %v, want %v", got, want)
	}
	if err := b.Copy(x, x, 1, compute.Block{From: 2}); err != nil {
		t.Fatal(err)
	}
	if d := x.(*buffer).data; d[0] != 5 || d[1] != 6 {
		t.Errorf("within one buffer row 0 became %v", d[:2])
	}
}

// numbersIn runs the queue and returns the numbers of a buffer.
func numbersIn(x compute.Buffer) []float32 {
	numbers, _ := rows(x, x.MaxRows())
	return numbers
}

// A copy waits for the operations before it, and those after it wait for the copy, although all of them are only
// queued.
func TestCopyKeepsItsPlaceInTheQueue(t *testing.T) {
	const m, cols = 64, 96
	b := New(3)
	defer b.Close()
	x, _ := b.Buffer(m, cols)
	y, _ := b.Buffer(m, cols)
	one, _ := b.Buffer(m, cols)
	for i := range m * cols {
		x.(*buffer).data[i], one.(*buffer).data[i] = float32(i/cols), 1
	}
	for range 200 {
		clear(numbersIn(y))
		for i := range m {
			numbersIn(x)[i*cols] = float32(i)
		}
		err := errors.Join(b.Add(x, one, m), b.Copy(y, x, m-1, compute.Block{From: 1}), b.Add(y, one, m), b.Copy(x, y, m, compute.Block{}))
		if err != nil {
			t.Fatal(err)
		}
		for i := range m - 1 {
			if got := numbersIn(x)[i*cols]; got != float32(i+3) {
				t.Fatalf("row %d is %v, want %v: 1 was added, row %d copied, and 1 added again", i, got, i+3, i+1)
			}
		}
	}
}

// A pass that leaves hidden states copies each row to the same row of the tap. Such a copy needs no phase of its own.
// A copy of few rows is done at once if nothing is queued.
func TestCopiesAddNoPhaseWhereNoneIsNeeded(t *testing.T) {
	b := New(1)
	defer b.Close()
	x, _ := b.Buffer(3, 2)
	y, _ := b.Buffer(3, 2)
	copy(x.(*buffer).data, []float32{1, 2, 3, 4, 5, 6})
	if err := b.Copy(y, x, 2, compute.Block{From: 1}); err != nil {
		t.Fatal(err)
	}
	if got, want := y.(*buffer).data, []float32{3, 4, 5, 6, 0, 0}; !b.queue.empty() || !slices.Equal(got, want) {
		t.Errorf("with nothing queued, a copy leaves %v, want %v at once", got, want)
	}
	err := errors.Join(b.Add(x, y, 3), b.Copy(y, x, 2, compute.Block{From: 1, Row: 1}), b.Add(y, x, 3))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(b.queue.phases); n > 0 {
		t.Errorf("a copy to the same rows has ended %d phases", n)
	}
	if got, want := numbersIn(y), []float32{7, 10, 16, 20, 10, 12}; !slices.Equal(got, want) {
		t.Errorf("the sums are %v, want %v", got, want)
	}
}
