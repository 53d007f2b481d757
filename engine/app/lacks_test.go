package app_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"specula/engine/app"
	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/model/modeltest"
)

// plain is a device without the operations of compute.Extra.
type plain struct{ compute.Backend }

func (p plain) Info() compute.Info { return compute.Info{Kind: "cuda", Name: "a plain GPU"} }

// A device that lacks an operation of the model is skipped under auto, and refused if it is named.
func TestADeviceThatLacksAnOperationIsSkippedOrRefused(t *testing.T) {
	for name, lacks := range map[string]string{"gemma3": "sliding windows", "qwen3moe": "a mixture of experts"} {
		t.Run(name, func(t *testing.T) {
			a := &app.App{Version: "test", Now: time.Now, OpenGPU: func(context.Context, string) (compute.Backend, error) {
				return plain{host.New(1)}, nil
			}}
			c := config.Default()
			c.Model.Target, c.Model.Draft, c.Device.Device = fixture(t, name), "none", "auto"
			opened, err := a.Open(t.Context(), c, func(event.Event) {})
			if err != nil {
				t.Fatal(err)
			}
			defer opened.Close()
			why := "has " + lacks + ", and a plain GPU does not compute these yet"
			if ready := opened.Ready(); !strings.HasPrefix(ready.Device, "cpu") || !strings.Contains(ready.DeviceWhy, why) {
				t.Errorf("device %q because %q", ready.Device, ready.DeviceWhy)
			}
			c.Device.Device = "cuda"
			if _, err := a.Open(t.Context(), c, func(event.Event) {}); !errors.Is(err, compute.ErrLacks) || !strings.Contains(err.Error(), "choose --device cpu") {
				t.Errorf("asked for by name: %v", err)
			}
		})
	}
}

// fixture unpacks a tiny model.
func fixture(t *testing.T, name string) string {
	data := modeltest.Unpack(t, "../model/testdata/architectures/"+name+".gguf.gz")
	path := filepath.Join(t.TempDir(), name+".gguf")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
