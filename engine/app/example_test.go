package app_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"specula/engine/app"
)

// MakeWeights writes a file of random weights. If a file of that name exists, it writes nothing and
// returns an error.
func ExampleMakeWeights() {
	folder, err := os.MkdirTemp("", "weights")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "tiny.gguf")
	if err := app.MakeWeights(context.Background(), "tiny", "Q8_0", path); err != nil {
		fmt.Println(err)
		return
	}
	tables, err := app.Describe(context.Background(), path)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range tables {
		fmt.Println(t.Title)
	}
	fmt.Println("written again:", app.MakeWeights(context.Background(), "tiny", "Q8_0", path) == nil)
	// Output:
	// tensors
	// metadata
	// types
	// processor
	// file
	// written again: false
}
