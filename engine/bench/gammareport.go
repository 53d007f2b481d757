package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// GammaReport is what CompareGammas found. Its JSON form is stable: fields may be added, not changed.
type GammaReport struct {
	Gammas    []int       `json:"gammas"`
	GenTokens int         `json:"genTokens"`
	Repeats   int         `json:"repeats"`
	Cells     []GammaCell `json:"cells"`
	About     About       `json:"about"`
}

// GammaCell is one set of prompts at one temperature. Speeds are those of plain decoding, γ 0, as 1.
type GammaCell struct {
	Set         string    `json:"set"`
	Temperature float64   `json:"temperature"`
	PlainMS     float64   `json:"plainMS"` // per token
	Fixed       []float64 `json:"fixed"`   // (Gammas)
	BestGamma   int       `json:"bestGamma"`
	BestFixed   float64   `json:"bestFixed"`
	CostAware   float64   `json:"costAware"`
	Drafted     float64   `json:"drafted"` // tokens a round, by the cost-aware rule
	Matched     bool      `json:"matched"` // at temperature 0: every text is the plain one
}

// Share is the speed of the cost-aware rule as a part of the best fixed γ's, which is known only afterwards.
func (c *GammaCell) Share() float64 { return over(c.CostAware, c.BestFixed) }

// Matched reports whether every greedy text was the plain one.
func (r *GammaReport) Matched() bool {
	for _, c := range r.Cells {
		if !c.Matched {
			return false
		}
	}
	return true
}

// Together are the geometric means over all cells: of each fixed γ, and of the cost-aware rule.
func (r *GammaReport) Together() (fixed []float64, costAware float64) {
	var aware []float64
	for i := range r.Gammas {
		var column []float64
		for _, c := range r.Cells {
			column = append(column, c.Fixed[i])
		}
		fixed = append(fixed, geometric(column))
	}
	for _, c := range r.Cells {
		aware = append(aware, c.CostAware)
	}
	return fixed, geometric(aware)
}

// WriteJSON writes the report as one indented JSON object.
func (r *GammaReport) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// WriteTable writes the report for people.
func (r *GammaReport) WriteTable(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "speed by draft length, plain decoding = 1; %d repeats, up to %d tokens a reply, proposer %s\n\n", r.Repeats, r.GenTokens, r.About.Proposer)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "prompts\ttemp.\tms/token")
	for _, gamma := range r.Gammas {
		fmt.Fprintf(t, "\tγ %d", gamma)
	}
	fmt.Fprint(t, "\tcost-aware\tof the best\tdrafted\n")
	row := func(name, temperature, ms string, fixed []float64, aware float64, drafted string) {
		best := 0.0
		fmt.Fprintf(t, "%s\t%s\t%s", name, temperature, ms)
		for _, x := range fixed {
			best = max(best, x)
			fmt.Fprintf(t, "\t%.2f", x)
		}
		fmt.Fprintf(t, "\t%.3f\t%.3f\t%s\n", aware, over(aware, best), drafted)
	}
	for _, c := range r.Cells {
		row(c.Set, fmt.Sprintf("%g", c.Temperature), fmt.Sprintf("%.3f", c.PlainMS), c.Fixed, c.CostAware, fmt.Sprintf("%.2f", c.Drafted))
	}
	fixed, aware := r.Together()
	row("together", "", "", fixed, aware, "")
	if err := t.Flush(); err != nil {
		return err
	}
	if !r.Matched() {
		b.WriteString("\na greedy text differs from the plain one\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
