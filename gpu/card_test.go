//go:build cuda && linux && cgo

package gpu_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"specula/assets"
	"specula/engine/host"
	"specula/engine/model"
	"specula/gpu"
	"specula/kernels/cuda"
)

// A card or a driver that cannot run the kernels is found when the device is opened. With device
// auto the processor computes then, and the reason is told; with device cuda there is no device.
func TestACardThatCannotRunTheKernels(t *testing.T) {
	needEmulator(t)
	type card struct{ setting, value, says string }
	t.Setenv("EMULATOR_REFUSE_CODE", "1") // so that the driver compiles every module
	cards := []card{
		{"EMULATOR_CAPABILITY", "75", "CUDA emulator has compute capability 7.5, and the kernels need 8.0"},
		{"EMULATOR_CUDA", "11020",
			"the driver of CUDA emulator supports CUDA 11.2, and the kernels need 11.4"},
	}
	for n := range modulesAtOpen() {
		cards = append(cards, card{"EMULATOR_REFUSE_MODULE", fmt.Sprint(n + 1), "refuses the kernels"})
	}
	for _, c := range cards {
		t.Run(c.setting+"="+c.value, func(t *testing.T) {
			t.Setenv(c.setting, c.value)
			b, err := gpu.Open(t.Context(), "cuda")
			if !errors.Is(err, gpu.ErrNoDevice) || !strings.Contains(err.Error(), c.says) {
				if err == nil {
					err = b.Close()
				}
				t.Fatalf("error %v, want one that wraps %q and says %q", err, gpu.ErrNoDevice, c.says)
			}
			d, err := host.Choose(t.Context(),
				host.Choice{Device: "auto", Draft: "same", Threads: 1}, gpu.Open)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			if kind := d.Target.Info().Kind; kind != "cpu" || !strings.Contains(d.Why, c.says) {
				t.Errorf("auto took a device of kind %s because %q, want the processor because %q", kind,
					d.Why, c.says)
			}
		})
	}
	// The card is usable afterwards: nothing of the refused modules is left.
	load(t, open(t), assets.Draft(), model.Options{MaxTokens: 64, MaxRows: 1})
}

// A driver that refuses the kernels of a weight format is found when a model has the format: loading it
// fails with the same reason, and leaves the card usable.
func TestACardThatCannotRunTheKernelsOfAFormat(t *testing.T) {
	needEmulator(t)
	t.Setenv("EMULATOR_REFUSE_CODE", "1") // so that the driver compiles every module
	t.Setenv("EMULATOR_REFUSE_MODULE", fmt.Sprint(len(modulesAtOpen())+1))
	b, err := gpu.Open(t.Context(), "cuda")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	o := model.Options{MaxTokens: 64, MaxRows: 1}
	_, err = model.Load(t.Context(), b, parse(t, assets.Draft()), o, nil)
	if !errors.Is(err, gpu.ErrNoDevice) || !strings.Contains(fmt.Sprint(err), "refuses the kernels") {
		t.Fatalf("error %v, want one that wraps %q and says that the card refuses the kernels", err, gpu.ErrNoDevice)
	}
	load(t, b, assets.Draft(), o)
}

// modulesAtOpen names the modules that are loaded when a device is opened: all but those of weight
// formats.
func modulesAtOpen() []string {
	return slices.DeleteFunc(cuda.Modules(), func(module string) bool {
		return slices.ContainsFunc(cuda.Packed(), func(f *cuda.Format) bool { return f.Module == module })
	})
}

// The headers of all PTX ask for the version and the kind of card that the program asks for.
func TestNeedsOfTheKernels(t *testing.T) {
	for _, name := range cuda.Modules() {
		text, err := cuda.PTX(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{".version 7.4\n",
			fmt.Sprintf(".target sm_%d\n", cuda.NeedsCapability)} {
			if !strings.Contains(text, want) {
				t.Errorf("the header of module %s has no %q", name, want)
			}
		}
	}
}
