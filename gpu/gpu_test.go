package gpu_test

import (
	"context"
	"errors"
	"testing"

	"specula/gpu"
)

func TestOpen(t *testing.T) {
	for _, name := range []string{"cuda:99", "cuda:", "cuda:-1", "cuda:x", "rocm"} {
		if _, err := gpu.Open(context.Background(), name); !errors.Is(err, gpu.ErrNoDevice) {
			t.Errorf("%s: error %v, want %v", name, err, gpu.ErrNoDevice)
		}
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := gpu.Open(cancelled, "cuda"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
