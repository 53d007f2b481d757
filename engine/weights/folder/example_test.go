package folder_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"specula/engine/compute"
	"specula/engine/weights/folder"
	"specula/engine/weights/safetensors"
)

// A folder with one tensor, as the library transformers would save it.
func ExampleOpen() {
	path, err := os.MkdirTemp("", "model")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(path)
	var weights safetensors.Builder
	weights.Floats("model.embed_tokens.weight", compute.F32, []float32{1, 2, 3, 4, 5, 6}, 3, 2)
	for name, data := range map[string][]byte{
		"config.json":       []byte(`{"model_type": "llama", "hidden_size": 2}`),
		"model.safetensors": weights.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(path, name), data, 0o600); err != nil {
			log.Fatal(err)
		}
	}
	f, err := folder.Open(context.Background(), path)
	if err != nil {
		log.Fatal(err)
	}
	config := f.Config()
	width, _ := config.Integer("hidden_size")
	fmt.Println(config.Text("model_type"), width, config.Err())
	for _, tensor := range f.Tensors() {
		fmt.Println(tensor, "has", f.Rows(tensor), "rows")
	}
	// Output:
	// llama 2 <nil>
	// model.embed_tokens.weight has 3 rows
}
