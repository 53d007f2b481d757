package gamma

import "fmt"

// window is the rule with two thresholds. If the mean acceptance of the last rounds is below the
// lower one, γ is halved, down to 1. Above the upper one, γ is restored. After each change the rule
// waits for a full window of new rounds. It looks only at acceptance, and does not know what a draft
// costs.
type window struct {
	gamma  int
	why    string
	recent []float64 // acceptance of each round, oldest first
}

func (w *window) observe(accepted float64, o Options) {
	size, full := max(1, o.Window), min(o.Gamma, o.Max)
	if w.recent = append(w.recent, accepted); len(w.recent) < size {
		return
	}
	w.recent = w.recent[len(w.recent)-size:]
	mean := 0.0
	for _, a := range w.recent {
		mean += a / float64(size)
	}
	w.why = fmt.Sprintf("%.0f %% accepted over %d rounds", 100*mean, size)
	switch {
	case mean < o.Low && w.gamma > 1:
		w.gamma, w.recent = w.gamma/2, nil
		w.why += fmt.Sprintf(", under %.0f %%: halved to %d", 100*o.Low, w.gamma)
	case mean > o.High && w.gamma < full:
		w.gamma, w.recent = full, nil
		w.why += fmt.Sprintf(", over %.0f %%: restored to %d", 100*o.High, full)
	}
}
