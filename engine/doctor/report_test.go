package doctor_test

import (
	"os"
	"strings"
	"testing"

	"specula/engine/doctor"
)

func TestReportsConclude(t *testing.T) {
	for _, c := range []struct {
		lines []doctor.Status
		says  string
		sound bool
	}{
		{[]doctor.Status{doctor.OK}, "Everything is right.\n", true},
		{[]doctor.Status{doctor.OK, doctor.Warn}, "Everything is right; 1 of 2 lines could be better.\n", true},
		{[]doctor.Status{doctor.Fail, doctor.Warn}, "FAIL: 1 of 2 lines.\n", false},
	} {
		r := doctor.Report{}
		for _, s := range c.lines {
			r.Lines = append(r.Lines, doctor.Line{Name: "line", Status: s})
		}
		var b strings.Builder
		if err := r.WriteTable(&b); err != nil || !strings.HasSuffix(b.String(), c.says) || r.Matched() != c.sound {
			t.Errorf("%v: matched %v, %v:\n%s", c.lines, r.Matched(), err, &b)
		}
	}
}

func Example() {
	r := doctor.Report{Target: "Qwen3-8B", Lines: []doctor.Line{
		{Name: "template", Status: doctor.OK, Found: "the file's own"},
		{Name: "memory", Status: doctor.Warn, Found: "312 MiB are still available", Do: "choose a shorter --context"},
	}}
	if err := r.WriteTable(os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// target Qwen3-8B, no draft model; 0.0 s
	//
	// ok    template  the file's own
	// warn  memory    312 MiB are still available
	//                 → choose a shorter --context
	//
	// Everything is right; 1 of 2 lines could be better.
}
