package doctor

import (
	"fmt"
	"io"
	"strings"
)

// Report is the result of Run. Its JSON is stable: fields may be added, never changed.
type Report struct {
	Target      string    `json:"target"`
	Draft       string    `json:"draft,omitempty"`
	Device      string    `json:"device"`
	Temperature float64   `json:"temperature"`
	GammaMax    int       `json:"gammaMax"`
	Seconds     float64   `json:"seconds"`
	Lines       []Line    `json:"lines"`
	VerifyMS    []float64 `json:"verifyMS"` // times of target passes of 1, 2, … rows
	// ExpertsRead is how many experts of a layer each pass of VerifyMS reads, on average; empty if the model
	// has none.
	ExpertsRead []float64   `json:"expertsRead,omitempty"`
	Cliffs      []int       `json:"cliffs"`  // numbers of rows at which the cost of a pass jumps
	DraftMS     float64     `json:"draftMS"` // time of a step of the draft model; 0: no draft model
	Memory      Memory      `json:"memory"`
	Accepted    []Accepted  `json:"accepted"`
	Recommended Recommended `json:"recommended"`
}

// Memory is in bytes; 0 means unknown.
type Memory struct {
	WeightBytes    int64 `json:"weightBytes"`
	CacheBytes     int64 `json:"cacheBytes"` // size of the caches of one conversation
	ResidentBytes  int64 `json:"residentBytes"`
	AvailableBytes int64 `json:"availableBytes"`
}

// Recommended is the choice with the largest expected speed-up; "none" and γ 0 if no speed-up is worthwhile.
type Recommended struct {
	Proposer string  `json:"proposer"`
	Gamma    int     `json:"gamma"`
	Speedup  float64 `json:"speedup"` // speed divided by that of plain decoding, expected from the costs measured here
}

// Matched reports whether no line failed.
func (r *Report) Matched() bool { return r.count(Fail) == 0 }

func (r *Report) count(s Status) (n int) {
	for _, l := range r.Lines {
		if l.Status == s {
			n++
		}
	}
	return n
}

// WriteTable writes the report for people. It does not escape the names of models and the findings:
// the caller must make the output safe for a terminal.
func (r *Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	draft := "no draft model"
	if r.Draft != "" {
		draft = "draft " + r.Draft
	}
	fmt.Fprintf(&b, "target %s, %s; %.1f s\n\n", r.Target, draft, r.Seconds)
	width := 0
	for _, l := range r.Lines {
		width = max(width, len(l.Name))
	}
	for _, l := range r.Lines {
		fmt.Fprintf(&b, "%-4s  %-*s  %s\n", l.Status, width, l.Name, l.Found)
		if l.Do != "" {
			fmt.Fprintf(&b, "%*s  → %s\n", 6+width, "", l.Do)
		}
	}
	switch fails, warns := r.count(Fail), r.count(Warn); {
	case fails > 0:
		fmt.Fprintf(&b, "\nFAIL: %d of %d lines.\n", fails, len(r.Lines))
	case warns > 0:
		fmt.Fprintf(&b, "\nEverything is right; %d of %d lines could be better.\n", warns, len(r.Lines))
	default:
		b.WriteString("\nEverything is right.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
