// Package cuda has the kernels for NVIDIA GPUs: as machine code for the cards of today, and as PTX text, which a
// driver compiles for any card.
//
// [Modules] and [PTX] give the text, [CodeFor] the machine code. [Format] (layout.go) says how a weight
// matrix is laid out for the products, and with which launch they run. results.go reads what the kernels
// of verification return.
//
// The sources are src/*.cu, one file per family of operations. They are compiled twice. clang makes
// ptx/*.ptx, which is committed and embedded, so that building the program needs no GPU compiler. g++
// compiles them for the CPU, where each thread of a block is a fiber (testbench/emulator, and the
// emulated driver). PTX 7.4 for sm_80 works with every driver from R470 on and every GPU from Ampere on.
// With NVIDIA's assembler, the command assemble makes machine code of the PTX: cubin/*.tar.zst, which is
// committed and embedded too.
//
// Invariant: each kernel equals kernels/ref bit for bit; ref says what it computes and in which
// order. (Only real tensor cores may add the products of one instruction in another order.) Without a
// GPU this is tested in two ways. testbench/sim runs the PTX in pure Go, lane by lane, and reports
// what a GPU would leave undefined; testbench/simtest lets a test use it.
// testbench/emulator runs the sources in tests of single kernels, and the emulated driver runs them
// under the whole program.
package cuda

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

// What the PTX needs of a card and its driver, as the headers of the PTX say.
const (
	NeedsCapability = 80    // compute capability: 10·major + minor
	NeedsCUDA       = 11040 // CUDA that the driver supports: 1000·major + 10·minor; PTX 7.4 came with 11.4
)

//go:generate ./build

//go:embed ptx/*.ptx
var texts embed.FS

// Modules returns the names of the modules, sorted.
func Modules() []string {
	entries, err := texts.ReadDir("ptx")
	if err != nil {
		panic(err) // the folder is embedded
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
