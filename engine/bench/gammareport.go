package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// GammaReport is the result of CompareGammas. Its JSON is stable: fields may be added, not
// changed.
type GammaReport struct {
	Gammas    []int       `json:"gammas"`
	GenTokens int         `json:"genTokens"`
	Repeats   int         `json:"repeats"`
	Cells     []GammaCell `json:"cells"`
	About     About       `json:"about"`
}

// GammaCell is one set of prompts at one temperature. Speeds are relative to plain decoding, γ 0.
type GammaCell struct {
	Set         string    `json:"set"`
	Temperature float64   `json:"temperature"`
	PlainMS     float64   `json:"plainMS"` // milliseconds per token
	Fixed       []float64 `json:"fixed"`   // speeds, one for each of GammaReport.Gammas
	BestGamma   int       `json:"bestGamma"`
	BestFixed   float64   `json:"bestFixed"`
	CostAware   float64   `json:"costAware"`
	Drafted     float64   `json:"drafted"` // draft tokens per round under the cost-aware rule
	Matched     bool      `json:"matched"` // at temperature 0, each text equals the plain one; true at other temperatures
}

// Share returns the speed of the cost-aware rule divided by that of the best fixed γ. Which γ is best
// is known only after the measurement.
func (c *GammaCell) Share() float64 { return over(c.CostAware, c.BestFixed) }

// Matched reports whether each greedy text equals the plain one.
func (r *GammaReport) Matched() bool {
	for _, c := range r.Cells {
		if !c.Matched {
			return false
		}
	}
	return true
}

// Together returns geometric means over all cells: of the speed of each fixed γ, and of the speed of the
// cost-aware rule.
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

// gammasAcross is the number of draft lengths that fit side by side into 80 columns.
const gammasAcross = 9

// WriteTable writes the report for people, in tables of at most 80 columns: the fixed draft
// lengths, then the cost-aware rule.
func (r *GammaReport) WriteTable(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "speed by draft length, plain decoding = 1; proposer %s\n%d repeats, up to %d tokens a reply; plain ms are those of a token\n", r.About.Proposer, r.Repeats, r.GenTokens)
	rows := r.rows()
	for from := 0; from < len(r.Gammas); from += gammasAcross {
		to := min(from+gammasAcross, len(r.Gammas))
		var heads []string
		for _, gamma := range r.Gammas[from:to] {
			heads = append(heads, fmt.Sprintf("γ %d", gamma))
		}
		writeRows(&b, rows, heads, func(row gammaRow) (cells []string) {
			for _, x := range row.fixed[from:to] {
				cells = append(cells, fmt.Sprintf("%.2f", x))
			}
			return cells
		})
	}
	writeRows(&b, rows, []string{"plain ms", "best fixed", "cost-aware", "of the best", "drafted"}, func(row gammaRow) []string {
		best := 0
		for i, x := range row.fixed {
			if x > row.fixed[best] {
				best = i
			}
		}
		return []string{row.plainMS, fmt.Sprintf("%.3f, γ %d", row.fixed[best], r.Gammas[best]),
			fmt.Sprintf("%.3f", row.aware), fmt.Sprintf("%.3f", over(row.aware, row.fixed[best])), row.drafted}
	})
	if !r.Matched() {
		b.WriteString("\na greedy text differs from the plain one\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// gammaRow is a line of a table: a cell of the report, or all cells together.
type gammaRow struct {
	set, temperature, plainMS, drafted string
	fixed                              []float64 // speeds of the fixed γ, one for each column
	aware                              float64
}

func (r *GammaReport) rows() []gammaRow {
	var rows []gammaRow
	for _, c := range r.Cells {
		rows = append(rows, gammaRow{c.Set, fmt.Sprintf("%g", c.Temperature), fmt.Sprintf("%.3f", c.PlainMS), fmt.Sprintf("%.2f", c.Drafted), c.Fixed, c.CostAware})
	}
	fixed, aware := r.Together()
	return append(rows, gammaRow{set: "together", fixed: fixed, aware: aware})
}

// writeRows writes a blank line and a table. Flush cannot fail, because a Builder takes everything.
func writeRows(b *strings.Builder, rows []gammaRow, heads []string, cells func(gammaRow) []string) {
	b.WriteByte('\n')
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "prompts\ttemp.\t%s\n", strings.Join(heads, "\t"))
	for _, row := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\n", row.set, row.temperature, strings.Join(cells(row), "\t"))
	}
	_ = t.Flush()
}
