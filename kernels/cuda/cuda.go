// Package cuda has the kernels for NVIDIA GPUs, as the PTX text that a driver compiles when the program starts.
//
// The sources are src/*.cu, one file for a family of operations. They are compiled twice: by clang to ptx/*.ptx, which is committed
// and embedded, so that building the program needs no compiler for GPUs; and by g++ to fibers on the processor, in emu. PTX 7.4
// for sm_80 serves every driver from R470 on and every GPU from Ampere on.
//
// Without a GPU the kernels are proven in two ways. Package sim runs the PTX itself in pure Go, lane by lane, and reports what a GPU
// would leave undefined; package simtest is how a test uses it. The emulating driver in emu runs the sources under the whole
// program. Both have to equal kernels/ref, which says what each kernel computes and in which order, bit for bit.
package cuda

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

//go:generate ./build

//go:embed ptx/*.ptx
var texts embed.FS

// Modules returns the names of the modules, sorted.
func Modules() []string {
	entries, err := texts.ReadDir("ptx")
	if err != nil {
		panic(err) // embedded
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".ptx")
	}
	return names
}

// PTX returns the text of a module.
func PTX(module string) (string, error) {
	text, err := texts.ReadFile(path.Join("ptx", module+".ptx"))
	if err != nil {
		return "", fmt.Errorf("there is no module %q of kernels; there are %q", module, Modules())
	}
	return string(text), nil
}
