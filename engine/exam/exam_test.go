package exam

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"specula/tokenizer/chat"
)

func question(t *testing.T, rules ...string) Question {
	t.Helper()
	p, err := Read("test", "id: x\nuser: y\n"+strings.Join(rules, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return p.Questions[0]
}

func TestGrade(t *testing.T) {
	ten := "one, two, three, four, five, six, seven, eight, nine, ten"
	twenty := "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"
	tests := []struct {
		name, rules, reply string
		right              bool
	}{
		{"must", "must: alt+↑|alt+up", "Press alt+↑ to do it.", true},
		{"other alternative", "must: alt+↑|alt+up", "Press Alt+Up.", true},
		{"must is missing", "must: alt+↑|alt+up", "Press alt+↓.", false},
		{"at the end of a sentence", "must: alt+.", "It is alt+..", true},
		{"upper case", "must: paris", "It is PARIS.", true},
		{"number within a number", "must: 4", "It is 14 or 41.", false},
		{"number after one within a number", "must: 4", "It is 14 or 4.", true},
		{"word within a word", "must: hot", "He shot at that hotel.", false},
		{"beginning of a word", "must: reject*", "It was rejected.", true},
		{"no beginning", "must: eject*", "It was rejected.", false},
		{"each line", "must: full\nmust: slow", "It is slow.", false},
		{"all lines", "must: full\nmust: slow", "Slow and full.", true},
		{"not", "must: yes\nnot: no", "Yes and no.", false},
		{"not within a word", "must: yes\nnot: no", "Yes, I know.", true},
		{"one of several nots", "must: yes\nnot: a|b", "Yes, b.", false},
		{"apostrophe", "must: can't", "I can’t.", true},
		{"over a line's end", "must: not know", "I do not\nknow.", true},
		{"letters that are not ASCII", "must: γ", "It is γ.", true},
		{"copy", "copy: A red, red Rose.", " A red, red Rose.\n", true},
		{"quoted copy", "copy: A red Rose.", "“A red Rose.”", true},
		{"copy in other case", "copy: A red Rose.", "a red Rose.", false},
		{"copy and more", "copy: A red Rose.", "A red Rose. Yes.", false},
		{"digits", "count: 10", "Sure: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10!", true},
		{"words after the goal", "count: 10", "To ten: " + ten + ".", true},
		{"one is left out", "count: 10", "1, 2, 3, 4, 5, 6, 8, 9, 10", false},
		{"not far enough", "count: 10", "1, 2, 3, 4, 5, 6, 7, 8, 9", false},
		{"too far", "count: 10", ten + ", eleven", false},
		{"twenty", "count: 20", twenty, true},
		{"beyond twenty", "count: 20", twenty + " twenty-one", false},
	}
	for _, tt := range tests {
		if got := question(t, tt.rules).Grade(tt.reply); (got == "") != tt.right {
			t.Errorf("%s: %q gives %q, right should be %v", tt.name, tt.reply, got, tt.right)
		}
	}
}

func TestReadNamesWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "no questions",
		"id: a\nuser: b":                      "no rule",
		"user: b\nmust: c":                    "no id",
		"id: a\nmust: c":                      "begin and end with a user line",
		"id: a\nuser: b\nassistant: c":        "begin and end with a user line",
		"id: a\nuser: b\nmust: c|":            "line 3: an alternative",
		"id: a\nuser: b\ncount: 99":           "count must be",
		"id: a\nwho: b":                       `line 2: there is no "who"`,
		"id: a\nnonsense":                     "NAME: VALUE",
		"id: a\nuser: b\nmust:":               "NAME: VALUE",
		"id: a\nuser: b\nmust: c\nid: d\n\n#": "",
		"id: a\nuser: b\nmust: c\n\nid: a\nuser: d\nmust: e":           "the id a is there twice",
		"id: a\nuser: b\nassistant: c\nassistant: d\nuser: e\nmust: f": "follow each other",
	} {
		_, err := Read("paper", text)
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && !strings.Contains(got, want) {
			t.Errorf("%q gives %v, want %q", text, err, want)
		}
	}
}

func TestTakeHoldsTheConversation(t *testing.T) {
	p, err := Read("talk", "id: own\nuser: I am Ann.\nuser: Who am I?\nmust: ann\n\n# a reply that is given\nid: given\nuser: a\nassistant: b\nuser: c\nmust: d")
	if err != nil {
		t.Fatal(err)
	}
	var heard []string
	answer := func(_ context.Context, messages []chat.Message) (string, error) {
		var said []string
		for _, m := range messages {
			said = append(said, m.Content)
		}
		heard = append(heard, strings.Join(said, "/"))
		return fmt.Sprintf("reply %d, Ann", len(heard)), nil
	}
	done := 0
	results, err := Take(t.Context(), []Paper{p}, answer, func(n, total int) { done = n*10 + total })
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"I am Ann.", "I am Ann./reply 1, Ann/Who am I?", "a/b/c"}
	if strings.Join(heard, "|") != strings.Join(want, "|") || done != 22 {
		t.Errorf("the model heard %q, progress %d", heard, done)
	}
	r := results[0]
	if r.Asked != 2 || r.Right != 1 || r.Share() != 0.5 || len(r.Misses) != 1 || r.Misses[0] != (Miss{"given", "c", "reply 3, Ann", "one of: d"}) {
		t.Errorf("the result is %+v", r)
	}
	broken := errors.New("no model")
	if _, err := Take(t.Context(), []Paper{p}, func(context.Context, []chat.Message) (string, error) { return "", broken }, nil); !errors.Is(err, broken) {
		t.Errorf("a model that fails gives %v", err)
	}
}
