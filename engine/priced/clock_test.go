// Package priced_test holds the engine to what it promises about speed, on a clock that passes by a price list: so that it can be tested
// on a machine whose own speed varies, and the same numbers come out each time.
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

// timed is a backend on which time passes by a price list in place of the clock, so that what is measured on a busy machine repeats.
// The prices of passes and draft steps are about those of the demo pair on two quiet cores; those of reading a row in a prefill are estimates,
// and that of the draft is low: beside other work it was seen to take twice as long.
type timed struct {
	compute.Backend
	now    time.Time
	target compute.Matrix         // the table that the target looks its tokens up in
	slow   func(rows int) float64 // how many times as long a pass over so many rows takes; nil: once
}

func (b *timed) pass(ms float64) {
	b.now = b.now.Add(time.Duration(ms * float64(time.Millisecond)))
}

// milliseconds of a pass of the target over so many rows, from 1.
var targetMS = []float64{0.45, 0.50, 0.62, 0.72, 0.81, 0.88, 0.97, 1.08, 1.19}

const (
	draftMS, draftRowMS = 0.052, 0.009 // of the draft over one row, and of each further one
	rowMS               = 0.005        // of making a distribution of a row
)

func (b *timed) Embed(dst compute.Buffer, table compute.Matrix, ids []int32) error {
	if b.target == nil && table.Rows() > 1 { // heads look up a constant while they load
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

// load makes an engine of the embedded target and a draft, on a clock of its own.
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

// asked is a prompt as the first message of a conversation.
func asked(prompt string) engine.Request {
	return engine.Request{Messages: []chat.Message{{Role: "user", Content: prompt}}}
}
