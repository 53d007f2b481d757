package cuda_test

import (
	"fmt"
	"strings"

	"specula/kernels/cuda"
)

func ExamplePTX() {
	text, err := cuda.PTX("elementwise")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, ".version") || strings.HasPrefix(line, ".target") {
			fmt.Print(line)
		}
	}
	// Output:
	// .version 7.4
	// .target sm_80
}
