package dialog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"specula/ui/chats"
	"specula/ui/command"
	"specula/ui/dialog"
	"specula/ui/keys"
	"specula/ui/theme"
)

func mono() *theme.Theme {
	th, _ := theme.Named("mono", true)
	return th
}

func ExampleChats() {
	d := dialog.NewChats([]chats.Chat{{ID: "a", Title: "Why speculate?"}}, 0, mono())
	d.Draw(mono(), 60, 10)
	cmd := d.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
	fmt.Println(cmd())
	// Output: {a}
}

func text(lines []string) string { return ansi.Strip(strings.Join(lines, "\n")) }

type drawer interface {
	Draw(th *theme.Theme, w, h int) []string
}

func TestEveryLineFits(t *testing.T) {
	saved := []chats.Chat{{ID: "a", Title: strings.Repeat("wide 漢字 ", 40), Updated: time.Unix(0, 0), Model: "m"}, {ID: "b", Title: "x\x1b[31my"}}
	for name, d := range map[string]drawer{
		"help": dialog.NewHelp(), "chats": dialog.NewChats(saved, 1, mono()), "no chats": dialog.NewChats(nil, 0, mono()),
	} {
		for _, size := range [][2]int{{40, 10}, {80, 24}, {300, 80}, {1, 1}, {120, 36}} {
			lines := d.Draw(mono(), size[0], size[1])
			if len(lines) != size[1] {
				t.Errorf("%s at %v has %d lines", name, size, len(lines))
			}
			for i, l := range lines {
				if w := ansi.StringWidth(l); w != size[0] {
					t.Errorf("%s at %v: line %d is %d cells wide: %q", name, size, i, w, l)
				}
			}
		}
	}
}

func TestHelpShowsEveryKeyAndCommand(t *testing.T) {
	got := text(dialog.NewHelp().Draw(mono(), 160, 400))
	for _, l := range keys.Overlay() {
		if !strings.Contains(got, l.Keys) {
			t.Errorf("help misses the keys %q", l.Keys)
		}
	}
	for _, c := range command.Table() {
		if !strings.Contains(got, "/"+c.Name+" ") {
			t.Errorf("help misses /%s", c.Name)
		}
	}
}

// Even in a narrow window every explanation is complete.
func TestHelpIsNeverCut(t *testing.T) {
	for _, w := range []int{40, 60, 80, 200} {
		got := strings.Join(strings.Fields(text(dialog.NewHelp().Draw(mono(), w, 900))), " ")
		must := func(text string) {
			t.Helper()
			if want := strings.Join(strings.Fields(text), " "); !strings.Contains(got, want) {
				t.Errorf("at %d columns help does not say %q", w, want)
			}
		}
		for _, explained := range []string{
			"kept drafted, and accepted by the target",
			"refused drafted, and rejected: the first refusal of its round",
			"discarded drafted after a refusal: never tested, it counts for nothing",
			"instead drawn by the target in place of the refused token (resampled)",
			"free drawn by the target after the whole draft was kept (the bonus token)",
			"no draft drawn by the target in a round without a draft",
			"unchecked drafted, and not checked yet",
			"measuring ◦ a round whose draft length was chosen to measure what it costs; often it has no draft",
		} {
			must(explained)
		}
		for _, l := range keys.Overlay() {
			must(l.Keys + " " + l.Does)
		}
		for _, c := range command.Table() {
			must("/" + c.Name + " " + c.Doc)
		}
	}
}

func TestHelpScrolls(t *testing.T) {
	h := dialog.NewHelp()
	first := text(h.Draw(mono(), 80, 20))
	h.Update(tea.KeyPressMsg{Code: tea.KeyPgDown})
	second := text(h.Draw(mono(), 80, 20))
	h.Update(tea.KeyPressMsg{Code: tea.KeyHome})
	if first == second || text(h.Draw(mono(), 80, 20)) != first {
		t.Error("pgdn must show other lines, home the first ones again")
	}
}

func TestFilterAndChoose(t *testing.T) {
	d := dialog.NewChats([]chats.Chat{{ID: "a", Title: "apples"}, {ID: "b", Title: "pears"}}, 0, mono())
	d.Draw(mono(), 60, 10)
	run := func(k tea.KeyPressMsg) {
		if cmd := d.Update(k); cmd != nil {
			for _, msg := range results(cmd) {
				d.Update(msg)
			}
		}
	}
	run(tea.KeyPressMsg{Code: '/', Text: "/"})
	for _, r := range "pear" {
		run(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	if got := text(d.Draw(mono(), 60, 10)); strings.Contains(got, "apples") || !strings.Contains(got, "pears") {
		t.Errorf("the filter shows:\n%s", got)
	}
	if !d.Filtering() {
		t.Error("esc must belong to the filter now")
	}
	run(tea.KeyPressMsg{Code: tea.KeyEnter}) // accepts the filter
	cmd := d.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
	if cmd == nil || cmd() != (dialog.Chosen{ID: "b"}) {
		t.Error("enter must choose the filtered chat")
	}
}

// results runs a command and the commands that it batches. Ticks of a blinking cursor do not matter.
func results(cmd tea.Cmd) []tea.Msg {
	done := make(chan tea.Msg, 1)
	go func() { done <- cmd() }()
	switch msg := (<-done).(type) {
	case tea.BatchMsg:
		var out []tea.Msg
		for _, c := range msg {
			if c != nil {
				out = append(out, results(c)...)
			}
		}
		return out
	default:
		return []tea.Msg{msg}
	}
}
