package audit

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"specula/engine/event"
)

// Report is the result of an audit. Its JSON is stable: fields may be added, not changed.
type Report struct {
	Server      string       `json:"server"` // which server was asked
	Plain       string       `json:"plain"`  // how the plain texts were made
	Prompts     int          `json:"prompts"`
	Differ      int          `json:"differ"` // texts that differ with and without speculation
	Divergences []Divergence `json:"divergences"`
	Tokens      int          `json:"tokens"` // committed tokens of the speculative side
	Rounds      int          `json:"rounds"`
	Drafted     int          `json:"drafted"`
	Tested      int          `json:"tested"` // accepted or refused
	Accepted    int          `json:"accepted"`
	// Kept counts accepted tokens by what the server told of its rounds, also of rounds that arrived as one.
	Kept int `json:"kept"`
	// Tokens per second, without the first round of each reply; 0 if not measured.
	Speculative float64 `json:"speculativeTokensPerSecond"`
	PlainSpeed  float64 `json:"plainTokensPerSecond"`
	// Counted says how the watched rounds compare with the server's own counters: «equal», the difference, or
	// why they were not compared.
	Counted string `json:"counted"`

	ms, plainMS       float64
	timed, plainTimed int
}

// Divergence is the first token at which the two texts of a prompt differ.
type Divergence struct {
	Prompt      string   `json:"prompt"`
	Token       int      `json:"token"`            // counts from 0
	Margin      *float64 `json:"margin,omitempty"` // nats between the two best tokens of the plain side at this token
	Plain       string   `json:"plain"`
	Speculative string   `json:"speculative"`
}

// nearTie is a margin in nats, for the heading of the table. Below this margin, a batch of another size may
// choose the other token, because it rounds differently.
const nearTie = 0.02

func (r *Report) add(prompt string, speculative, plain *reply, streams bool) {
	t := speculative.end.Totals
	r.Tokens += t.Tokens
	r.Rounds += t.Rounds
	r.Tested += t.Tested
	r.Accepted += t.Accepted
	r.ms, r.timed = r.ms+speculative.ms, r.timed+speculative.timed
	if streams {
		r.plainMS, r.plainTimed = r.plainMS+plain.ms, r.plainTimed+plain.timed
	}
	at := firstDifference(speculative.end.IDs, plain.end.IDs)
	if at < 0 {
		return
	}
	r.Differ++
	d := Divergence{Prompt: prompt, Token: at, Plain: shown(plain.tokens, at), Speculative: shown(speculative.tokens, at)}
	if at < len(plain.tokens) {
		d.Margin = margin(&plain.tokens[at])
	}
	r.Divergences = append(r.Divergences, d)
}

// shown is a token's text, or the name of a stop token; "<end>" where no token is left.
func shown(tokens []event.Token, at int) string {
	switch {
	case at >= len(tokens):
		return "<end>"
	case tokens[at].Stop:
		return tokens[at].Name
	}
	return string(tokens[at].Raw)
}

func (r *Report) conclude(o Options, told, counted Counters) {
	if r.ms > 0 {
		r.Speculative = float64(r.timed) * 1000 / r.ms
	}
	if r.plainMS > 0 {
		r.PlainSpeed = float64(r.plainTimed) * 1000 / r.plainMS
	}
	r.Drafted, r.Kept = int(told.Drafted), int(told.Accepted)
	switch {
	case o.Count == nil:
		r.Counted = "not compared: the server tells no counters"
	case told.Drafted > 0 && counted == (Counters{}):
		r.Counted = "not compared: its /metrics counts no drafts"
	case told.Drafted == counted.Drafted && told.Accepted == counted.Accepted:
		r.Counted = fmt.Sprintf("equal: %.0f drafted, %.0f accepted", counted.Drafted, counted.Accepted)
	default:
		r.Counted = fmt.Sprintf("told %.0f drafted and %.0f accepted, counted %.0f and %.0f: did others use the server meanwhile?", told.Drafted, told.Accepted, counted.Drafted, counted.Accepted)
	}
}

// Matched reports whether no text differs.
func (r *Report) Matched() bool { return r.Differ == 0 }

// mostShown is the largest number of divergences in the table. The JSON has all of them.
const mostShown = 20

// WriteTable writes the report for people. The caller must make the server's texts safe for a terminal.
func (r *Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	row := func(name, format string, values ...any) {
		fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, values...))
	}
	row("server", "%s", r.Server)
	row("without speculation", "%s", r.Plain)
	row("texts that differ, temperature 0", "%d of %d (%.0f %%)", r.Differ, r.Prompts, 100*float64(r.Differ)/float64(max(r.Prompts, 1)))
	if r.Drafted == 0 {
		row("speculation", "the server told of no draft: is its speculation on?")
	} else {
		row("kept of the tested tokens", "%.1f %% (%d of %d)", 100*float64(r.Accepted)/float64(max(r.Tested, 1)), r.Accepted, r.Tested)
		row("kept of all drafted, as servers count", "%.1f %% (%d of %d)", 100*float64(r.Kept)/float64(r.Drafted), r.Kept, r.Drafted)
		row("tokens a round", "%.2f", float64(r.Tokens)/float64(max(r.Rounds, 1)))
	}
	row("its counters", "%s", r.Counted)
	row("tokens a second, speculating", "%.1f", r.Speculative)
	if r.PlainSpeed > 0 {
		row("tokens a second, plain", "%.1f", r.PlainSpeed)
		row("speed-up", "%.2f", r.Speculative/r.PlainSpeed)
	} else {
		row("tokens a second, plain", "not measured: one token a request pays a round trip each; name a server without speculation by --plain")
	}
	row("above temperature 0", "not compared: the draws of two replies differ, also without a fault")
	if err := t.Flush(); err != nil {
		return err
	}
	if len(r.Divergences) > 0 {
		fmt.Fprintf(&b, "\nwhere the texts part (margin: nats between the plain side's two best tokens; below %g a near tie)\n", nearTie)
		d := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
		fmt.Fprintln(d, "token\tmargin\tplain\tspeculating\tprompt")
		for _, x := range r.Divergences[:min(len(r.Divergences), mostShown)] {
			margin := "unknown"
			if x.Margin != nil {
				margin = fmt.Sprintf("%.4f", *x.Margin)
			}
			fmt.Fprintf(d, "%d\t%s\t%.20q\t%.20q\t%.50q\n", x.Token, margin, x.Plain, x.Speculative, x.Prompt)
		}
		if err := d.Flush(); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
