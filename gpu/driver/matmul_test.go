//go:build cuda && linux && cgo

package driver

import (
	"flag"
	"testing"

	"specula/gpu/driver/emulated"
	"specula/kernels/cuda"
	"specula/kernels/cuda/testbench/checks"
	"specula/kernels/cuda/testbench/sim"
)

var ofModule = flag.String("module", "", "test only the products of this module: a bug planted in it is in no other")

// The checks of matrix products, whose kernels need more shared memory than a kernel may use by
// default. With -short, which is for races and for the order of threads, only the first format of each
// module goes through all checks: in the others threads wait for each other at the same places.
func TestMatmuls(t *testing.T) {
	d, seen := open(t), bits{}
	on(t, d, func() {
		modules := map[string]module{}
		for _, f := range checks.Matmuls {
			if *ofModule != "" && f.Module != *ofModule {
				continue
			}
			if t.Failed() && flag.Lookup("test.failfast").Value.String() == "true" {
				return // a planted bug is noticed, and the other formats take most of the time
			}
			_, again := modules[f.Module]
			note := seen
			run := func(kernel string, grid, block sim.Dim, sharedBytes int, arguments ...any) {
				name := f.ModuleOf(kernel)
				if _, ok := modules[name]; !ok {
					modules[name] = loadModule(d, name, get(cuda.PTX(name)))
				}
				m := modules[name]
				if m.bits = note; *ofModule != "" && name != *ofModule {
					m.bits = nil // other products launch its kernels, too
				}
				must(m.SetDynamicShared(get(m.Kernel(m.kernels, kernel)), sharedBytes))
				m.run(kernel, Shape{Grid: [3]int{grid.X, grid.Y}, Block: [3]int{block.X}, SharedBytes: sharedBytes}, arguments...)
			}
			f.CheckJoined(t, run)
			f.CheckEmbedding(t, run)
			if again && testing.Short() {
				continue // threads share what those of the module's first format share
			}
			f.CheckProducts(t, run, f.Exact() || emulated.Emulated())
			note = nil // these checks compare with launches whose bits were noted
			f.CheckEpilogues(t, run)
			f.CheckExperts(t, run)
		}
		if len(modules) == 0 {
			t.Errorf("there are no products of a module %q", *ofModule)
		}
	})
	if !testing.Short() { // else some launches are missing
		seen.compare(t)
	}
}
