package export_test

import (
	"encoding/csv"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/trace"
	"specula/ui"
	"specula/ui/chats"
	"specula/ui/export"
	"specula/ui/state/statetest"
)

// recorded returns the scripted chat as a trace would hold it.
func recorded() []trace.Record {
	var records []trace.Record
	for i, e := range statetest.Chat(-1) {
		if round, ok := e.(event.Round); ok {
			round.Rule = "token"
			e = round
		}
		records = append(records, trace.Record{AtMS: float64(20 * i), Event: e})
	}
	return records
}

// long returns a recording of one reply with at least n tokens.
func long(n int) []trace.Record {
	var records, rounds []trace.Record
	for _, r := range recorded() {
		switch r.Event.(type) {
		case event.Round, event.Drafted:
			rounds = append(rounds, r)
		case event.ReplyEnded:
		default:
			records = append(records, r)
		}
	}
	var text strings.Builder
	tokens, index := 0, 0
	for tokens < n {
		for _, r := range rounds {
			switch e := r.Event.(type) {
			case event.Drafted:
				e.Round = index
				r.Event = e
			case event.Round:
				e.Index = index
				index++
				for _, t := range e.Committed() {
					text.WriteString(t.Text)
					tokens++
				}
				r.Event = e
			}
			r.AtMS = records[len(records)-1].AtMS + 10
			records = append(records, r)
		}
	}
	return append(records, trace.Record{AtMS: records[len(records)-1].AtMS, Event: event.ReplyEnded{Reply: 1, Reason: "length", Text: text.String(), Totals: event.Totals{Tokens: tokens, Rounds: index}}})
}

// source returns a recording in all forms.
func source(records []trace.Record) export.Source {
	f := ui.Film(records, config.Default(), 100, 30)
	return export.Source{Chat: export.ChatOf(records), Film: f, Picture: f, Records: records}
}

// hostileTexts are texts that do harm where they are not escaped.
var hostileTexts = []string{
	"<script>alert(1)</script>", `"onmouseover="x`, "=HYPERLINK(\"http://x\")", "\u202etxt.exe\u2066", "\x1b]0;owned\x07\x1b[31m", "a,b\r\n\"c\"", "]]>", "\u2028",
}

// hostile returns a chat of tokens with these texts.
func hostile() chats.Chat { return export.ChatOf(hostileRecords()) }

func hostileRecords() []trace.Record {
	var records []trace.Record
	add := func(e event.Event) { records = append(records, trace.Record{Event: e}) }
	add(event.Ready{Target: event.Model{Name: hostileTexts[0]}})
	add(event.ReplyStarted{Reply: 1, Prompt: strings.Join(hostileTexts, " ")})
	text := ""
	for i, s := range hostileTexts {
		refused := event.Token{ID: 7, Raw: []byte(s), Text: s, Verdict: event.Rejected, Draft: []event.Candidate{{ID: 1, Text: s, P: 0.5}}}
		add(event.Round{Index: i, Proposer: s, GammaWhy: s, Draft: []event.Token{refused}, Tested: 1,
			Commit: &event.Token{ID: int32(i), Raw: []byte(s), Text: s, Verdict: event.Resampled, Target: []event.Candidate{{ID: 1, Text: s, P: 1}}}})
		text += s
	}
	add(event.ReplyEnded{Reply: 1, Reason: hostileTexts[0], Text: text, Totals: event.Totals{Rounds: len(hostileTexts)}})
	return records
}

func write(t *testing.T, format string, c chats.Chat) string {
	t.Helper()
	f, err := export.Named(format)
	if err != nil {
		t.Fatal(err)
	}
	var sb strings.Builder
	if err := f.Write(&sb, export.Source{Chat: c}); err != nil {
		t.Fatal(err)
	}
	return sb.String()
}

// rows reads a table as maps from the name of a column to the cell.
func rows(t *testing.T, text string) []map[string]string {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, cell := range line {
			row[lines[0][i]] = cell
		}
		out = append(out, row)
	}
	return out
}

// The tables of a reply sum up to its totals, and their texts to its text.
func TestTablesTellTheWholeReply(t *testing.T) {
	records := recorded()
	ended := records[len(records)-1].Event.(event.ReplyEnded)
	text, drafted, accepted, tokens, ms := "", 0, 0, 0, 0.0
	rounds := rows(t, write(t, "csv", export.ChatOf(records)))
	for i, r := range rounds {
		text += unquote(t, r["text"])
		drafted, accepted, tokens = drafted+number(t, r["drafted"]), accepted+number(t, r["accepted"]), tokens+number(t, r["tokens"])
		verify, err := strconv.ParseFloat(r["verify_ms"], 64)
		if ms += verify; err != nil || r["reply"] != "1" || r["round"] != strconv.Itoa(i+1) {
			t.Errorf("line %d is %v (%v)", i, r, err)
		}
	}
	want := ended.Totals
	if text != ended.Text || drafted != want.Drafted || accepted != want.Accepted || tokens != want.Tokens || ms != want.VerifyMS || len(rounds) != want.Rounds {
		t.Errorf("%d rounds, %d drafted, %d accepted, %d tokens, %g ms, want %+v; text %q", len(rounds), drafted, accepted, tokens, ms, want, text)
	}
	text = ""
	verdicts := map[string]int{}
	for _, r := range rows(t, write(t, "tokens.csv", export.ChatOf(records))) {
		verdicts[r["verdict"]]++
		if event.Verdict(r["verdict"]).Committed() {
			text += unquote(t, r["text"])
		}
		if (r["q"] == "") != (r["place"] == "0") {
			t.Errorf("place %s has q %q", r["place"], r["q"])
		}
	}
	if text != ended.Text || verdicts["accepted"] != want.Accepted || verdicts["rejected"] != want.Tested-want.Accepted || verdicts["rejected"] == 0 {
		t.Errorf("verdicts %v, want %+v; text %q", verdicts, want, text)
	}
}

func TestRoundsJSONHasTheEventsOfTheTrace(t *testing.T) {
	var got struct {
		Model   string
		Replies []export.Reply
	}
	if err := json.Unmarshal([]byte(write(t, "rounds.json", export.ChatOf(recorded()))), &got); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range recorded() {
		if round, ok := r.Event.(event.Round); ok {
			want, _ := json.Marshal(round)
			have, _ := json.Marshal(got.Replies[0].Rounds[n])
			if string(have) != string(want) {
				t.Fatalf("round %d is\n%s\nwant\n%s", n, have, want)
			}
			n++
		}
	}
	if len(got.Replies) != 1 || len(got.Replies[0].Rounds) != n || got.Model != "demo-target" || got.Replies[0].Settings.Seed != 42 {
		t.Errorf("%d replies of %q", len(got.Replies), got.Model)
	}
}

// A spreadsheet takes a cell that begins with «=» for a formula, and drops spaces.
func TestTextsOfTablesAreQuoted(t *testing.T) {
	got := rows(t, write(t, "tokens.csv", hostile()))
	for i, r := range got {
		if !strings.HasPrefix(r["text"], `"`) || strings.ContainsAny(r["text"], "\x1b\n\r") || unquote(t, r["text"]) != hostileTexts[i/2] {
			t.Errorf("line %d has the text %q", i, r["text"])
		}
	}
	if len(got) != 2*len(hostileTexts) {
		t.Errorf("%d lines", len(got))
	}
}

func unquote(t *testing.T, text string) (s string) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return s
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAPageIsSmall(t *testing.T) {
	records := long(500)
	tokens := records[len(records)-1].Event.(event.ReplyEnded).Totals.Tokens
	if got := len(write(t, "html", export.ChatOf(records))); got > 1000*tokens {
		t.Errorf("the page of %d tokens has %d bytes, want at most 1,000 a token", tokens, got)
	}
}

// A reply of 2,000 tokens should be written in each format in under a second.
func BenchmarkFormats(b *testing.B) {
	records := long(2000)
	for _, f := range export.Formats() {
		b.Run(f.Name, func(b *testing.B) {
			bytes := 0
			for b.Loop() {
				var sb strings.Builder
				if err := f.Write(&sb, source(records)); err != nil {
					b.Fatal(err)
				}
				bytes = sb.Len()
			}
			b.ReportMetric(float64(bytes)/1000, "kB")
		})
	}
}
