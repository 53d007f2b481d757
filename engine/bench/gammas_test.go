package bench

import (
	"context"
	"errors"
	"testing"
)

// counted is a scripted session. It counts how many sessions are open.
type counted struct {
	scripted
	open *int
}

func (c *counted) Close() error { *c.open--; return nil }

func TestRepeatsAreSpreadOverSessions(t *testing.T) {
	opened, open := 0, 0
	o := GammaOptions{Gammas: []int{2}, Temperatures: []float64{0}, GenTokens: 4, Repeats: 2*sessionRepeats + 1, Sets: []PromptSet{{"one", []string{"a", "b"}}}}
	r, err := CompareGammas(t.Context(), func(context.Context) (Opened, error) {
		opened++
		open++
		return &counted{open: &open}, nil
	}, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	// γ 0 and the cost-aware rule are added.
	if opened != 3*3 || open != 0 {
		t.Errorf("%d sessions were opened, %d not closed", opened, open)
	}
	if c := r.Cells[0]; c.PlainMS != 10 || c.Fixed[1] != 10.0/7 || c.CostAware != 10.0/7 || !c.Matched {
		t.Errorf("%+v", c)
	}

	refused := errors.New("no more memory")
	calls := 0
	_, err = CompareGammas(t.Context(), func(context.Context) (Opened, error) {
		if calls++; calls > 4 {
			return nil, refused
		}
		open++
		return &counted{open: &open}, nil
	}, o, nil)
	if !errors.Is(err, refused) || open != 0 {
		t.Errorf("error %v, %d sessions left open", err, open)
	}
}
