package pane

import (
	"fmt"
	"slices"

	"specula/engine/event"
	"specula/engine/spec"
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// laneRows is the most rows of the columns: tokens, q, p, what decides (such as u), verdicts.
const laneRows = 5

// LaneOptions is what the lane shows, and how much of it.
type LaneOptions struct {
	At     state.Moment // a moment of the past; zero: the present
	Cursor state.Ref
	Few    bool // only what an audience needs
}

// Lane draws the round in progress, or the last one: the draft tokens, and below them the numbers of
// their tests and the verdicts. At a moment of the past it draws what was known of the round then. With
// 3 rows or more, the first is a dividing line with the round's number and γ. At a refusal, or with the
// cursor on a draft token, a list at the right shows which tokens both models would have taken there.
func Lane(s *state.State, th *theme.Theme, w, h int, o LaneOptions) []string {
	l := laneOf(s, o.At, o.Cursor)
	l.few = o.Few
	body := h - 1
	switch {
	case h < 3:
		return paint.Block(l.columns(th, w, h), w, h)
	case body <= laneRows: // there is no row for the sentence, so it goes into the heading
		return paint.Block(append([]string{l.heading(th, w, l.sentence(th)...)}, l.picture(th, w, body)...), w, h)
	}
	lines := []string{l.heading(th, w)}
	words := []string{l.phase(th, w)}
	if body > laneRows+1 {
		words = append(words, l.why(th, w))
	}
	return paint.Block(append(append(lines, l.picture(th, w, body-len(words))...), words...), w, h)
}

// picture draws the columns and, at the right, the list of choices.
func (l *lane) picture(th *theme.Theme, w, h int) []string {
	listWidth := 0
	if l.hasList() {
		for _, width := range []int{choicesWide, choicesThin} {
			if w >= laneLabel+laneLeast+width {
				listWidth = width
				break
			}
		}
	}
	columns := w - listWidth
	if need := l.width(th, min(h, laneRows)); listWidth > 0 && need < laneCalm {
		columns, listWidth = min(columns, laneCalm), max(listWidth, w-laneCalm)
	}
	lines := paint.Block(l.columns(th, columns, min(h, laneRows)), columns, h)
	if listWidth > 0 {
		list := paint.Block(choiceList(th, l.looked(), l.replacement(), l.round, listWidth, h), listWidth, h)
		for y := range lines {
			lines[y] += list[y]
		}
	}
	return lines
}

// laneCalm is the column at which the list begins in a wide window. It is fixed, so that the list does not
// move with every round.
const laneCalm = 72

// laneLeast is the least room for columns beside a list: three of them.
const laneLeast = 3 * (laneColumn + laneGap)

// looked is the draft token that the sentence and the list of choices are about: the one under the
// cursor, or else the refused one; nil if there is none.
func (l *lane) looked() *state.Token {
	if i := l.lookedAt(); i >= 0 {
		return &l.tokens[i]
	}
	return nil
}

// lookedAt is the index of looked; -1 if there is none.
func (l *lane) lookedAt() int {
	if l.at >= 0 && l.at < len(l.tokens) {
		return l.at
	}
	return slices.IndexFunc(l.tokens, func(t state.Token) bool { return t.Fate == event.Rejected })
}

// replacement is the token that the target drew in place of the token of looked; nil if it drew none there:
// a kept token stays, and the bonus token has a place of its own.
func (l *lane) replacement() *state.Token {
	if t := l.looked(); t == nil || t.Fate != event.Rejected {
		return nil
	}
	return l.commit
}

func (l *lane) hasList() bool {
	t := l.looked()
	return t != nil && l.round != nil && len(t.Target) > 0 && t.Fate != event.Discarded
}

// lane is the round to draw.
type lane struct {
	tokens []state.Token
	commit *state.Token
	round  *state.Round   // nil before the target has judged
	draft  *state.Pending // nil after the target has judged
	of     *state.State
	at     int // index of the draft token that is looked at; len(tokens): the target's own token; -1: none
	few    bool
}

func laneOf(s *state.State, at state.Moment, cursor state.Ref) lane {
	if p, ok := s.Past(at); ok {
		l := lane{of: s, tokens: p.Draft, commit: p.Commit, round: &p.Round, at: p.Last.Token - p.Begin}
		if p.Has(cursor) {
			l.at = cursor.Token - p.Begin
		}
		if at.Steps == 0 { // before its first verdict, the round is a draft that waits
			l.draft = &state.Pending{Round: p.Round.Index, Gamma: p.Round.Gamma, Probe: p.Round.Probe, Proposer: p.Round.Proposer, Tokens: p.Draft, DraftMS: p.Round.DraftMS}
			l.at = -1
		}
		return l
	}
	if p := s.Pending; p != nil {
		return lane{of: s, tokens: p.Tokens, draft: p, at: -1}
	}
	if l := s.Last; l != nil && !(s.Busy() && lastReply(s) != s.Reply.Number) { // not a round of the previous reply
		return lane{of: s, tokens: l.Draft, commit: l.Commit, round: &l.Round, at: -1}
	}
	return lane{of: s, at: -1}
}

// heading draws the dividing line above the lane. In it stand the number and γ of the round, the rule of
// acceptance unless it is token, and words about the round. Words are left out if there is no room for them
// beside the first of texts. At the right stands the first of texts that still fits.
func (l *lane) heading(th *theme.Theme, w int, texts ...string) string {
	out := paint.NewLine(th, w)
	text := ""
	if len(texts) > 0 {
		text = texts[0]
	}
	out.Put(th.Rule, th.Glyph.HRule+" ")
	put := func(style theme.Style, words string) {
		if words != "" && paint.Width(words)+paint.Width(text)+6 <= out.Left() {
			out.Put(style, words)
		}
	}
	putProposer := func(name string) {
		words := l.of.ProposerWords(name)
		named := words + " (" + name + ")"
		if words == name || name == "draft" {
			named = words
		}
		put(th.Label, prefixed("  ", longestThatFits(out.Left()-paint.Width(text)-8, named, words, "")))
	}
	switch {
	case l.draft != nil:
		out.Put(th.Title, fmt.Sprintf("round %d", l.draft.Round+1))
		putRoundGamma(th, out, l.draft.Gamma, l.draft.Probe)
		putProposer(l.draft.Proposer)
	case l.round != nil:
		r := l.round
		out.Put(th.Title, fmt.Sprintf("round %d", r.Index+1))
		putRoundGamma(th, out, r.Gamma, r.Probe)
		if words := ruleWords(r.Rule); words != "" {
			out.Put("", "  ").Put(ruleStyle(th, r.Rule), words)
		}
		if r.Guidance != 0 {
			out.Put(th.Label, fmt.Sprintf("  guidance %g: %s2 rows", r.Guidance, th.Glyph.Times))
		}
		switch {
		case ofServer(r): // the server's rule, path and proposer are not known
			put(th.Label, "  as the server reports it")
		case !l.few:
			put(th.Label, "  "+r.GammaRule+"  "+r.Path)
		}
		if !ofServer(r) && len(l.tokens) > 0 && r.Proposer != "draft" {
			putProposer(r.Proposer)
		}
		put(th.Label, prefixed("  expects ", r.Constraint))
	default:
		out.Put(th.Title, "speculation")
	}
	out.Put("", " ")
	if text = longestThatFits(out.Left()-3, texts...); text != "" {
		out.Put(th.Rule, repeat(th.Glyph.HRule, max(1, out.Left()-paint.Width(text)-3))).Put("", " "+text+" ")
	}
	return out.Put(th.Rule, repeat(th.Glyph.HRule, out.Left())).String()
}

// roomy is the number of free cells above which a heading writes «draft length» before γ.
const roomy = 80

// putRoundGamma draws the γ of a round, and whether the round is a probe.
func putRoundGamma(th *theme.Theme, out *paint.Line, gamma int, probe bool) {
	name := "  "
	if out.Left() > roomy {
		name = "  draft length "
	}
	out.Put(th.Label, fmt.Sprintf("%s%s %d", name, th.Glyph.Gamma, gamma))
	if probe {
		out.Put(th.Warning, " "+th.Glyph.Probe)
	}
}

// phase says what is being done in the round, or its result, with its times at the right.
func (l *lane) phase(th *theme.Theme, w int) string {
	out := paint.NewLine(th, w).Put("", "  ")
	times := ""
	switch {
	case l.few:
	case l.draft != nil:
		times = "draft " + milliseconds(l.draft.DraftMS)
	case ofServer(l.round):
		times = fmt.Sprintf("round %s  %s", milliseconds(l.round.VerifyMS), l.moved())
	case l.round != nil:
		times = fmt.Sprintf("draft %s  check %s  %s", milliseconds(l.round.DraftMS), milliseconds(l.round.VerifyMS), l.moved())
	}
	out.Put(th.Strong, l.sentence(th)[0])
	out.Right(th.Label, times+" ")
	return out.String()
}

// moved says how many bytes were copied from the device for the verdict, or crossed the network.
func (l *lane) moved() string {
	text := bytes(float64(l.round.BytesMoved))
	if onServer(l.of) {
		text += " over the network"
	}
	return text
}

// onServer reports whether the target is on a server.
func onServer(s *state.State) bool { return s.Ready != nil && s.Ready.Target.Server != "" }

func idleWords(s *state.State) string {
	switch {
	case s.Phase == state.Prefilling:
		return "the first round begins when the prompt has been read"
	case s.Phase == state.Drafting:
		return "the first round is under way"
	default:
		return "the rounds of the next reply are shown here"
	}
}

// pathFallback is the path of a round that needs whole rows of scores (event.Round).
const pathFallback = "fallback"

// why draws the reasons for the path, the draft, the proposer, γ and an early end of the draft, as far as
// they fit. Before the verdict, for an audience, or without a reason, it explains the letters q, p and u.
func (l *lane) why(th *theme.Theme, w int) string {
	out := paint.NewLine(th, w-1).Put("", "  ")
	if l.round == nil {
		return out.Put(th.Label, longestThatFits(out.Left(), l.letters(th)...)).String() + " "
	}
	sep := "  " + th.Glyph.Separator + "  "
	text := ""
	if l.round.Path == pathFallback { // the usual paths need no reason; the inspector has it
		text = joinNonEmpty(": ", l.round.Path, l.round.PathWhy)
	}
	gammaWhy := l.round.GammaWhy
	if l.round.GammaRule == "fixed" && !l.round.Probe && !l.round.GammaOverruled { // the heading says what is set
		gammaWhy = ""
	}
	for _, why := range []string{l.round.DraftWhy, l.round.ProposerWhy, gammaWhy, l.round.DraftStop} {
		if longer := joinNonEmpty(sep, text, why); paint.Width(longer) <= out.Left() {
			text = longer // a reason is given whole or not at all
		}
	}
	if text == "" || l.few {
		text = longestThatFits(out.Left(), l.letters(th)...)
	}
	return out.Put(th.Label, text).String() + " "
}

// letters says what the letters q, p and u before the numbers mean; nil if no numbers are drawn.
func (l *lane) letters(th *theme.Theme) []string {
	if len(l.tokens) == 0 {
		return nil
	}
	who := "q is the draft's probability of the guess, p the target's"
	if greedy(l.round) {
		return []string{who + "; at temperature 0 the target's first choice decides", who}
	}
	if l.round == nil || wordsOf(l.round).Below != spec.WordsOf("").Below {
		return []string{who}
	}
	test := "u·q < p"
	if !th.Glyph.Unicode {
		test = "u*q < p"
	}
	return []string{who + ", u a number drawn from 0 to 1; kept if " + test, who + ", u a number drawn from 0 to 1", who}
}
