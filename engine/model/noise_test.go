package model_test

import (
	"context"
	"fmt"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/model/modeltest"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
)

// someFamilies returns models with quantised weights of families whose fixtures are F32.
func someFamilies() (all []subject) {
	for name, build := range map[string]func(compute.DType, func(*modeltest.Noisy)) []byte{"gemma4": modeltest.NoisyGemma4, "deepseek2": modeltest.NoisyLatent} {
		for _, typ := range []compute.DType{compute.Q8_0, compute.F16} {
			all = append(all, subject{name: fmt.Sprint("random ", name, " ", gguf.TypeName(typ)), open: func(t testing.TB, b compute.Backend, o model.Options) *model.Model {
				file, err := weights.Parse(name, build(typ, nil))
				if err != nil {
					t.Fatal(err)
				}
				m, err := model.Load(context.Background(), b, file, o, nil)
				if err != nil {
					t.Fatal(err)
				}
				return m
			}})
		}
	}
	return all
}
