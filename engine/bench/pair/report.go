package pair

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"specula/engine/agreement"
	"specula/engine/bench/speed"
	"specula/engine/event"
	"specula/engine/exam"
)

// Report is the result of Run. Its JSON is stable: fields may be added, not changed.
type Report struct {
	Target    event.Model       `json:"target"` // set by the caller, like Draft
	Draft     *event.Model      `json:"draft,omitempty"`
	Papers    []exam.Result     `json:"papers"`
	Agreement *agreement.Report `json:"agreement,omitempty"`
	Steps     *speed.Steps      `json:"steps,omitempty"` // measured on one core
	Goals     []Goal            `json:"goals,omitempty"`
}

// Goal is a limit for a figure: Wanted is its least allowed value or, for the cost, its largest.
type Goal struct {
	Name    string   `json:"name"`
	Wanted  float64  `json:"wanted"`
	Is      *float64 `json:"is"` // nil if it was not measured
	Reached bool     `json:"reached"`
}

// Matched reports whether all goals were reached.
func (r *Report) Matched() bool {
	for _, g := range r.Goals {
		if !g.Reached {
			return false
		}
	}
	return true
}

// WriteTable writes the report for people: all misses, then the figures. It quotes replies, but
// does not escape questions and the names of models: the caller must make the output safe for a
// terminal.
func (r *Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	for _, p := range r.Papers {
		for _, m := range p.Misses {
			fmt.Fprintf(&b, "%s %s\n  asked   %s\n  reply   %q\n  wanted  %s\n", p.Name, m.ID, m.Question, beginning(m.Reply), m.Wanted)
		}
	}
	t := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintf(t, "target\t%s\n", describe(r.Target))
	if r.Draft != nil {
		fmt.Fprintf(t, "draft\t%s\n", describe(*r.Draft))
	}
	for _, p := range r.Papers {
		fmt.Fprintf(t, "%s\t%d of %d, %.1f %%\n", p.Name, p.Right, p.Asked, 100*p.Share())
	}
	if r.Agreement != nil {
		r.writeAgreement(t)
	}
	if s := r.Steps; s != nil {
		fmt.Fprintf(t, "a step on one core\tdraft %.3f ms, target %.3f ms, ratio %.3f, of the shortest %.3f\n", s.DraftMS, s.TargetMS, s.Ratio, s.LeastRatio)
	}
	for _, g := range r.Goals {
		fmt.Fprintf(t, "goal %s\t%s\n", g.Name, g)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) writeAgreement(w io.Writer) {
	a := r.Agreement
	fmt.Fprintf(w, "held out\t%d assistant tokens of %d dialogues", a.Tokens, a.Dialogues)
	if a.Cut > 0 {
		fmt.Fprintf(w, ", %d of them cut at the context's end", a.Cut)
	}
	fmt.Fprintln(w)
	for _, at := range a.At {
		fmt.Fprintf(w, "α at temperature %g\t%.3f ± %.3f\n", at.Temperature, at.Alpha, at.StandardError)
	}
	for _, part := range a.Sources {
		var figures []string
		for _, at := range part.At {
			figures = append(figures, fmt.Sprintf("%.3f ± %.3f at %g", at.Alpha, at.StandardError, at.Temperature))
		}
		fmt.Fprintf(w, "  %s\t%s (%d tokens of %d dialogues)\n", part.Source, strings.Join(figures, ", "), part.Tokens, part.Dialogues)
	}
}

func describe(m event.Model) string {
	return fmt.Sprintf("%s, %.2f M parameters, %s, %.2f MiB", m.Name, float64(m.Parameters)/1e6, m.WeightType, float64(m.WeightBytes)/(1<<20))
}

func (g Goal) String() string {
	limit, verdict := "at least", "reached"
	if g.Name == costName {
		limit = "at most"
	}
	if !g.Reached {
		verdict = "missed"
	}
	if g.Is == nil {
		return fmt.Sprintf("missed: it was not measured, wanted is %s %g", limit, g.Wanted)
	}
	return fmt.Sprintf("%s: %.3f, wanted is %s %g", verdict, *g.Is, limit, g.Wanted)
}

// shownReply is how many characters of a reply are shown. A model that knows nothing writes up to its
// limit.
const shownReply = 300

func beginning(reply string) string {
	runes := []rune(reply)
	if len(runes) <= shownReply {
		return reply
	}
	return string(runes[:shownReply]) + "…"
}
