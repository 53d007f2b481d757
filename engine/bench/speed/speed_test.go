package speed_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"specula/assets"
	"specula/engine/bench/speed"
	"specula/engine/compute"
	"specula/engine/host"
	"specula/engine/model"
	"specula/engine/weights"
	"specula/kernels/format"
)

func demo(t *testing.T) (*model.Model, *host.Backend) {
	t.Helper()
	f, err := weights.Parse("demo", assets.Draft())
	if err != nil {
		t.Fatal(err)
	}
	backend := host.New(2)
	t.Cleanup(func() { backend.Close() })
	m, err := model.Load(context.Background(), backend, f, model.Options{MaxTokens: 100}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m, backend
}

// ticking is a clock that advances by a millisecond at each call.
func ticking() func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time { now = now.Add(time.Millisecond); return now }
}

func TestMeasurePasses(t *testing.T) {
	m, _ := demo(t)
	got, err := speed.MeasurePasses(context.Background(), m, 40, 10, ticking())
	if err != nil || got.PrefillPerS != 40_000 || got.DecodePerS != 10_000 {
		t.Errorf("%+v, error %v; a prefill and a decoding of a millisecond each were timed", got, err)
	}
	if _, err := speed.MeasurePasses(context.Background(), m, 95, 10, ticking()); err == nil {
		t.Error("105 tokens went into a cache of 100")
	}
}

// On a clock that advances by one millisecond at each call, each step takes one.
func TestMeasureSteps(t *testing.T) {
	m, _ := demo(t)
	other, _ := demo(t)
	got, err := speed.MeasureSteps(context.Background(), m, other, ticking())
	if want := (speed.Steps{TargetMS: 1, DraftMS: 1, Ratio: 1, LeastRatio: 1}); err != nil || got != want {
		t.Errorf("%+v, error %v; want %+v", got, err, want)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := speed.MeasureSteps(cancelled, m, other, ticking()); err == nil {
		t.Error("a cancelled measurement gave figures")
	}
}

func TestMeasureKernels(t *testing.T) {
	m, backend := demo(t)
	measured := 0.
	ceilings := func() compute.Ceilings { measured += 1e9; return compute.Ceilings{ReadBytesPerS: measured} }
	k, err := speed.MeasureKernels(context.Background(), backend, m, ceilings, ticking())
	if err != nil {
		t.Fatal(err)
	}
	if len(k.Products) == 0 || len(k.Verifications) < 9 || k.Verifications[0].Ratio != 1 {
		t.Fatalf("measured %+v", k)
	}
	for _, p := range k.Products {
		if p.US <= 0 || p.Bytes <= 0 || p.Muls <= 0 || p.OfReading <= p.Bytes/measured {
			t.Errorf("product %+v; the share must be that of its turn", p)
		}
	}
	var table bytes.Buffer
	if err := k.WriteTable(&table); err != nil || !strings.Contains(table.String(), fmt.Sprintf("reads %.1f GB/s", measured/1e9)) {
		t.Errorf("table %q, error %v", table.String(), err)
	}
	var back speed.Kernels
	text, err := json.Marshal(k)
	if err != nil || json.Unmarshal(text, &back) != nil || back.Verifications[0].M != 1 {
		t.Errorf("JSON %q, error %v", text, err)
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if _, err := speed.MeasureKernels(stopped, backend, m, ceilings, time.Now); err == nil {
		t.Error("a cancelled measurement went on")
	}
}

// Products with quantised weights of any name are compared with the ceiling of integers, all others with the
// ceiling of floats. Here only the ceiling of integers is known, so only quantised products get a share of it.
func TestQuantisedProductsHaveThePeakOfIntegers(t *testing.T) {
	for _, f := range []*format.Format{format.Find(format.Q8_0), format.Find(format.F16), format.Find(20), format.Find(39), format.Find(34)} {
		backend := host.New(1)
		m, err := tiny(backend, compute.DType(f.Type))
		if err != nil {
			t.Fatal(err)
		}
		k, err := speed.MeasureKernels(context.Background(), backend, m, func() compute.Ceilings { return compute.Ceilings{IntegerMulPerS: 1e9} }, ticking())
		if err != nil {
			t.Fatal(err)
		}
		var table bytes.Buffer
		if err := k.WriteTable(&table); err != nil {
			t.Fatal(err)
		}
		rows := 0
		for line := range strings.Lines(table.String()) {
			if cells := strings.Fields(line); len(cells) > 0 && cells[0] == f.Name {
				if rows++; (cells[len(cells)-1] == "%") != (f.Quants != nil) {
					t.Errorf("of peak, with weights of %s: %q", f, strings.TrimSpace(line))
				}
			}
		}
		if rows == 0 {
			t.Errorf("no products with weights of %s in %q", f, table.String())
		}
		if err := backend.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The machine is three times as fast for two passes of every seventeen. No length must profit from
// this.
func TestPassesAreComparedInTheirTurn(t *testing.T) {
	m, backend := demo(t)
	now, looks := time.Unix(0, 0), 0
	changing := func() time.Time {
		looks++
		if looks%34 < 4 {
			return advance(&now, time.Millisecond)
		}
		return advance(&now, 3*time.Millisecond)
	}
	k, err := speed.MeasureKernels(context.Background(), backend, m, func() compute.Ceilings { return compute.Ceilings{} }, changing)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range k.Verifications {
		if v.MS != 3 || v.Ratio != 1 {
			t.Errorf("a pass of %d rows: %v ms, %v of one row; want 3 and 1", v.M, v.MS, v.Ratio)
		}
	}
}

func advance(now *time.Time, by time.Duration) time.Time {
	*now = now.Add(by)
	return *now
}
