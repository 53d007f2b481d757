package compute_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"specula/engine/compute"
	"specula/engine/host"
)

// matrix encodes rows of float32 numbers as a weight.
func matrix(name string, rows [][]float32) compute.Weight {
	w := compute.Weight{Name: name, Type: compute.F32, Rows: len(rows), Cols: len(rows[0])}
	for _, row := range rows {
		for _, v := range row {
			w.Data = binary.LittleEndian.AppendUint32(w.Data, math.Float32bits(v))
		}
	}
	return w
}

// The smallest model: a table of embeddings, and a matrix that scores the next token.
func ExampleBackend() {
	var b compute.Backend = host.New(1)
	defer b.Close()
	ctx := context.Background()
	table, err := b.Matrix(ctx, matrix("embeddings", [][]float32{{1, 0}, {0, 1}, {2, 2}}))
	if err != nil {
		fmt.Println(err)
		return
	}
	output, err := b.Matrix(ctx, matrix("output", [][]float32{{1, 2}, {3, 4}, {5, -6}}))
	if err != nil {
		fmt.Println(err)
		return
	}
	x, _ := b.Buffer(2, 2)
	scores, _ := b.Buffer(2, 3)
	if err := b.Embed(x, table, []int32{0, 2}); err != nil {
		fmt.Println(err)
		return
	}
	if err := b.MatMul(scores, x, 2, output); err != nil {
		fmt.Println(err)
		return
	}
	logits, err := b.Logits(scores, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	best := make([]int32, 2)
	if err := logits.Argmax(best); err != nil {
		fmt.Println(err)
		return
	}
	row := make([]float32, 3)
	for i, id := range best {
		if err := logits.Row(i, row); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("scores", row, "best", id)
	}
	// Output:
	// scores [1 3 5] best 2
	// scores [6 14 -2] best 1
}
