//go:build cuda && linux && cgo

package gpu_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/kernels/ref"
)

// The device tells which experts rows chose, and adds up over calls how many different ones each call chose. Rows of
// equal scores choose the experts with the lowest numbers.
func TestChoicesOfExperts(t *testing.T) {
	b := open(t)
	scores := [][]float32{{0, 3, 1, 2}, {5, 5, 5, 5}, {-1, 0, 0, 0}}
	var data []byte
	for _, row := range scores {
		for _, v := range row {
			data = binary.LittleEndian.AppendUint16(data, ref.ToHalf(v))
		}
	}
	table, err := b.Matrix(t.Context(), compute.Weight{Name: "scores", Type: compute.F16, Rows: 3, Cols: 4, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	x, err := b.Buffer(3, 4)
	if err != nil {
		t.Fatal(err)
	}
	mixer := b.(compute.Mixer)
	routing, err := mixer.Routing(3, compute.Router{Experts: 4, Used: 2, Normed: true, Scale: 1})
	if err != nil {
		t.Fatal(err)
	}
	touched := compute.Touched{}
	for _, c := range []struct {
		ids     []int32
		want    [][]int32
		touched int
	}{{[]int32{0, 1, 2}, [][]int32{{1, 3}, {0, 1}, {1, 2}}, 4}, {[]int32{2}, [][]int32{{1, 2}}, 2}} {
		if err := b.Embed(x, table, c.ids); err != nil {
			t.Fatal(err)
		}
		if err := mixer.Route(routing, x, len(c.ids), nil); err != nil {
			t.Fatal(err)
		}
		for row, want := range c.want {
			got := make([]int32, 2)
			if err := routing.Choices(row, got); err != nil || !slices.Equal(got, want) {
				t.Errorf("row %d of %v chose %v, want %v: %v", row, c.ids, got, want, err)
			}
		}
		touched = touched.Plus(compute.Touched{Experts: c.touched, Calls: 1})
		if got := routing.Touched(); got != touched {
			t.Errorf("touched %+v, want %+v", got, touched)
		}
	}
}

func TestRoutingRefuses(t *testing.T) {
	mixer := open(t).(compute.Mixer)
	for _, r := range []compute.Router{{Experts: 4, Used: 5}, {Experts: 4}, {Experts: 200, Used: compute.MostUsed + 1}, {Experts: 5000, Used: 8}} {
		if _, err := mixer.Routing(1, r); err == nil {
			t.Errorf("%+v was accepted", r)
		}
	}
	if _, err := mixer.(compute.Backend).Matrix(t.Context(), compute.Weight{Name: "w", Type: compute.F32, Rows: 7, Cols: 2, Experts: 3, Data: make([]byte, 56)}); err == nil {
		t.Error("7 rows were divided among 3 experts")
	}
}
