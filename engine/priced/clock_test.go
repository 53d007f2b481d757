// Package priced_test tests what the engine promises about speed, on a clock that follows a price
// list. So the tests give the same numbers each time, also on a machine whose speed varies.
package priced_test

import (
	"testing"
	"time"

	"specula/assets"
	"specula/engine"
	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/host"
	"specula/tokenizer/chat"
)

// timed is a backend whose clock follows a price list, so that measurements repeat on a busy machine. The
// prices of passes and draft steps are about those of the demo pair on two idle cores. The prices of a row
// in a prefill, by either model, are estimates. The price of a draft pass is low: beside other work, draft
// passes were seen to take twice as long.
type timed struct {
	compute.Backend
	now    time.Time
	target compute.Matrix         // the embedding of the target
	slow   func(rows int) float64 // factor on the time of a target pass over so many rows; nil: 1
}

func (b *timed) pass(ms float64) {
	b.now = b.now.Add(time.Duration(ms * float64(time.Millisecond)))
}

// targetMS are the milliseconds of a target pass over 1, 2, … rows.
var targetMS = []float64{0.45, 0.50, 0.62, 0.72, 0.81, 0.88, 0.97, 1.08, 1.19}

const (
	draftMS, draftRowMS = 0.052, 0.009 // a draft pass over one row, and each further row
	rowMS               = 0.005        // computing the distribution of a row
)

func (b *timed) Embed(dst compute.Buffer, table compute.Matrix, ids []int32) error {
	if b.target == nil && table.Rows() > 1 { // heads embed a constant while they load
		b.target = table // the first pass is the target's
	}
	m, times := len(ids), 1.0
	if b.slow != nil && table == b.target {
		times = b.slow(m)
	}
	switch {
	case table != b.target:
		b.pass(draftMS + draftRowMS*float64(m-1))
	case m <= len(targetMS):
		b.pass(times * targetMS[m-1])
	default:
		b.pass(times * float64(m) * 0.11)
	}
	return b.Backend.Embed(dst, table, ids)
}

func (b *timed) Logits(x compute.Buffer, m int) (compute.Logits, error) {
	l, err := b.Backend.Logits(x, m)
	return timedLogits{l, l.(compute.Arithmetic), b}, err
}

type timedLogits struct {
	compute.Logits
	compute.Arithmetic
	b *timed
}

func (l timedLogits) Row(i int, dst []float32) error {
	l.b.pass(rowMS)
	return l.Logits.Row(i, dst)
}

// load makes an engine with the embedded target and a draft, with its own clock.
func load(t *testing.T, draft []byte, proposer string) *engine.Engine {
	t.Helper()
	return loadOn(t, &timed{Backend: host.New(1), now: time.Unix(0, 0)}, draft, proposer)
}

func loadOn(t *testing.T, backend *timed, draft []byte, proposer string) *engine.Engine {
	t.Helper()
	t.Cleanup(func() { _ = backend.Close() })
	c := config.Default()
	c.Speculation.Proposer = proposer
	e, err := engine.Load(t.Context(), engine.Options{
		Config:  c,
		Target:  engine.Source{Name: "target", Embedded: assets.Target()},
		Draft:   engine.Source{Name: "draft", Embedded: draft},
		Backend: backend, Now: func() time.Time { return backend.now }, NewSeed: func() int64 { return 42 },
	}, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// asked returns a request with a prompt as the first message.
func asked(prompt string) engine.Request {
	return engine.Request{Messages: []chat.Message{{Role: "user", Content: prompt}}}
}
