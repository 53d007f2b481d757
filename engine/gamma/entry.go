package gamma

// entries compares what drafting was expected to save in the rest of a reply, when the proposer had to read something first, with what it
// saved. Reading is paid at once and for sure, and of replies that differ those are entered that promise more than they keep, so that where
// drafts hardly pay, most of what is read would never be earned (the optimizer's curse; Smith and Winkler, 2006).
type entries struct {
	expected, saved float64 // of the entries remembered, the earlier the less
	ahead, since    float64 // of the reply that is being drafted in
	open            bool
}

const (
	entryMemory = 20 // entries
	// entryStart is how many entries as large as the present one count for drafts that keep their promise.
	entryStart = 4
	// entryFading is the share of their weight that entries lose with each round: what was lost once must not bar drafts for good.
	entryFading = 0.00025
	// leastReliable bounds how little is believed.
	leastReliable = 0.1
)

// enter notes that reading was found worth it.
func (e *entries) enter(expected float64) {
	if !e.open {
		e.open, e.ahead, e.since = true, expected, 0
	}
}

// observe notes what a round saved.
func (e *entries) observe(saved float64) {
	e.expected *= 1 - entryFading
	e.saved *= 1 - entryFading
	if e.open {
		e.since += saved
	}
}

// begin turns to a new reply.
func (e *entries) begin() {
	if !e.open {
		return
	}
	e.expected += e.ahead - e.expected/entryMemory
	e.saved += e.since - e.saved/entryMemory
	e.open = false
}

// reliable is the share of an expected saving that is believed in.
func (e *entries) reliable(expected float64) float64 {
	known := entryStart * expected
	if e.expected+known <= 0 {
		return 1
	}
	return min(1, max(leastReliable, (e.saved+known)/(e.expected+known)))
}
