package speed_test

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"specula/engine/bench/speed"
	"specula/engine/compute"
	"specula/engine/host"
	"specula/engine/model"
	"specula/engine/weights"
	"specula/engine/weights/random"
)

// tiny loads a model with random weights of a type.
func tiny(b compute.Backend, typ compute.DType) (*model.Model, error) {
	shape, err := random.ShapeNamed("tiny")
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	if err := random.Write(context.Background(), &file, shape, typ); err != nil {
		return nil, err
	}
	f, err := weights.Parse("tiny", file.Bytes())
	if err != nil {
		return nil, err
	}
	return model.Load(context.Background(), b, f, model.Options{MaxTokens: 1024}, nil)
}

// The clock is passed in. With one that advances by a millisecond whenever it is read, all steps
// take equally long.
func ExampleMeasureSteps() {
	b := host.New(1)
	defer b.Close()
	m, err := tiny(b, compute.Q8_0)
	if err != nil {
		fmt.Println(err)
		return
	}
	at := time.Unix(0, 0)
	now := func() time.Time { at = at.Add(time.Millisecond); return at }
	steps, err := speed.MeasureSteps(context.Background(), m, m, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(steps.TargetMS, steps.DraftMS, steps.Ratio)
	// Output: 1 1 1
}
