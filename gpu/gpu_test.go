package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"specula/gpu"
)

func ExampleOpen() {
	_, err := gpu.Open(context.Background(), "cuda")
	fmt.Println(err)
	// Output: opening "cuda": no CUDA device: this build of specula has no CUDA backend; use the device "cpu" or "auto"
}

func TestOpen(t *testing.T) {
	if _, err := gpu.Open(context.Background(), "cuda:1"); !errors.Is(err, gpu.ErrNoDevice) {
		t.Errorf("error %v, want %v", err, gpu.ErrNoDevice)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := gpu.Open(cancelled, "cuda"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
