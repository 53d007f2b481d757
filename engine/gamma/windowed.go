package gamma

import "fmt"

// window is the rule with two thresholds. If the mean acceptance of the last rounds is below the
// low one, γ is halved, down to 1. Above the high one, γ is restored. After each change it waits
// for a full window of new rounds. It looks at acceptance alone, so it cannot know what a draft
// costs.
type window struct {
	gamma, full int
	why         string
	recent      []float64 // acceptance of each round, oldest first
}

func (w *window) restart(full int) {
	*w = window{gamma: full, full: full, why: "no window of rounds yet"}
}

func (w *window) observe(accepted float64, o Options) {
	w.recent = append(w.recent, accepted)
	if len(w.recent) < max(1, o.Window) {
		return
	}
	w.recent = w.recent[len(w.recent)-max(1, o.Window):]
	mean := 0.0
	for _, a := range w.recent {
		mean += a / float64(len(w.recent))
	}
	figures := fmt.Sprintf("%.0f %% accepted over %d rounds", 100*mean, len(w.recent))
	switch {
	case mean < o.Low && w.gamma > 1:
		w.gamma /= 2
		w.why = fmt.Sprintf("%s, under %.0f %%: halved to %d", figures, 100*o.Low, w.gamma)
		w.recent = w.recent[:0]
	case mean > o.High && w.gamma < w.full:
		w.gamma = w.full
		w.why = fmt.Sprintf("%s, over %.0f %%: restored to %d", figures, 100*o.High, w.full)
		w.recent = w.recent[:0]
	default:
		w.why = figures
	}
}
