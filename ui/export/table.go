package export

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"specula/engine/event"
	"specula/ui/chats"
)

// JSON writes the chat in the format of saved chats (package chats): raw text and, for every reply,
// its settings, its seed and the events from which it was shown.
func JSON(w io.Writer, c chats.Chat) error {
	data, err := chats.Encode(c)
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

// Reply is one reply of a chat with its rounds, in the form that RoundsJSON writes. Its texts are
// raw, that is, not yet made safe for a terminal.
type Reply struct {
	Reply    int            `json:"reply"` // from 1
	Prompt   string         `json:"prompt"`
	Text     string         `json:"text"`
	Reason   string         `json:"reason"`
	Settings event.Settings `json:"settings"`
	// Config has every setting that was not at its default, and the seed.
	Config map[string]string `json:"config,omitempty"`
	Rounds []event.Round     `json:"rounds"`
	Totals *event.Totals     `json:"totals,omitempty"`

	turn int // index of the reply's turn in the chat
}

// Replies returns the replies of a chat whose settings are recorded. A reply has no Rounds if its events
// were not saved.
func Replies(c chats.Chat) []Reply {
	out := []Reply{}
	prompt := ""
	for i, t := range c.Turns {
		if t.Role == "user" {
			prompt = t.Text
		}
		if t.Record == nil {
			continue
		}
		r := Reply{
			Reply: len(out) + 1, Prompt: prompt, Text: t.Text, Reason: t.Reason, Totals: t.Totals,
			Settings: t.Record.Started.Settings, Config: t.Record.Started.Config, Rounds: []event.Round{}, turn: i,
		}
		for _, e := range t.Record.Events {
			if round, ok := e.(event.Round); ok {
				r.Rounds = append(r.Rounds, round)
			}
		}
		out = append(out, r)
	}
	return out
}

// RoundsJSON writes the replies of a chat with their rounds, each round as its event.
func RoundsJSON(w io.Writer, c chats.Chat) error {
	return json.NewEncoder(w).Encode(struct {
		Format  string  `json:"format"`
		Version int     `json:"version"`
		Title   string  `json:"title"`
		Model   string  `json:"model"`
		Replies []Reply `json:"replies"`
	}{"specula-rounds", 1, c.Title, c.Model, Replies(c)})
}

// RoundsCSV writes one line for each round. Rounds count from 1.
func RoundsCSV(w io.Writer, c chats.Chat) error {
	out := csv.NewWriter(w)
	put(out, "reply", "round", "proposer", "gamma", "drafted", "tested", "accepted", "tokens", "temperature", "draft_temperature",
		"read_ms", "draft_ms", "verify_ms", "sample_ms", "other_ms", "ms", "speedup", "speedup_estimated",
		"rule", "path", "measuring", "bytes_moved", "syncs", "target_tokens", "draft_tokens", "text")
	for _, reply := range Replies(c) {
		for i := range reply.Rounds {
			r := &reply.Rounds[i]
			text, committed := "", r.Committed()
			for _, t := range committed {
				text += t.Text
			}
			put(out, reply.Reply, r.Index+1, r.Proposer, r.Gamma, len(r.Draft), r.Tested, r.Accepted, len(committed), r.Temperature, r.DraftTemperature,
				r.ReadMS, r.DraftMS, r.VerifyMS, r.SampleMS, r.OtherMS, r.MS(), r.Speedup, r.SpeedupEstimated,
				r.Rule, r.Path, r.Probe, r.BytesMoved, r.Syncs, r.TargetLen, r.DraftLen, quote(text))
		}
	}
	return finish(out)
}

// TokensCSV writes one line for each token. Its column place is the position in the draft, from 1; 0 for
// the target's own token.
func TokensCSV(w io.Writer, c chats.Chat) error {
	out := csv.NewWriter(w)
	put(out, "reply", "round", "place", "id", "text", "verdict", "p", "q", "u", "bound", "stop")
	for _, reply := range Replies(c) {
		for i := range reply.Rounds {
			r := &reply.Rounds[i]
			token := func(place int, t *event.Token) {
				text := t.Text
				if t.Raw != nil {
					text = string(t.Raw)
				}
				put(out, reply.Reply, r.Index+1, place, t.ID, quote(text), t.Verdict, t.P, t.Q, t.U, t.Bound, t.Stop)
			}
			for k := range r.Draft {
				token(k+1, &r.Draft[k])
			}
			if r.Commit != nil {
				token(0, r.Commit)
			}
		}
	}
	return finish(out)
}

// quote returns raw text as a JSON string. So spaces and newlines are visible, and no spreadsheet takes
// a text that begins with «=» for a formula.
func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return string(quoted)
}

// put writes a line. An error stays in the writer until finish.
func put(out *csv.Writer, cells ...any) {
	line := make([]string, len(cells))
	for i, c := range cells {
		switch c := c.(type) {
		case float64:
			line[i] = strconv.FormatFloat(c, 'g', -1, 64)
		case *float64:
			if c != nil {
				line[i] = strconv.FormatFloat(*c, 'g', -1, 64)
			}
		default:
			line[i] = fmt.Sprint(c)
		}
	}
	_ = out.Write(line)
}

func finish(out *csv.Writer) error {
	out.Flush()
	return out.Error()
}
