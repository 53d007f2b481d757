package app

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// planted is a bug to plant in a source file, and the case of gateCases that must notice it.
type planted struct {
	name, noticed, file string
	tokens              string   // written for the gate
	change              []string // alternately the right text, which the file has once, and the wrong one
}

func plantedBugs() []planted {
	return []planted{
		{"a draft token is drawn at half the temperature that its q has", "rows, top-k 20, 1.5", "engine/spec/draftmodel.go", "2400", []string{
			"	id := sample.Draw(dist, ask", `	sharp := ask.Params
	sharp.Temperature *= 0.5
	drawn, err := d.sampler.FromLogits(make([]float64, len(q)), known, sharp)
	if err != nil {
		return err
	}
	id := sample.Draw(drawn, ask`}},
		{"the tokens outside a row have no probability", "rows that grow, top-p 0.7, 1.5", "engine/remote/row.go", "600", []string{
			"rest := r.rest(); rest > 0 {", "rest := r.rest(); rest < 0 {"}},
		{"one seed for all prefixes", "draws of the server, 1", "engine/remote/score.go", "12000", []string{
			`	"strings"`, `	"strings"
	"time"`,
			`"/completion", q, &body`, "\"/completion\", struct {\n\t\tllamaQuestion\n\t\tSeed int `json:\"seed\"`\n\t}{q, time.Now().Nanosecond()}, &body"}},
		{"each row is that of the place before", "rows, top-k 20, 1", "engine/remote/target.go", "300", []string{
			"all[:len(t.held)+1+i])", "all[:len(t.held)+1+max(0, i-1)])"}},
	}
}

// TestSampledRepliesOverARealServer notices planted bugs. SPECULA_PLANTED_REAL=1 runs it with each of them, which
// needs a compiler, and some minutes. Otherwise this test only checks that they can be planted.
func TestPlantedBugsOverARealServerAreNoticed(t *testing.T) {
	for _, bug := range plantedBugs() {
		t.Run(bug.name, func(t *testing.T) {
			overlay := bug.plant(t)
			if os.Getenv("SPECULA_PLANTED_REAL") == "" {
				return
			}
			realServer(t)
			run := "^TestSampledRepliesOverARealServer$/^" + strings.ReplaceAll(bug.noticed, " ", "_") + "$"
			command := exec.Command("go", "test", "-vet=off", "-count=1", "-v", "-timeout", "30m", "-overlay", overlay, "-run", run, ".")
			command.Env = append(os.Environ(), "SPECULA_GATE_TOKENS="+bug.tokens)
			said, err := command.CombinedOutput()
			if exit := new(exec.ExitError); !errors.As(err, &exit) || !strings.Contains(string(said), refusedByGate) {
				t.Fatalf("not noticed: %v\n%s", err, said)
			}
			// The output of a run that failed as it should must not be counted as a failure of this test.
			t.Logf("%s", strings.ReplaceAll(string(said), "--- FAIL", "noticed"))
		})
	}
}

// plant returns an overlay for the go command: a file that replaces the right source file by one with the bug.
func (p *planted) plant(t *testing.T) (overlay string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", p.file))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(source)
	for i := 0; i < len(p.change); i += 2 {
		if n := strings.Count(text, p.change[i]); n != 1 {
			t.Fatalf("%q stands %d times in %s", p.change[i], n, p.file)
		}
		text = strings.Replace(text, p.change[i], p.change[i+1], 1)
	}
	folder := t.TempDir()
	wrong, overlay := filepath.Join(folder, "wrong.go"), filepath.Join(folder, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{path: wrong}})
	if err := errors.Join(err, os.WriteFile(wrong, []byte(text), 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		t.Fatal(err)
	}
	return overlay
}
