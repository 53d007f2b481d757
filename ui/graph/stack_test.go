package graph_test

import (
	"fmt"
	"math"
	"testing"

	"specula/ui/graph"
)

func TestStack(t *testing.T) {
	const kept, refused, rest = 1, 2, 3
	for _, c := range []struct {
		name  string
		parts []graph.Part
		want  []graph.Cell // the top one first
	}{
		{"nothing", nil, []graph.Cell{{0, 0, 8}, {0, 0, 8}}},
		{"a part for each cell", []graph.Part{{kept, 1}, {refused, 1}}, []graph.Cell{{refused, refused, 8}, {kept, kept, 8}}},
		{"half a cell", []graph.Part{{kept, 1.5}}, []graph.Cell{{kept, 0, 4}, {kept, kept, 8}}},
		{"two in one cell", []graph.Part{{kept, 0.5}, {refused, 0.5}}, []graph.Cell{{0, 0, 8}, {kept, refused, 4}}},
		{"three in one cell", []graph.Part{{kept, 0.5}, {refused, 0.125}, {rest, 1}}, []graph.Cell{{rest, 0, 5}, {kept, rest, 5}}},
		{"a low one at the bottom", []graph.Part{{kept, 0.125}, {refused, 0.5}, {rest, 1}}, []graph.Cell{{rest, 0, 5}, {refused, rest, 5}}},
		{"higher than the column", []graph.Part{{kept, 1}, {refused, 9}}, []graph.Cell{{refused, refused, 8}, {kept, kept, 8}}},
		{"no numbers", []graph.Part{{kept, math.NaN()}, {refused, -3}, {rest, math.Inf(1)}}, []graph.Cell{{rest, rest, 8}, {rest, rest, 8}}},
	} {
		if got := graph.Stack(c.parts, 2); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if got := graph.Stack([]graph.Part{{kept, 1}}, 0); len(got) != 0 {
		t.Errorf("no height: %v", got)
	}
}
