package engine_test

import (
	"sync/atomic"
	"testing"
	"time"

	"specula/engine"
	"specula/engine/compute"
	"specula/engine/event"
	"specula/engine/host"
)

// rowsOf records the tokens of each pass with several rows.
type rowsOf struct {
	compute.Backend
	passes [][]int32
}

func (b *rowsOf) Embed(dst compute.Buffer, table compute.Matrix, ids []int32) error {
	if len(ids) > 1 {
		b.passes = append(b.passes, append([]int32(nil), ids...))
	}
	return b.Backend.Embed(dst, table, ids)
}

// Passes that are measured before the first reply read a text. In a mixture, equal rows would share their
// experts, and verification would look too cheap.
func TestCalibrationReadsText(t *testing.T) {
	b := &rowsOf{Backend: host.New(1)}
	o := options(b)
	o.Config.Speculation.Proposer = "ngram"
	var reads atomic.Int64 // of the clock: each takes 1 µs, however long another program has the processor
	o.Now = func() time.Time { return time.UnixMicro(reads.Add(1)) }
	e, err := engine.Load(t.Context(), o, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	session(t, e)
	if len(b.passes) == 0 {
		t.Fatal("nothing was measured")
	}
	read := map[int32]bool{}
	for _, ids := range b.passes {
		different := map[int32]bool{}
		for _, id := range ids {
			different[id], read[id] = true, true
		}
		if len(different) < (len(ids)+1)/2 {
			t.Errorf("a pass reads %v: %d different tokens, want at least half of them different", ids, len(different))
		}
	}
	if len(read) < 20 {
		t.Errorf("only %d different tokens were read", len(read))
	}
}
