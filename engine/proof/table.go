package proof

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteTable writes the report for people. It does not escape the names of models, the settings and
// the reasons: the caller must make the output safe for a terminal.
func (r *Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	r.writeHead(&b)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "proposer\trule\tverdict\treplies\ttokens\tacceptance\ttests\tsmallest p\twould have noticed")
	told := map[string]bool{}
	for _, c := range r.Cases {
		if c.Replies == 0 {
			if !told[c.Proposer] { // one line is enough: the reason is the same with every rule
				fmt.Fprintf(t, "%s\t–\t%s\n", c.Proposer, c.Verdict)
			}
			told[c.Proposer] = true
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%s\t%d\t%s\t%s\n", c.Proposer, c.Rule, strings.ToUpper(string(c.Verdict)), c.Replies, c.Tokens,
			share(c.Accepted, c.Tested), c.Tests, chance(c.SmallestP), notices(&c))
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
	fmt.Fprintf(b, "target %s, %s; prompt %.80q; %.1f s\n", r.Target, draft, r.Prompt, r.Seconds)
	settings := "all settings as by default"
	if len(r.Settings) > 0 {
		settings = "with " + strings.Join(r.Settings, ", ")
	}
	fmt.Fprintf(b, "whole replies by the loop of a chat, %s\n\n", settings)
}

// share formats a percentage, or – if whole is 0.
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
	return fmt.Sprintf("%.4f", p)
}

func notices(c *Case) string {
	switch {
	case c.Notices == 0:
		return "any other token"
	case c.Notices >= 1:
		return "nothing: too few tokens, or too sure"
	}
	return fmt.Sprintf("%.1f %% of drafts kept unjudged", 100*c.Notices)
}

// writeReasons writes Case.Why, for which the table has no room.
func (r *Report) writeReasons(b *strings.Builder) {
	told := map[string]bool{}
	b.WriteByte('\n')
	for _, c := range r.Cases {
		name := c.Proposer
		if c.Verdict != Unavailable {
			name += " with rule " + c.Rule
		}
		if line := fmt.Sprintf("%s: %s\n", name, c.Why); c.Why != "" && !told[line] {
			told[line] = true
			b.WriteString(line)
		}
	}
}

func (r *Report) writeVerdict(b *strings.Builder) {
	differ, lossy, blind := 0, 0, 0
	best := Case{Notices: 1}
	for _, c := range r.Cases {
		switch c.Verdict {
		case Changed:
			lossy++
		case Differs:
			differ++
		case Same:
			if c.Notices < best.Notices {
				best = c
			}
			if c.Notices >= 1 {
				blind++
			}
		}
	}
	b.WriteByte('\n')
	switch {
	case differ > 0:
		fmt.Fprintf(b, "NOT LOSSLESS: %d of %d cases differ from plain sampling.\n", differ, r.Tested)
	case r.Tested == 0:
		b.WriteString("NOTHING WAS TESTED: no proposer drafted anything, or none wrote enough tokens. Give a prompt that repeats itself, a draft model, or more --seconds.\n")
		return
	case lossy == r.Tested:
		b.WriteString("LOSSY, as the rule says of itself: what it writes does not have the target's distribution.\n")
		return
	case r.Params.Temperature == 0:
		fmt.Fprintf(b, "LOSSLESS: %d cases wrote the target's own text in every reply.\n", r.Tested)
		return
	case best.Notices < 1:
		fmt.Fprintf(b, "LOSSLESS as far as can be seen: %d cases do not differ from plain sampling. Proposer %s with rule %s would have noticed with "+
			"%g %% if %.1f %% of the draft tokens that the target judged had been kept whatever it said.\n", r.Tested, best.Proposer, best.Rule,
			100*r.Certainty, 100*best.Notices)
		if blind > 0 {
			fmt.Fprintf(b, "%d cases had too few tokens to notice that, or models too sure: raise --seconds or --temperature.\n", blind)
		}
	default:
		fmt.Fprintf(b, "NO DIFFERENCE in %d cases, but none had enough tokens to notice any, or models too sure: raise --seconds or --temperature.\n", r.Tested)
	}
	fmt.Fprintf(b, "Code without fault fails such a run once in %.0f.\n", 1/r.FalseAlarms)
}
