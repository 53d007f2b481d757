package keys_test

import (
	"slices"
	"strings"
	"testing"

	"specula/assets"
	"specula/engine/exam"
	"specula/ui/command"
	"specula/ui/keys"
)

// The exam of the demo pair asks for keys and commands. Each must exist in the program and do what the
// exam says. Otherwise the model would be trained to give wrong answers.
func TestExamWantsRealKeysAndCommands(t *testing.T) {
	asked := 0
	for _, p := range assets.Exam() {
		paper, err := exam.Read(p.Name, p.Text)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range paper.Questions {
			wanted := slices.Concat(q.Must...)
			for _, alternative := range wanted {
				if call, err := command.Parse(alternative); command.Is(alternative) && (err != nil || call.Command.Name == "") {
					t.Errorf("%s: %v", q.ID, err)
				}
			}
			if q.Key != "" {
				asked++
				checkKeys(t, q, wanted)
			}
		}
	}
	if asked < 30 {
		t.Errorf("only %d questions ask for a key", asked)
	}
}

// checkKeys compares a question that asks for a key with the bindings whose words it names.
func checkKeys(t *testing.T, q exam.Question, wanted []string) {
	t.Helper()
	var bound []string
	for _, b := range keys.Bindings() {
		if strings.Contains(strings.ToLower(b.Does), strings.ToLower(q.Key)) {
			bound = append(bound, b.Keys...)
		}
	}
	if len(bound) == 0 {
		t.Errorf("%s: the key map says nowhere %q", q.ID, q.Key)
	}
	arrows := strings.NewReplacer("↑", "up", "↓", "down", "←", "left", "→", "right")
	found := 0
	for _, alternative := range wanted {
		if command.Is(alternative) {
			continue
		}
		if !slices.Contains(bound, arrows.Replace(alternative)) {
			t.Errorf("%s: %s does not do %q; the key map has %v", q.ID, alternative, q.Key, bound)
		}
		found++
	}
	if found == 0 {
		t.Errorf("%s wants no key", q.ID)
	}
}
