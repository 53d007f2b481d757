package app_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"specula/engine/app"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/model/modeltest"
)

// A drafter that lies beside the target is used without any configuration. With the draft none it is not used.
func TestADrafterBesideTheTargetIsUsed(t *testing.T) {
	target := fixture(t, "gemma4")
	data := modeltest.Unpack(t, "../model/testdata/assistants/gemma4.gguf.gz")
	if err := os.WriteFile(filepath.Join(filepath.Dir(target), "mtp-gemma4.gguf"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	a := &app.App{Version: "test", Now: time.Now}
	for draft, want := range map[string]string{"": "mtp", "none": "suffix"} {
		c := config.Default()
		c.Model.Target, c.Model.Draft, c.Device.Device = target, draft, "cpu"
		opened, err := a.Open(t.Context(), c, func(event.Event) {})
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		if auto := opened.Ready().Auto; auto.Proposer != want {
			t.Errorf("draft %q: auto is %+v, want %s", draft, auto, want)
		}
	}
}
