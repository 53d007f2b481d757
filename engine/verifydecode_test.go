package engine_test

import (
	"math"
	"testing"

	"specula/engine/host"
)

// Every position of a reply is compared. A single wrong bit in a pass of several rows is found, even if it
// changes no text.
func TestComparingWithDecodingFindsASingleBit(t *testing.T) {
	backend := &faulty{Backend: host.New(1)}
	s := session(t, embedded(t, backend), "temperature", "0", "max-tokens", "40", "gamma", "4")
	const prompt = "What is speculative decoding?"
	r := write(t, s, user(prompt), nil)
	compared, differ, err := s.CompareWithDecoding(t.Context(), prompt, r.rounds)
	if err != nil || compared != len(r.ended.IDs) || differ != 0 {
		t.Errorf("%d of %d positions differ, of a reply of %d tokens (%v)", differ, compared, len(r.ended.IDs), err)
	}
	backend.spoil = func(rows int, row []float32) {
		if rows > 1 {
			least := 0
			for i, x := range row {
				if x < row[least] {
					least = i
				}
			}
			row[least] = math.Nextafter32(row[least], 0)
		}
	}
	several := 0
	for i := range r.rounds {
		if len(r.rounds[i].Draft) > 0 {
			several += len(r.rounds[i].Committed())
		}
	}
	if _, differ, err = s.CompareWithDecoding(t.Context(), prompt, r.rounds); err != nil || differ != several || differ == 0 {
		t.Errorf("%d positions differ, want %d (%v)", differ, several, err)
	}
	// The session is as good as new.
	backend.spoil = nil
	if again := write(t, s, user(prompt), nil); again.ended.Text != r.ended.Text {
		t.Errorf("afterwards %q, before %q", again.ended.Text, r.ended.Text)
	}
}
