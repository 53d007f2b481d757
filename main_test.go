package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
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
