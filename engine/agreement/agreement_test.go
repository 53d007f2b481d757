package agreement

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/sample"
)

// table is a model whose scores depend only on the last token.
type table struct {
	rows     [][]float32 // by token
	capacity int
	closed   *int
}

type tape struct {
	ids    []int32
	table  *table
	rows   int
	broken error
}

func (m *table) NewCache() (compute.Cache, error) { return &tape{table: m}, nil }

func (m *table) Forward(_ context.Context, c compute.Cache, ids []int32) (compute.Logits, error) {
	t := c.(*tape)
	t.ids = append(t.ids, ids...)
	t.rows = len(ids)
	return scores{t.table, append([]int32{}, ids...)}, nil
}

func (t *tape) Len() int                                      { return len(t.ids) }
func (t *tape) Cap() int                                      { return t.table.capacity }
func (t *tape) Truncate(n int) error                          { t.ids = t.ids[:n]; return t.broken }
func (t *tape) Advance(int) error                             { return nil }
func (t *tape) KeyValue(int, int, []float32, []float32) error { return nil }
func (t *tape) Bytes() int64                                  { return 0 }
func (t *tape) Close() error                                  { *t.table.closed++; return nil }

type scores struct {
	*table
	ids []int32
}

func (s scores) Rows() int            { return len(s.ids) }
func (s scores) Vocab() int           { return len(s.rows[0]) }
func (s scores) Argmax([]int32) error { return errors.New("not needed") }
func (s scores) Moved() (int64, int)  { return 0, 0 }
func (s scores) Row(i int, dst []float32) error {
	copy(dst, s.rows[s.ids[i]])
	return nil
}

// logs returns scores whose softmax at temperature 1 has the given probabilities.
func logs(rows ...[]float64) [][]float32 {
	out := make([][]float32, len(rows))
	for i, row := range rows {
		for _, p := range row {
			out[i] = append(out[i], float32(math.Log(p)))
		}
	}
	return out
}

func pair(closed *int, rows, capacity int) Pair {
	target := &table{logs([]float64{0.5, 0.3, 0.2}, []float64{0.1, 0.8, 0.1}, []float64{0.2, 0.2, 0.6}), capacity, closed}
	// The draft's rows have a padding id that the vocabulary does not have. Its score would win.
	draft := &table{logs([]float64{0.2, 0.6, 0.2, 9}, []float64{0.1, 0.8, 0.1, 9}, []float64{0.6, 0.2, 0.2, 9}), capacity, closed}
	return Pair{Target: target, Draft: draft, Vocab: 3, Rows: rows}
}

func TestMeasureAgainstSumsByHand(t *testing.T) {
	// Σ min(p, q) at temperature 1 after tokens 0, 1, 2: 0.2+0.3+0.2, 1, 0.2+0.2+0.2. The best
	// tokens are the same only after token 1.
	overlaps := []float64{0.7, 1, 0.6}
	greedy := []float64{0, 1, 0}
	dialogues := []Dialogue{
		{Source: "a", Tokens: []int32{0, 1, 2, 0, 1}, Judged: []bool{false, true, true, false, true}}, // after 0, 1, 0
		{Source: "b", Tokens: []int32{2, 2}, Judged: []bool{false, true}},                             // after 2
		{Tokens: []int32{2, 2}, Judged: []bool{false, false}},
	}
	for _, rows := range []int{1, 2, 33} {
		closed := 0
		r, err := Measure(t.Context(), pair(&closed, rows, 100), dialogues, []float64{0, 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		first := []float64{greedy[0] + greedy[1] + greedy[0], overlaps[0] + overlaps[1] + overlaps[0]}
		second := []float64{greedy[2], overlaps[2]}
		for i, got := range r.At {
			alpha := (first[i] + second[i]) / 4
			spread := math.Hypot(first[i]-3*alpha, second[i]-alpha)
			if want := spread * math.Sqrt2 / 4; math.Abs(got.Alpha-alpha) > 1e-6 || math.Abs(got.StandardError-want) > 1e-6 {
				t.Errorf("passes of %d rows, temperature %g: %g ± %g, want %g ± %g", rows, got.Temperature, got.Alpha, got.StandardError, alpha, want)
			}
		}
		if len(r.Sources) != 2 || r.Sources[1].Source != "b" || r.Sources[1].Tokens != 1 || math.Abs(r.Sources[1].At[1].Alpha-overlaps[2]) > 1e-6 {
			t.Errorf("by source: %+v", r.Sources)
		}
		if r.Tokens != 4 || r.Dialogues != 2 || r.Cut != 0 || closed != 2 {
			t.Errorf("%+v, %d caches closed", r, closed)
		}
	}
}

func TestLongDialoguesAreCut(t *testing.T) {
	closed := 0
	d := Dialogue{Tokens: []int32{0, 1, 2, 0}, Judged: []bool{false, true, true, true}}
	r, err := Measure(t.Context(), pair(&closed, 2, 3), []Dialogue{d}, []float64{1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Cut != 1 || r.Sources != nil || r.Tokens != 2 || math.Abs(r.At[0].Alpha-0.85) > 1e-6 || r.At[0].StandardError != 0 {
		t.Errorf("%+v", r)
	}
}

func TestMeasureRefuses(t *testing.T) {
	closed := 0
	d := []Dialogue{{Tokens: []int32{0, 1}, Judged: []bool{false, false}}}
	if _, err := Measure(t.Context(), pair(&closed, 2, 9), d, []float64{1}, nil); err == nil {
		t.Error("an α of no tokens was reported")
	}
	d[0].Judged[1] = true
	p := pair(&closed, 2, 9)
	p.Vocab = 4
	if _, err := Measure(t.Context(), p, d, []float64{1}, nil); err == nil {
		t.Error("a model with fewer scores than its vocabulary was taken")
	}
	p = pair(&closed, 2, 9)
	p.Target.(*table).rows[0][1] = float32(math.NaN())
	if _, err := Measure(t.Context(), p, d, []float64{1}, nil); !errors.Is(err, compute.ErrNotFinite) {
		t.Errorf("scores that are no numbers give %v", err)
	}
}

func TestOverlapOfSureModels(t *testing.T) {
	a, b := sample.OneHot(3), sample.OneHot(4)
	if Overlap(a, a) != 1 || Overlap(a, b) != 0 {
		t.Errorf("the same: %g, different: %g", Overlap(a, a), Overlap(a, b))
	}
}

func TestRead(t *testing.T) {
	list, err := Read(strings.NewReader(`{"turns": [["user", "hi"], ["assistant", "Hello!"]], "source": "x"}` + "\n\n" + `{"turns": [["user", "a"]]}`))
	if err != nil || len(list) != 2 || list[0].Turns[1].Role != "assistant" || list[0].Turns[1].Content != "Hello!" || list[0].Source != "x" {
		t.Errorf("%v, %v", list, err)
	}
	for _, text := range []string{"", "{}", "[]", `{"turns": [["boss", "x"]]}`, `{"turns": [["user"`} {
		if list, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q gives %v", text, list)
		}
	}
}

func TestAFileThatIsTooLongIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talks.jsonl")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Skipf("no file with a hole can be made here: %v", err)
	}
	for _, name := range []string{path, filepath.Dir(path)} {
		if _, err := ReadFile(name); err == nil || !strings.Contains(err.Error(), "allowed is a regular file of at most") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
