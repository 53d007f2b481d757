package proof

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteJSON writes the report as one indented JSON object.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// WriteTable writes the report for people. Names of models, prompt and tokens are raw: the caller makes them safe for a terminal.
func (r *Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	r.writeHead(&b)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "proposer\trule\tverdict\ttrials\tacceptance\tp of χ²\tof G\tof token 1\tdistance\tat most\twould have noticed")
	for _, c := range r.Cases {
		if c.Trials == 0 {
			if c.Rule == r.Cases[0].Rule { // the same with every rule
				fmt.Fprintf(t, "%s\t–\t%s\n", c.Proposer, c.Verdict)
			}
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%.4f\t%.4f\t%s\n", c.Proposer, c.Rule, strings.ToUpper(string(c.Verdict)), c.Trials,
			share(c.Accepted, c.Tested), chance(c.PearsonP), chance(c.GP), chance(c.FirstP), c.Distance, c.DistanceBound, r.notices(&c))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	r.writeReasons(&b)
	r.writeVerdict(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) writeHead(b *strings.Builder) {
	draft := "no draft model"
	if r.Draft != "" {
		draft = "draft " + r.Draft
	}
	p := r.Params
	fmt.Fprintf(b, "target %s, %s; temperature %g, top-k %d, top-p %g, min-p %g\n", r.Target, draft, p.Temperature, p.TopK, p.TopP, p.MinP)
	fmt.Fprintf(b, "prompt %.80q (%d tokens); drafts of %s tokens in turn; %.1f s\n", r.Prompt, r.PromptTokens, list(r.Gammas), r.Seconds)
	if len(r.LeftOut) > 0 {
		fmt.Fprintf(b, "CHECKED WITHOUT %s, which change scores before anything is judged\n", strings.Join(r.LeftOut, ", "))
	}
	b.WriteByte('\n')
}

func list(numbers []int) string {
	return strings.Trim(fmt.Sprint(numbers), "[]")
}

// share is a percentage, or – of nothing.
func share(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

func chance(p float64) string {
	if p < 0.0001 {
		return fmt.Sprintf("%.0e", p)
	}
	return fmt.Sprintf("%.3f", p)
}

func (r *Report) notices(c *Case) string {
	switch {
	case r.Params.Temperature == 0:
		return "any other token"
	case c.Cells == 0:
		return "nothing: one outcome is certain here"
	case c.Notices >= 1:
		return "nothing: too few trials"
	}
	return fmt.Sprintf("%.2f %% (2 %%: with %s)", 100*c.Notices, almost(c.Power2))
}

// almost shows a probability without rounding it up to certainty.
func almost(p float64) string {
	if p > 0.999 {
		return "> 99.9 %"
	}
	return fmt.Sprintf("%.1f %%", 100*p)
}

// writeReasons says what a line of the table has no room for.
func (r *Report) writeReasons(b *strings.Builder) {
	told := map[string]bool{}
	b.WriteByte('\n')
	for _, c := range r.Cases {
		reply := "reply"
		if c.Place.Again {
			reply = "same reply asked for again"
		}
		if line := fmt.Sprintf("%s: drawn behind %d tokens of the %s, …%q; the next token has %.2f bits\n", c.Proposer, c.Place.ReplyTokens, reply,
			c.Place.Behind, c.Place.EntropyBits); c.Trials > 0 && !told[line] {
			told[line] = true
			b.WriteString(line)
		}
		name := c.Proposer
		if c.Verdict != Unavailable && c.Verdict != Untested {
			name += " with rule " + c.Rule
		}
		if line := fmt.Sprintf("%s: %s\n", name, c.Why); c.Why != "" && !told[line] {
			told[line] = true
			b.WriteString(line)
		}
	}
}

func (r *Report) writeVerdict(b *strings.Builder) {
	differ, lossy, least := 0, 0, 0.0
	for _, c := range r.Cases {
		switch c.Verdict {
		case Changed:
			lossy++
		case Differs:
			differ++
		case Same:
			least = max(least, c.Notices)
		}
	}
	b.WriteByte('\n')
	switch {
	case differ > 0:
		fmt.Fprintf(b, "NOT LOSSLESS: %d of %d cases differ from plain sampling.\n", differ, r.Tested)
	case r.Tested == 0:
		b.WriteString("NOTHING WAS TESTED: no proposer drafted anything. Give a prompt that repeats itself, or a draft model.\n")
		return
	case lossy == r.Tested:
		b.WriteString("LOSSY, as the rule says of itself: what it writes does not have the target's distribution.\n")
		return
	case r.Params.Temperature == 0:
		fmt.Fprintf(b, "LOSSLESS: %d cases wrote the target's own text in every trial.\n", r.Tested)
		return
	case least > 0 && least < 1:
		fmt.Fprintf(b, "LOSSLESS as far as can be seen: %d cases do not differ from plain sampling. Each would have noticed a bias of %.2f %% with %g %%, however hidden.\n",
			r.Tested, 100*least, 100*r.Certainty)
	default:
		fmt.Fprintf(b, "NO DIFFERENCE in %d cases, but some had too few trials or a place too sure to notice any: raise --seconds or --temperature.\n", r.Tested)
	}
	fmt.Fprintf(b, "A bias is the share of replies that begin differently. Code without fault fails such a run once in %.0f.\n", 1/r.FalseAlarms)
}
