package random

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"specula/engine/weights"
	"specula/engine/weights/gguf"
)

// Scramble returns a copy of a GGUF file with the blocks of every matrix shuffled. The result has
// the same shape, speed and vocabulary but knows nothing. As a draft model it is the worst case,
// which tests and measurements need. Equal files give equal copies.
func Scramble(name string, file []byte) ([]byte, error) {
	scrambled := slices.Clone(file)
	f, err := weights.Parse(name, scrambled)
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, t := range f.Tensors() {
		info, _ := gguf.Type(t.Type)
		if len(t.Shape()) < 2 {
			continue // norms stay: without them activations would leave their range
		}
		w, _, err := f.Tensor(t.Name)
		if err != nil {
			return nil, fmt.Errorf("scrambling: %w", err)
		}
		block := int(info.BlockBytes)
		swap := make([]byte, block)
		at := func(i int) []byte { return w.Data[i*block : (i+1)*block] }
		r.Shuffle(len(w.Data)/block, func(i, j int) {
			copy(swap, at(i))
			copy(at(i), at(j))
			copy(at(j), swap)
		})
	}
	return scrambled, nil
}
