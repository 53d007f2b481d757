package engine_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"specula/engine"
	"specula/engine/compute"
	"specula/engine/doctor"
	"specula/engine/host"
)

func examine(t *testing.T, e *engine.Engine) (*doctor.Report, string) {
	t.Helper()
	s := session(t, e, "temperature", "0.7", "gamma-max", "4")
	before := s.Settings()
	r, err := s.Examine(t.Context(), doctor.Options{Seconds: 600, Prompts: []string{"hello", "Tell me a story."}, Now: time.Now}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if after := s.Settings(); !reflect.DeepEqual(after, before) {
		t.Errorf("settings were %+v and are %+v", before, after)
	}
	var b strings.Builder
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	return r, b.String()
}

func TestTheEmbeddedPairIsHealthy(t *testing.T) {
	r, text := examine(t, pair())
	if !r.Matched() {
		t.Errorf("the doctor says\n%s", text)
	}
	if len(r.VerifyMS) != 5 || r.DraftMS <= 0 || len(r.Accepted) < 2 || r.Accepted[0].Tested == 0 || r.Memory.WeightBytes == 0 {
		t.Errorf("something was not measured: %+v", r)
	}
	if words := strings.Join(strings.Fields(text), " "); !strings.Contains(words, "ok vocabulary the same for draft and target: 4096 tokens") {
		t.Errorf("the vocabulary is not told of as one of 4096 tokens for both in\n%s", text)
	}
	for _, line := range []string{"ok    verify = decode, target", "ok    verify = decode, draft", "ok    greedy text", "recommended"} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not in\n%s", line, text)
		}
	}
}

// crooked has a norm with slightly different results in passes of three rows, like a kernel that computes
// three rows in another way. The difference is much too small to change a text.
type crooked struct{ compute.Backend }

func (c crooked) RMSNorm(dst, x compute.Buffer, m int, w compute.Vector, eps float32) error {
	if m == 3 {
		eps *= 1.01
	}
	return c.Backend.RMSNorm(dst, x, m, w, eps)
}

func TestAKernelThatDependsOnTheRowsIsFound(t *testing.T) {
	backend := host.New(1)
	defer backend.Close()
	r, text := examine(t, embedded(t, crooked{backend}))
	if r.Matched() || !strings.Contains(text, "fail  verify = decode, target") ||
		!strings.Contains(text, "a pass of 3 rows differs from decoding: layer 0, token 0") || !strings.Contains(text, "→ this device computes other bits") {
		t.Errorf("the doctor says\n%s", text)
	}
}

// A fault in the scores alone is found, too.
func TestScoresThatDependOnTheRowsAreFound(t *testing.T) {
	backend := host.New(1)
	defer backend.Close()
	e := embedded(t, &faulty{Backend: backend, spoil: func(rows int, row []float32) {
		if rows == 4 {
			row[9] += 0.001
		}
	}})
	if r, text := examine(t, e); r.Matched() || !strings.Contains(text, "a pass of 4 rows differs from decoding: row 0, score of token 9") {
		t.Errorf("the doctor says\n%s", text)
	}
}
