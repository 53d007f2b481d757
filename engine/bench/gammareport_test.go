package bench

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// The table fits into 80 columns, whatever was measured, and is complete.
func TestTheTableOfGammasFitsEightyColumns(t *testing.T) {
	for _, longest := range []int{0, 8, 9, 16} {
		r := GammaReport{GenTokens: 1024, Repeats: 100, About: About{Proposer: "combined"}}
		for gamma := range longest + 1 {
			r.Gammas = append(r.Gammas, gamma)
		}
		var want []string
		for i, set := range []string{"small talk", "explanations", "copying", "random text"} {
			c := GammaCell{Set: set, Temperature: 1.25, PlainMS: 100 + float64(i), CostAware: 5 + float64(i)/1000, Drafted: 3 + float64(i)/100}
			for gamma := range r.Gammas {
				c.Fixed = append(c.Fixed, float64(i+1)+float64(gamma)/100)
				want = append(want, fmt.Sprintf("%.2f", c.Fixed[gamma]), fmt.Sprintf("γ %d", gamma))
			}
			r.Cells = append(r.Cells, c)
			want = append(want, set, fmt.Sprintf("%.3f", c.PlainMS), fmt.Sprintf("%.3f", c.CostAware), fmt.Sprintf("%.2f", c.Drafted),
				fmt.Sprintf("%.3f, γ %d", c.Fixed[longest], longest), fmt.Sprintf("%.3f", c.CostAware/c.Fixed[longest]))
		}
		var table strings.Builder
		if err := r.WriteTable(&table); err != nil {
			t.Fatal(err)
		}
		for _, text := range append(want, "together", "proposer combined", "a greedy text differs") {
			if !strings.Contains(table.String(), text) {
				t.Errorf("γ up to %d: no %q in\n%s", longest, text, table.String())
			}
		}
		for line := range strings.Lines(table.String()) {
			if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > 80 {
				t.Errorf("γ up to %d: %d columns in %q", longest, n, line)
			}
		}
	}
}
