package sample_test

import (
	"math"
	"testing"

	"specula/engine/sample"
)

func dist(p ...float64) sample.Dist { return sample.Dist{P: p} }

func TestDraw(t *testing.T) {
	almostOne := math.Nextafter(1, 0)
	for _, c := range []struct {
		name string
		d    sample.Dist
		u    float64
		want int32
	}{
		{"one-hot", sample.OneHot(7), almostOne, 7},
		{"below the first bound", dist(.25, .5, .25), .24, 0},
		{"on a bound it is the next one", dist(.25, .5, .25), .25, 1},
		{"u = 0 skips what has no probability", dist(0, 0, 1), 0, 2},
		{"a bound skips it too", dist(.5, 0, .5), .5, 2},
		{"the end never reaches it", dist(.5, .5, 0), almostOne, 1},
		{"a total that rounds below u", dist(.3, .3, .3, 0), .95, 2},
		{"a total above 1", dist(.6, .6), almostOne, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := sample.Draw(c.d, c.u); got != c.want {
				t.Errorf("drew %d, want %d", got, c.want)
			}
		})
	}
}

func TestDrawWithoutMassIsAProgrammersError(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("something was drawn from nothing")
		}
	}()
	sample.Draw(dist(0, 0), .5)
}

func TestResidual(t *testing.T) {
	for _, c := range []struct {
		name string
		p, q sample.Dist
		want []float64
	}{
		{"what p has more than q", dist(.5, .3, .2), dist(.2, .2, .6), []float64{.75, .25, 0}},
		{"p without the token of a one-hot q", dist(.5, .3, .2), sample.OneHot(0), []float64{0, .6, .4}},
		{"a one-hot q outside the vocabulary takes nothing", dist(.5, .5), sample.OneHot(9), []float64{.5, .5}},
		{"disjoint", dist(.5, .5, 0), dist(0, 0, 1), []float64{.5, .5, 0}},
		{"no mass: equal", dist(.5, .5), dist(.5, .5), []float64{.5, .5}},
		{"no mass: q rounds above p", dist(.5, .5), dist(.5+1e-16, .5+2e-16), []float64{.5, .5}},
		{"one-hot p", sample.OneHot(1), dist(.5, .5), []float64{0, 1}},
		{"one-hot both, different", sample.OneHot(1), sample.OneHot(0), []float64{0, 1}},
		{"one-hot both, equal", sample.OneHot(1), sample.OneHot(1), []float64{0, 1}},
		{"q over fewer ids", dist(.5, .3, .2), dist(.6, .4), []float64{0, 0, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			near(t, sample.Residual(make([]float64, 3), c.p, c.q), c.want, 1e-12)
		})
	}
}

func TestResidualMayOverwriteP(t *testing.T) {
	p := dist(.5, .3, .2)
	near(t, sample.Residual(p.P, p, dist(.2, .2, .6)), []float64{.75, .25, 0}, 1e-12)
}
