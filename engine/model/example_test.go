package model_test

import (
	"context"
	"fmt"
	"log"

	"specula/engine/host"
	"specula/engine/model"
	"specula/engine/weights"
)

// A greedy continuation of a prompt, token by token.
func Example() {
	ctx := context.Background()
	file, err := weights.Open(ctx, "../../assets/pair/target.gguf", nil)
	if err != nil {
		log.Fatal(err)
	}
	backend := host.New(1)
	defer backend.Close()
	m, err := model.Load(ctx, backend, file, model.Options{MaxTokens: 64}, nil)
	if err != nil {
		log.Fatal(err)
	}
	cache, err := m.NewCache()
	if err != nil {
		log.Fatal(err)
	}
	prompt := []int32{4094, 3437, 201, 258, 316, 84, 4095, 201, 4094}
	logits, err := m.Prefill(ctx, cache, prompt, nil)
	next := make([]int32, 1)
	for range 3 {
		if err == nil {
			err = logits.Argmax(next)
		}
		if err != nil {
			log.Fatal(err)
		}
		logits, err = m.Forward(ctx, cache, next)
	}
	fmt.Println("tokens in the cache:", cache.Len())
	// Output: tokens in the cache: 12
}
