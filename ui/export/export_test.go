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

func TestJSONKeepsRawText(t *testing.T) {
	c := chat()
	c.Turns[0].Text = "raw \x1b[31m <&> "
	var sb strings.Builder
	if err := export.Write(&sb, c, export.JSONFormat); err != nil {
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
	for _, f := range []export.Format{export.MarkdownFormat, export.JSONFormat} {
		if err := export.Write(full{}, chat(), f); !errors.Is(err, errFull) {
			t.Errorf("%s on a full disk: %v", f, err)
		}
	}
	if err := export.Write(full{}, chat(), "pdf"); err == nil || errors.Is(err, errFull) {
		t.Errorf("format pdf: %v", err)
	}
}
