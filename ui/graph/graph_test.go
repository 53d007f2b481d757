package graph_test

import (
	"fmt"
	"math"
	"slices"
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

func TestPlot(t *testing.T) {
	gap := math.NaN()
	ramp := []float64{0, 1, 2, 3, 4, 5, 6, 7}
	cases := []struct {
		name string
		plot graph.Plot
		w, h int
		want string
	}{
		{"empty", graph.Plot{Max: 1}, 4, 2, "|    |\n|    |\n"},
		{"ramp", graph.Plot{Values: ramp, Max: 7}, 4, 2, "|  ⡠⠊|\n|⡠⠊  |\n"},
		{"filled", graph.Plot{Values: ramp, Max: 7, Fill: true}, 4, 2, "|  ⣠⣾|\n|⣠⣾⣿⣿|\n"},
		{"jumps are joined", graph.Plot{Values: []float64{0, 7, 0}, Max: 7}, 2, 2, "|⢸⡆|\n|⡸⡇|\n"},
		{"a gap stays open", graph.Plot{Values: []float64{7, gap, 7, 0}, Max: 7}, 2, 2, "|⠁⢱|\n| ⢸|\n"},
		{"newest at the right once full", graph.Plot{Values: []float64{9, 9, 9, 0, 0, 7, 7}, Max: 7}, 2, 1, "|⣀⠏|\n"},
		{"beyond the axis", graph.Plot{Values: []float64{-5, 99, math.Inf(1), math.Inf(-1)}, Max: 7}, 2, 1, "|⡸⢱|\n"},
		{"no range", graph.Plot{Values: []float64{3, 3}}, 2, 1, "|⣀ |\n"},
		{"ascii", graph.Plot{Values: ramp, Max: 7, ASCII: true}, 4, 4, "|   *|\n|  * |\n| *  |\n|*   |\n"},
		{"ascii filled", graph.Plot{Values: ramp, Max: 7, ASCII: true, Fill: true}, 4, 2, "|  **|\n|**|||\n"},
		{"no room", graph.Plot{Values: ramp}, 0, 2, "||\n||\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := show(c.plot.Draw(c.w, c.h)); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

func TestPlotHasItsSize(t *testing.T) {
	values := make([]float64, 500)
	for i := range values {
		values[i] = math.Sin(float64(i)) * 1e3
	}
	for w := range 40 {
		for h := range 9 {
			for _, ascii := range []bool{false, true} {
				lines := graph.Plot{Values: values[:w*h], Min: -900, Max: 900, ASCII: ascii}.Draw(w, h)
				if len(lines) != h {
					t.Fatalf("%dx%d: %d lines", w, h, len(lines))
				}
				for _, l := range lines {
					if utf8.RuneCountInString(l) != w {
						t.Fatalf("%dx%d: %q", w, h, l)
					}
				}
			}
		}
	}
}

// Two steps share a cell. It shows the tick that is first in the list, whichever step has it.
func TestTheFirstTickOfACellIsShown(t *testing.T) {
	under := func(steps ...int) func(int) bool { return func(i int) bool { return slices.Contains(steps, i) } }
	if got := graph.Ticks(8, 4, graph.Tick{"^", under(0, 3)}, graph.Tick{"?", under(1, 2, 6)}); got != "^^ ?" {
		t.Errorf("%q", got)
	}
}

// A mark is in the cell of its step, before and after the graph begins to move.
func TestTicksFollowTheGraph(t *testing.T) {
	mark := func(step int) func(int) bool { return func(i int) bool { return i == step } }
	for _, c := range []struct {
		n, step int
		want    string
	}{{4, 3, " ^  "}, {8, 3, " ^  "}, {10, 3, "^   "}, {20, 3, "    "}, {0, 0, "    "}} {
		if got := graph.Ticks(c.n, 4, graph.Tick{"^", mark(c.step)}); got != c.want {
			t.Errorf("%d steps, mark at %d: %q, want %q", c.n, c.step, got, c.want)
		}
	}
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

func ExamplePlot() {
	for _, line := range (graph.Plot{Values: []float64{2, 4, 6, 8, 8, 6, 4, 2}, Max: 8, Fill: true}).Draw(4, 2) {
		fmt.Println(line)
	}
	// Output:
	// ⢀⣼⣧⡀
	// ⣾⣿⣿⣷
}
