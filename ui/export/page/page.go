// Package page writes replies as one HTML file: the text with coloured tokens, the numbers of each
// token, a picture of the rounds, and a player. The file needs no network.
//
// Invariant: texts of models and users reach the page as text only. They stand as JSON in a script
// element that is never run, and the page's script writes them by textContent. A policy in the page
// forbids every script and style but its own two, and all requests.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html"
	"io"
	"strconv"
	"strings"

	"specula/engine/event"
	"specula/ui/sanitize"
	"specula/ui/state"
)

//go:embed page.html
var document string

//go:embed page.css
var style string

//go:embed page.js
var script string

// Reply is a reply to show: the message that package state has made of its events, and its rounds.
type Reply struct {
	Prompt  string // safe
	Message *state.Message
	Rounds  []event.Round
	Totals  event.Totals
}

// Write writes the page. title and models are safe texts. It needs at least one reply with rounds.
func Write(w io.Writer, title, models string, replies []Reply) error {
	data := pageData{Texts: []string{}}
	known := map[string]int{}
	text := func(s string) int {
		i, ok := known[s]
		if !ok {
			i = len(data.Texts)
			known[s] = i
			data.Texts = append(data.Texts, s)
		}
		return i
	}
	var plain strings.Builder
	for _, r := range replies {
		if len(r.Message.Rounds) == 0 || len(r.Message.Rounds) != len(r.Rounds) {
			continue // the events of this reply were not kept, only its text
		}
		data.Replies = append(data.Replies, newReply(r, text))
		plain.WriteString("> " + r.Prompt + "\n\n" + r.Message.Text + "\n\n")
	}
	if len(data.Replies) == 0 {
		return errors.New("no round of a reply is known")
	}
	encoded, err := json.Marshal(data) // which escapes <, > and &
	if err != nil {
		return err
	}
	_, err = strings.NewReplacer(
		"{{.Title}}", html.EscapeString(title), "{{.Models}}", html.EscapeString(models), "{{.Text}}", html.EscapeString(plain.String()),
		"{{.Style}}", style, "{{.StyleHash}}", hash(style), "{{.Script}}", script, "{{.ScriptHash}}", hash(script), "{{.Data}}", string(encoded),
	).WriteString(w, document)
	return err
}

// hash is how a content security policy names an inline script or style.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// What page.js reads.
type (
	pageData struct {
		Texts   []string `json:"texts"`
		Replies []reply  `json:"replies"`
	}
	reply struct {
		Prompt   string   `json:"prompt"`
		Rule     string   `json:"rule"`
		Settings []string `json:"settings"`
		Summary  summary  `json:"summary"`
		PlainMS  figure   `json:"plainMS"` // ms per token in plain rounds; 0 if there were none
		Rounds   []round  `json:"rounds"`
	}
	summary struct {
		Tokens    int    `json:"tokens"`
		Rounds    int    `json:"rounds"`
		Drafted   int    `json:"drafted"`
		Tested    int    `json:"tested"`
		Accepted  int    `json:"accepted"`
		Speedup   figure `json:"speedup"` // 0 if it is not known
		Estimated bool   `json:"estimated"`
		PerSecond figure `json:"perSecond"` // tokens per second of engine time
	}
	round struct {
		Gamma     int    `json:"gamma"`
		Measuring bool   `json:"measuring,omitempty"`
		Who       string `json:"who"`
		DraftMS   figure `json:"draftMS"`
		VerifyMS  figure `json:"verifyMS"`
		OtherMS   figure `json:"otherMS"`
		Draft     []any  `json:"draft"` // tokens, see TEXT in page.js
		Own       []any  `json:"own,omitempty"`
	}
)

// figure is a number that is written with four significant digits, so that files stay small.
type figure float64

// MarshalJSON writes the number.
func (f figure) MarshalJSON() ([]byte, error) {
	return json.Marshal(json.Number(strconv.FormatFloat(float64(f), 'g', 4, 64)))
}

func newReply(r Reply, text func(string) int) reply {
	t := r.Totals
	out := reply{Prompt: r.Prompt, Rule: rule(r.Rounds), Settings: settings(r.Message.Settings), Rounds: []round{}}
	if t.PlainMSPerToken != nil {
		out.PlainMS = figure(*t.PlainMSPerToken)
	}
	total := 0.0
	tokens := r.Message.Tokens
	for i := range r.Rounds {
		e := &r.Rounds[i]
		total += e.MS()
		line := round{
			Gamma: e.Gamma, Measuring: e.Probe, Who: r.Message.Rounds[i].Proposer, Draft: []any{},
			DraftMS: figure(e.ReadMS + e.DraftMS), VerifyMS: figure(e.VerifyMS), OtherMS: figure(e.SampleMS + e.OtherMS),
		}
		for ; len(tokens) > 0 && tokens[0].Round == i; tokens = tokens[1:] {
			if tokens[0].Position < 0 {
				line.Own = token(&tokens[0], text)
			} else {
				line.Draft = append(line.Draft, token(&tokens[0], text))
			}
		}
		out.Rounds = append(out.Rounds, line)
	}
	out.Summary.Speedup, out.Summary.Estimated = figure(t.Speedup), t.SpeedupEstimated
	out.Summary.Tokens, out.Summary.Rounds = t.Tokens, t.Rounds
	out.Summary.Drafted, out.Summary.Tested, out.Summary.Accepted = t.Drafted, t.Tested, t.Accepted
	if total > 0 {
		out.Summary.PerSecond = figure(1000 * float64(t.Tokens) / total)
	}
	return out
}

// rule returns the rule of acceptance that all rounds had; "" if it changed within the reply.
func rule(rounds []event.Round) string {
	for i := range rounds {
		if rounds[i].Rule != rounds[0].Rule {
			return ""
		}
	}
	return sanitize.Line(rounds[0].Rule)
}

// settings names the most important settings of a reply.
func settings(s event.Settings) []string {
	return []string{
		"T " + strconv.FormatFloat(s.Temperature, 'g', 4, 64), "γ " + strconv.Itoa(s.Gamma) + " " + s.GammaRule,
		s.Proposer, "seed " + strconv.FormatInt(s.Seed, 10),
	}
}

// leastShown is the least probability with which a candidate after the first is listed: the page shows
// three decimals.
const leastShown = 0.0005

var verdicts = map[event.Verdict]int{event.Accepted: 0, event.Rejected: 1, event.Discarded: 2, event.Resampled: 3, event.Bonus: 4, event.Plain: 5}

func token(t *state.Token, text func(string) int) []any {
	verdict, ok := verdicts[t.Fate]
	if !ok {
		verdict = -1
	}
	number := func(x *float64) any {
		if x == nil {
			return nil
		}
		return figure(*x)
	}
	list := func(candidates []event.Candidate) any {
		if len(candidates) == 0 {
			return nil
		}
		out := make([]any, 0, 2*len(candidates))
		for i, c := range candidates {
			if i == 0 || c.P >= leastShown {
				out = append(out, text(c.Text), figure(c.P))
			}
		}
		return out
	}
	if t.Fate == event.Discarded { // no candidates: the target never judged this position
		return []any{text(t.Text), verdict, number(t.P), number(t.Q), number(t.U), number(t.Bound)}
	}
	return []any{text(t.Text), verdict, number(t.P), number(t.Q), number(t.U), number(t.Bound), list(t.Target), list(t.Draft)}
}
