package spec_test

import (
	"context"
	"fmt"

	"specula/engine/sample"
	"specula/engine/spec"
	"specula/engine/spec/gate"
)

// One round by hand: a draft of two tokens, the target's scores after each token, and the verdict.
func Example() {
	params := sample.Params{Temperature: 1, TopP: 1}
	draft := spec.Draft{
		Tokens: []int32{1, 2},
		Q:      []sample.Dist{sample.OneHot(1), sample.OneHot(2)}, // a deterministic proposer
	}
	target := gate.NewWorld(4, 3, params, gate.Near, 4).Rows(0, []int32{gate.Root, 1, 2})
	out, err := spec.NewVerifier().Verify(target, draft, spec.Terms{Params: params, Uniforms: sample.NewPhilox(5, 1)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range out.Draft {
		fmt.Printf("token %d: %s (p = %.2f, q = %.0f, u = %.2f)\n", t.ID, t.Verdict, t.P, t.Q, t.U)
	}
	fmt.Printf("token %d: %s\n", out.Commit.ID, out.Commit.Verdict)
	// Output:
	// token 1: accepted (p = 0.95, q = 1, u = 0.19)
	// token 2: rejected (p = 0.03, q = 1, u = 0.13)
	// token 3: resampled
}

// Prompt lookup drafts what followed the last tokens at their earlier place.
func ExampleNgram() {
	g := spec.NewNgram(3, 1)
	g.Committed([]int32{10, 11, 12, 13, 10, 11})
	draft, err := g.Propose(context.Background(), spec.Ask{Gamma: 3})
	fmt.Println(draft.Tokens, err)
	// Output: [12 13 10] <nil>
}
