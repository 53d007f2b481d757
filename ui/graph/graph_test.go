package graph_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"specula/ui/graph"
)

func show(lines []string) string {
	var out strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&out, "|%s|\n", l)
	}
	return out.String()
}

func TestNiceMaxChangesRarely(t *testing.T) {
	for _, c := range []struct{ in, want float64 }{
		{0, 1}, {-3, 1}, {math.NaN(), 1}, {math.Inf(1), 1}, {0.07, 0.08}, {1, 1}, {1.2, 1.5}, {99, 100}, {173, 200}, {204, 300}, {1001, 1500},
	} {
		if got := graph.NiceMax(c.in); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("NiceMax(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		share float64
		ascii bool
		want  string
	}{{0, false, ""}, {1e-9, false, "▏"}, {0.5, false, "██"}, {0.53, false, "██▏"}, {1, false, "████"}, {7, false, "████"}, {math.NaN(), false, ""}, {0.3, true, "##"}} {
		got, cells := graph.Bar(c.share, 4, c.ascii)
		if got != c.want || cells != utf8.RuneCountInString(got) {
			t.Errorf("Bar(%v) = %q of %d cells, want %q", c.share, got, cells, c.want)
		}
	}
}

func TestColumns(t *testing.T) {
	got := show(graph.Columns([]float64{1, 0.5, 0.25, 0, math.NaN()}, 1, 1, 2, false))
	if want := "|█         |\n|█ █ ▄     |\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func ExampleColumns() {
	for _, line := range graph.Columns([]float64{0.25, 0.5, 1}, 1, 0, 2, false) {
		fmt.Println(line)
	}
	// Output:
	//   █
	// ▄██
}
