package doctor

import (
	"slices"
	"strings"
	"testing"

	"specula/engine/event"
)

// To lack a draft model is a warning only if nothing else that was trained can draft.
func TestHeadsDraftInPlaceOfADraftModel(t *testing.T) {
	ready := event.Ready{DraftRefused: "none beside the target", Heads: "Gemma 4 assistant"}
	for heads, want := range map[bool]Line{
		true:  {"vocabulary", OK, "that of the target alone: in place of a draft model, trained heads draft (Gemma 4 assistant)", ""},
		false: {"vocabulary", Warn, "no draft model: none beside the target", "give a draft of the same family by --draft"},
	} {
		x := &examination{Subject: Subject{Ready: ready, Heads: heads}, report: &Report{}}
		if err := x.surroundings(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(x.report.Lines, want) {
			t.Errorf("the doctor says %+v, want %+v among it", x.report.Lines, want)
		}
	}
}

// A guess is a warning that says what to do. Bytes that the vocabulary lacks are no fault.
func TestGuessesAreWarnings(t *testing.T) {
	for _, c := range []struct {
		ready event.Ready
		want  []string // lines
	}{
		{event.Ready{Template: "the file's own"}, []string{"ok template: the file's own"}},
		{event.Ready{Template: "built-in ChatML: guessed", Unspelled: "0x04, 0xF1", Warnings: []event.Warning{
			{About: "template", Text: "a guess: built-in ChatML", Do: "choose another"}, {About: "tokenizer", Text: "gpt-2 is assumed", Do: "download"},
		}}, []string{
			"warn template: a guess: built-in ChatML → choose another", "warn tokenizer: gpt-2 is assumed → download",
			"ok bytes: no token for 0x04, 0xF1: the model does not read these, as in other programs; a chat says when it happens",
		}},
	} {
		x := &examination{Subject: Subject{Ready: c.ready}, report: &Report{}}
		if err := x.surroundings(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range x.report.Lines {
			line := string(l.Status) + " " + l.Name + ": " + l.Found
			if l.Do != "" {
				line += " → " + l.Do
			}
			switch l.Name {
			case "template", "tokenizer", "bytes":
				got = append(got, line)
			}
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("the doctor says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}
