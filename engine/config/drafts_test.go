package config

import (
	"reflect"
	"strings"
	"testing"
)

func TestDraftsAreReadAsTheyAreWritten(t *testing.T) {
	want := []Draft{{1, 4, 1, nil}, {3, 2, 0.5, nil}, {2, 0, 1, nil}, {1, 2, 1, []int32{12, 7}}, {1, 1, 1, []int32{0}}}
	text := FormatDrafts(want)
	if text != "4,2@0.5x3,0x2,=12.7,=0" {
		t.Errorf("written as %q", text)
	}
	if got, err := ParseDrafts(text); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read as %+v (%v)", got, err)
	}
	for text, says := range map[string]string{
		"4,": "entry 2", "33": "0 to 32", "-1": "0 to 32", "4x0": "number of rounds", "4x": "number of rounds", "4@0": "factor", "4@NaN": "factor", "4@2": "factor",
		"=": "no token", "=-1": "no token", "=1.": "no token", "=99999999999": "no token", "a": "number of tokens", strings.Repeat("0,", 200_000) + "0": "bytes",
	} {
		if _, err := ParseDrafts(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.20q: %v, want an error that says %q", text, err, says)
		}
	}
}
