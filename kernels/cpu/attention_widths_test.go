package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"specula/kernels/cpu"
	"specula/kernels/ref"
)

// widthCase is attention whose keys and values differ in width, with or without sinks.
type widthCase struct {
	m, position, window int
	keyDim, valueDim    int
	sinks               bool
}

var widths = []widthCase{
	{1, 0, 0, 64, 64, true},
	{9, 3, 4, 64, 32, true},
	{33, 250, 128, 96, 64, true},
	{33, 250, 0, 192, 128, false},
	{5, 600, 0, 32, 160, true},
	{4, 300, 0, cpu.MaxKeyDim, cpu.MaxValueDim, false},
	{150, 500, 0, 128, 64, true}, // several groups to an item, which read converted splits
}

const sharedHeads, widthHeads = 2, 4

func (c widthCase) task(kept cpu.KVType) (t *cpu.Attention, keys, values []float32) {
	r, normal := rand.New(rand.NewPCG(uint64(c.position), uint64(c.m))), inputs[0].number
	tokens := c.position + c.m
	keys, values = fill(tokens*sharedHeads*c.keyDim, r,
		normal), fill(tokens*sharedHeads*c.valueDim, r, normal)
	t = &cpu.Attention{
		Dst: make([]float32, c.m*widthHeads*c.valueDim), Q: fill(c.m*widthHeads*c.keyDim, r, normal),
		M: c.m, Position: c.position,
		KV: storeAll(keys, values,
			cpu.KVShape{Tokens: tokens, Heads: sharedHeads, KeyDim: c.keyDim, ValueDim: c.valueDim}, kept),
		Heads: widthHeads, Scale: float32(1 / math.Sqrt(float64(c.keyDim))), Window: c.window,
	}
	if c.sinks {
		t.Sinks = []float32{-30, 0.5, 3, 40}
	}
	return t, keys, values
}

func TestAttentionOfUnlikeWidths(t *testing.T) {
	for _, c := range widths {
		for _, kv := range kvTypes {
			task, keys, values := c.task(kv.kept)
			task.Do(0, task.Items())
			want := make([]float64, len(task.Dst))
			ref.Attend{
				Position: c.position, Heads: widthHeads, KVHeads: sharedHeads, KeyDim: c.keyDim,
				ValueDim: c.valueDim,
				Scale:    float64(task.Scale), Window: c.window, Sinks: task.Sinks,
			}.Rows(want, task.Q, keys, values, c.m)
			within(t, fmt.Sprintf("%+v, %s", c, kv.name), task.Dst, want, 4e-6)
		}
	}
}

// A row has the same bits alone and among other rows, and on every level.
func TestAttentionRowsOfUnlikeWidthsAreIndependent(t *testing.T) {
	for _, c := range widths {
		for _, kv := range kvTypes {
			all, _, _ := c.task(kv.kept)
			all.Do(0, all.Items())
			for _, level := range cpu.Levels() {
				restore := cpu.SetLevel(level)
				for row := range c.m {
					one, q, dst := *all, widthHeads*c.keyDim, widthHeads*c.valueDim
					one.M, one.Position, one.Q = 1, c.position+row, all.Q[row*q:][:q]
					one.Dst = make([]float32, dst)
					one.Do(0, one.Items())
					sameBits(t, fmt.Sprintf("%+v, %s, row %d, %v", c, kv.name, row, level), one.Dst,
						all.Dst[row*dst:][:dst])
				}
				restore()
			}
		}
	}
}
