package pane

import (
	"fmt"
	"slices"

	"specula/engine/spec"
	"specula/ui/state"
)

// The drawing of a round of a server's own speculation: what the server reports, what is derived from
// that, and what is unknown.

func ofServer(r *state.Round) bool { return r != nil && r.Server != nil }

// serverWords are the words for tokens of a server's round.
var serverWords = spec.RuleWords{
	Accepted: "the server says that it kept so many of its draft tokens.",
	Rejected: "the server kept fewer than it drafted, so this one was refused. It does not tell which token it was.",
	Replaced: "the server's own token, in place of the one that it refused.",
	Source:   "the server's own token",
}

// serverSentence says what the server reported about a round.
func serverSentence(r *state.Round) []string {
	s := r.Server
	switch {
	case s.Merged > 1:
		return []string{fmt.Sprintf("rounds of the server that came in one piece: %d drafted, %d kept", s.Drafted, s.Kept)}
	case s.Drafted < 0 && r.Accepted == 0:
		return []string{"one token from the server"}
	case s.Drafted < 0:
		return []string{fmt.Sprintf("the server kept %d: how many it drafted it tells at the end", r.Accepted), fmt.Sprintf("%d kept", r.Accepted)}
	case s.Drafted == 0:
		return []string{"the server drafted nothing: one token", "one token from the server"}
	}
	short := fmt.Sprintf("the server drafted %d, kept %d", s.Drafted, s.Kept)
	if s.Kept > r.Accepted {
		return []string{short + ", and the reply ended before", short}
	}
	texts := []string{short, fmt.Sprintf("%d of %d kept", s.Kept, s.Drafted)}
	if s.Kept < s.Drafted {
		texts = slices.Insert(texts, 0, fmt.Sprintf("%s: [%d] counts what it refused", short, s.Drafted-s.Kept))
	}
	return texts
}

// serverTest draws what is reported, derived and unknown about a token of a server's round.
func (c *column) serverTest(r *state.Round) []string {
	s := r.Server
	reported := fmt.Sprintf("drafted %d, kept %d", s.Drafted, s.Kept)
	if s.Drafted < 0 {
		reported = "the pieces of its stream"
	}
	return []string{
		c.line().Put(c.th.Label, "reported ").Put("", reported).String(),
		c.line().Put(c.th.Label, "derived  ").Put("", "which tokens were drafted").String(),
		c.line().Put(c.th.Label, "unknown  ").Put("", "p, q and u; the refused tokens").String(),
	}
}
