package round_test

import (
	"context"
	"fmt"
	"time"

	"specula/engine/round"
	"specula/engine/sample"
	"specula/engine/spec"
	"specula/engine/spec/gate"
)

// table is a target that looks its scores up: they depend on the last token alone.
type table struct{ world *gate.World }

func (t table) Score(_ context.Context, last int32, draft *spec.Draft, _ *spec.Terms) (round.Pass, error) {
	return round.Pass{Scores: onHost{t.world.Rows(0, append([]int32{last}, draft.Tokens...))}}, nil
}

func (table) Truncate(int) error { return nil } // it keeps nothing

// onHost are scores that need not be copied from a device.
type onHost struct{ rows }

type rows = gate.Rows // embedded under this name, because its method Rows must be reached

func (onHost) Moved() (bytes int64, syncs int) { return 0, 0 }

// One round: a draft that the caller gives, the target's scores, and the verdict.
func Example() {
	params := sample.Params{Temperature: 1, TopP: 1}
	target := table{gate.NewWorld(4, 3, params, gate.Near, 4)}
	driver := round.Driver{Target: target, Verifier: spec.NewVerifier(), Watch: round.NewStopwatch(time.Now)}
	in := round.Input{
		Last:  gate.Root,
		Given: []int32{1, 2},
		Terms: spec.Terms{Params: params, Uniforms: sample.NewPhilox(5, 1)},
	}
	var result round.Result
	err := driver.Draft(context.Background(), nil, &in, nil, &result)
	if err == nil {
		err = driver.Verify(context.Background(), &in, &result)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	out := &result.Outcome
	fmt.Println(out.Accepted, "of", len(out.Draft), "kept; committed:", out.Committed())
	fmt.Println(target.Truncate(out.Accepted))
	// Output:
	// 1 of 2 kept; committed: [1 3]
	// <nil>
}
