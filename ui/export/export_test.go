package export_test

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"specula/engine/event"
	"specula/ui/chats"
	"specula/ui/export"
)

func chat() chats.Chat {
	return chats.Chat{
		ID: "20261121-120000-1", Title: "Why speculate?", Model: "demo-target", System: "Be brief.",
		Created: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
		Turns: []chats.Turn{
			{Role: "user", Text: "Why speculate?"},
			{Role: "assistant", Text: "Because *verifying* is cheap.", Reason: "stop", Totals: &event.Totals{Tokens: 7, Rounds: 3, Tested: 6, Accepted: 4}},
		},
	}
}

func ExampleMarkdown() {
	if err := export.Markdown(os.Stdout, chat()); err != nil {
		panic(err)
	}
	// Output:
	// # Why speculate?
	//
	// 2026-11-21 12:00 · demo-target
	//
	// ## System
	//
	// Be brief.
	//
	// ## You
	//
	// Why speculate?
	//
	// ## Model
	//
	// Because *verifying* is cheap.
	//
	// *7 tokens in 3 passes of the target · 67 % of tested draft tokens accepted*
}

func TestMarkdownIsSafeForATerminal(t *testing.T) {
	c := chat()
	c.Title = "a\x1b]0;owned\x07b"
	c.Turns[1].Text = "x\x1b[31mred\x1b[0m\n\ty"
	c.Turns[1].Reason = "can\x1bcelled"
	var sb strings.Builder
	if err := export.Markdown(&sb, c); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsRune(sb.String(), '\x1b') || !strings.Contains(sb.String(), "xred\n\ty") {
		t.Errorf("got %q", sb.String())
	}
}

// The settings of a reply follow it as flags: the whole seed, lists, and texts with quotes and newlines.
func TestMarkdownTellsHowToWriteAReplyAgain(t *testing.T) {
	c := chat()
	c.Turns = append(c.Turns, c.Turns...)
	for _, i := range []int{1, 3} {
		c.Turns[i].Record = &chats.Record{Drafts: "4x2,2@0.5,=12.7", Started: event.ReplyStarted{Config: map[string]string{
			"sampling.seed": "9007199254740991", "sampling.stop": `["a b","it's"]`, "model.system": "one\ntwo\\", "tokens.banned": "[]",
			"sampling.temperature": "0.9\x1b[31m",
		}}}
	}
	var sb strings.Builder
	if err := export.Markdown(&sb, c); err != nil {
		t.Fatal(err)
	}
	const flags = `--system=$'one\ntwo\\' --temperature=0.9 --seed=9007199254740991 --stop='a b' --stop='it'\''s' --ban='' --drafts=4x2,2@0.5,=12.7`
	for _, want := range []string{
		"\nThe same reply again:\n\n    specula run " + flags + " -p 'Why speculate?'\n", "\nWritten with:\n\n    " + flags + "\n",
	} {
		if !strings.Contains(sb.String(), want) {
			t.Errorf("no\n%s\nin\n%s", want, sb.String())
		}
	}
}

func TestMarkdownSaysThatSettingsChanged(t *testing.T) {
	c := chat()
	c.Turns[1].Record = &chats.Record{
		Drafts: "4", Started: event.ReplyStarted{Config: map[string]string{"sampling.seed": "5"}},
		Events: []event.Event{event.SettingChanged{Round: 3, Name: "sampling.temperature", From: "0.7", To: "0.8"}},
	}
	var sb strings.Builder
	if err := export.Markdown(&sb, c); err != nil || !strings.Contains(sb.String(), "changed before its end:\n\n    --seed=5 --drafts=4\n") {
		t.Errorf("%v, got\n%s", err, sb.String())
	}
}

func TestJSONKeepsRawText(t *testing.T) {
	c := chat()
	c.Turns[0].Text = "raw \x1b[31m <&> "
	var sb strings.Builder
	if err := export.JSON(&sb, c); err != nil {
		t.Fatal(err)
	}
	var got chats.Chat
	c.Version = chats.Version
	if err := json.Unmarshal([]byte(sb.String()), &got); err != nil || !reflect.DeepEqual(got, c) {
		t.Errorf("read back %+v (%v), want %+v", got, err, c)
	}
	if strings.ContainsRune(sb.String(), '\x1b') {
		t.Error("the escape byte stands in the file; JSON must escape it")
	}
}

type full struct{}

var errFull = errors.New("no space left on device")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteReportsFailures(t *testing.T) {
	for _, f := range export.Formats() {
		if err := f.Write(full{}, source(recorded())); !errors.Is(err, errFull) {
			t.Errorf("%s on a full disk: %v", f.Name, err)
		}
	}
}

func TestTheEndOfAFilesNameIsItsFormat(t *testing.T) {
	for _, tt := range []struct{ path, want string }{
		{"a.md", "md"}, {"dir.csv/a.rounds.json", "rounds.json"}, {"a.rounds.JSON", "rounds.json"}, {"x.tokens.csv", "tokens.csv"}, {"x.my.csv", "csv"},
	} {
		if f, err := export.ForFile(tt.path); err != nil || f.Name != tt.want {
			t.Errorf("%s is written as %q (%v), want %s", tt.path, f.Name, err, tt.want)
		}
	}
	for _, path := range []string{"", "md", "a.pdf", "a"} {
		if f, err := export.ForFile(path); err == nil || !strings.Contains(err.Error(), ".tokens.csv") {
			t.Errorf("%q is written as %q, error %v", path, f.Name, err)
		}
	}
	if _, err := export.Named("pdf"); err == nil {
		t.Error("there is a format pdf")
	}
}
