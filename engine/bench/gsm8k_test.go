package bench

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"specula/engine/config"
)

func TestReadGSM8K(t *testing.T) {
	const two = `{"question": " How many clips?\nSay. ", "answer": "48+24 #### 72"}` + "\n\n" + `{"answer":"#### 10","question":"How much?"}` + "\n"
	for name, tt := range map[string]struct {
		text string
		most int
		want []string
		err  string
	}{
		"two":               {two, 50, []string{"How many clips?\nSay.", "How much?"}, ""},
		"as many as wanted": {two + "not JSON", 2, []string{"How many clips?\nSay.", "How much?"}, ""},
		"no JSON":           {two + "Question: why?", 50, nil, "f.jsonl:4: reading a question: invalid character"},
		"another set":       {`{"prompt":"hi"}`, 50, nil, `f.jsonl:1: the line has no text "question"; is this a file of GSM8K`},
		"no text":           {`{"question":7}`, 50, nil, "f.jsonl:1: reading a question: json: cannot unmarshal number"},
		"blank":             {`{"question":" "}`, 50, nil, `f.jsonl:1: the line has no text "question"`},
		"nothing":           {"\n", 50, nil, "f.jsonl: the file holds no question"},
		"endless line":      {two + strings.Repeat("x", maxLineBytes+1), 50, nil, "f.jsonl:4: the line is longer than 1048576 bytes"},
	} {
		got, err := ReadGSM8K("f.jsonl", strings.NewReader(tt.text), tt.most)
		if !reflect.DeepEqual(got, tt.want) || err == nil != (tt.err == "") {
			t.Errorf("%s: got %q, %v", name, got, err)
			continue
		}
		if err != nil && (!strings.HasPrefix(err.Error(), tt.err) || !errors.As(err, new(*config.FileError))) {
			t.Errorf("%s: got %v, want %s", name, err, tt.err)
		}
	}
}
