package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

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
