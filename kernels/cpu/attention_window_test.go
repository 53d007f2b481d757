package cpu_test

import (
	"fmt"
	"testing"

	"specula/kernels/cpu"
	"specula/kernels/ref"
)

// windowCase is attentionCase with a window and a cap.
func windowCase(m, position, window int, limit float32, kept cpu.KVType) (t *cpu.Attention, keys,
	values []float32) {
	t, keys, values = attentionCase(m, position, 4, 2, 32, 3, kept)
	t.Window, t.SoftCap = window, limit
	return t, keys, values
}

var windows = []struct {
	m, position, window int
	limit               float32
}{
	{1, 0, 1, 0},
	{9, 3, 4, 0},
	{33, 250, 7, 0},
	{33, 250, 256, 0},
	{5, 600, 512, 50},
	{33, 600, 300, 2},
	{4, 510, 2, 0},
	{9, 100, 0, 5},
	{9, 100, 4096, 0},
	{150, 500, 300, 0}, // several groups to an item
}

func TestWindowAttention(t *testing.T) {
	for _, c := range windows {
		for _, kv := range kvTypes {
			task, keys, values := windowCase(c.m, c.position, c.window, c.limit, kv.kept)
			task.Do(0, task.Items())
			want := make([]float64, len(task.Dst))
			ref.WindowAttention(want, task.Q, keys, values, c.m, c.position, 4, 2, 32,
				float64(task.Scale), c.window, float64(c.limit))
			within(t, fmt.Sprintf("%+v, %s", c, kv.name), task.Dst, want, 2e-5)
		}
	}
}

// A row has the same bits alone and among other rows, and on every level.
func TestWindowAttentionRowsAreIndependent(t *testing.T) {
	const width = 4 * 32
	for _, c := range windows {
		for _, kv := range kvTypes {
			all, _, _ := windowCase(c.m, c.position, c.window, c.limit, kv.kept)
			all.Do(0, all.Items())
			for _, level := range cpu.Levels() {
				restore := cpu.SetLevel(level)
				for row := range c.m {
					one := *all
					one.M, one.Position, one.Q = 1, c.position+row, all.Q[row*width:][:width]
					one.Dst = make([]float32, width)
					one.Do(0, one.Items())
					sameBits(t, fmt.Sprintf("%+v, %s, row %d, %v", c, kv.name, row, level), one.Dst,
						all.Dst[row*width:][:width])
				}
				restore()
			}
		}
	}
}

// A window that reaches beyond the first key changes no bit.
func TestWideWindowChangesNoBit(t *testing.T) {
	task, _, _ := windowCase(33, 300, 0, 0, cpu.KVF16)
	task.Do(0, task.Items())
	want := append([]float32(nil), task.Dst...)
	task.Window = 333
	task.Do(0, task.Items())
	sameBits(t, "window over all keys", task.Dst, want)
}
