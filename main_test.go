package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"specula/assets"
	"specula/engine/weights/gguf"
	"specula/ui/cli"
)

// The scripts run the whole program with the pair inside it.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"specula": main})
}

func TestProgram(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "ui/cli/testdata/pair",
		Setup: func(env *testscript.Env) error {
			for _, name := range []string{"CONFIG", "DATA", "STATE", "CACHE"} {
				env.Setenv("XDG_"+name+"_HOME", env.WorkDir+"/"+name)
			}
			return nil
		},
	})
}

func TestAWrongShapeIsAWrongUsage(t *testing.T) {
	for _, args := range [][2]string{{"nothing", "Q8_0"}, {"tiny", "Q9"}} {
		err := makeWeights(t.Context(), args[0], args[1], t.TempDir()+"/x.gguf")
		if code := exitCode(err); code != cli.ExitUsage {
			t.Errorf("%v: error %v, exit code %d", args, err, code)
		}
	}
}

// info says of every file whether it can be loaded, and why not, although its header is in order.
func TestInfoSaysWhatAFileIsGoodFor(t *testing.T) {
	unnamed := bytes.Replace(assets.Target(), []byte("tokenizer.ggml.pre"), []byte("tokenizer.ggml.was"), 1)
	projector := (&gguf.Builder{}).Set("general.architecture", "clip").Set("general.type", "mmproj").Bytes()
	for _, c := range []struct {
		file  []byte
		label string // of a row
		says  string
	}{
		{assets.Target(), "chat template", "built-in ChatML: gives the same text"},
		{unnamed, "warning", "tokenizer: the target's file does not say which pre-tokenizer"},
		{unnamed, "tokenizer", "gpt2, pre-tokenizer not named"},
		{projector, "cannot be loaded", "it is a projector (mmproj)"},
	} {
		path := filepath.Join(t.TempDir(), "model.gguf")
		if err := os.WriteFile(path, c.file, 0o600); err != nil {
			t.Fatal(err)
		}
		sections, err := describe(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, row := range sections[0].Rows {
			if row[0] == c.label {
				said = row[1]
			}
		}
		if !strings.Contains(said, c.says) {
			t.Errorf("%q is %q, want %q in it", c.label, said, c.says)
		}
	}
}
