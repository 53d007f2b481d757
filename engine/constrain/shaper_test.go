package constrain

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
)

const stop = 0 // the token of test vocabularies that ends a reply

// testVocabulary has a stop token, a token without text, all bytes, and random longer tokens made
// of the given letters.
func testVocabulary(rng *rand.Rand, size int, alphabet string, lead bool) *Vocabulary {
	texts := [][]byte{nil, nil}
	for b := range 256 {
		texts = append(texts, []byte{byte(b)})
	}
	for len(texts) < size {
		var text []byte
		for range 2 + rng.IntN(5) {
			at := rng.IntN(len(alphabet))
			text = append(text, alphabet[at:min(len(alphabet), at+1+rng.IntN(2))]...)
		}
		texts = append(texts, text)
	}
	return NewVocabulary(len(texts), func(id int32) []byte { return texts[id] }, []int32{stop}, lead)
}

func newShaper(t testing.TB, c *Constraint, v *Vocabulary) *Shaper {
	t.Helper()
	s, err := NewShaper(t.Context(), c, v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func shortest(t testing.TB, s *Shaper) int {
	t.Helper()
	n, err := s.Shortest()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// constraints returns constraints of every kind.
func constraints(t testing.TB) []*Constraint {
	t.Helper()
	var list []*Constraint
	add := func(c *Constraint, err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
		list = append(list, c)
	}
	for _, pattern := range patterns {
		if pattern != `()` {
			add(Regex(t.Context(), pattern))
		}
	}
	for _, s := range schemas {
		add(Schema(t.Context(), s.schema))
	}
	add(Choices(t.Context(), []string{"yes", "no", "yes, but", "never ever"}))
	add(Grammar(t.Context(), `root ::= "(" root? ")" | [a-c]{2,3} "é"`))
	return list
}

const testAlphabet = `{"a":1,"name":[true,null]} "b":"abcé"aabbcc(())yes, but no 20`

// draw returns the tokens that are not forbidden in a row.
func draw(t testing.TB, s *Shaper, row []float32) []int32 {
	t.Helper()
	clear(row)
	if err := s.Shape(row); err != nil {
		t.Fatal(err)
	}
	var left []int32
	for id, score := range row {
		if !math.IsInf(float64(score), -1) {
			left = append(left, int32(id))
		}
	}
	return left
}

// replies writes random replies of at most limit tokens. It counts those that lack the form in the
// end, and the rows in which all tokens are forbidden. hurry is added to the limit that the shaper
// is told.
func replies(t *testing.T, c *Constraint, v *Vocabulary, rng *rand.Rand, n, limit, hurry int) (broken int) {
	s := newShaper(t, c, v)
	row := make([]float32, len(v.text))
	limit = max(limit, shortest(t, s))
	s.Bound(t.Context(), limit+hurry)
	for range n {
		if err := s.Reset(nil); err != nil {
			t.Fatal(err)
		}
		text, ended := []byte(nil), false
		for range limit {
			left := draw(t, s, row)
			if len(left) == 0 {
				broken++
				break
			}
			id := left[rng.IntN(len(left))]
			if !s.Allows(id) {
				t.Fatalf("%q: the row allows token %d, Allows does not", text, id)
			}
			s.Push(id)
			if ended = id == stop; ended {
				break
			}
			text = append(text, v.text[id]...)
		}
		a := newAutomaton(t.Context(), c, everyByte(), v.Lead)
		if end := a.run(a.start, text); !a.accepts(end) {
			broken++
		}
	}
	return broken
}

func TestRepliesEndWithinTheirLimit(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i, c := range constraints(t) {
		v := testVocabulary(rng, 300+rng.IntN(500), testAlphabet, i%3 == 0)
		for _, limit := range []int{0, 3, 12, 40} {
			if n := replies(t, c, v, rng, 12, limit, 0); n > 0 {
				t.Errorf("constraint %d with limit %d: %d of 12 replies do not have the form", i, limit, n)
			}
		}
	}
}

// A shaper with a limit one token too high must fail, or the test above proves nothing.
func TestALimitThatIsOneTooLongIsNoticed(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	broken := 0
	for _, c := range constraints(t) {
		broken += replies(t, c, testVocabulary(rng, 400, testAlphabet, false), rng, 12, 5, 1)
	}
	if broken < 20 {
		t.Errorf("only %d replies were broken", broken)
	}
}

// After random calls of Push and Pop, a shaper answers like a new one for the remaining tokens.
func TestPopUndoesPush(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	steps := 0
	for _, c := range constraints(t) {
		v := testVocabulary(rng, 400, testAlphabet, false)
		s := newShaper(t, c, v)
		row, fresh := make([]float32, len(v.text)), make([]float32, len(v.text))
		var reply []int32
		for range 250 {
			steps++
			if n := len(reply); n > 0 && rng.IntN(3) == 0 {
				n = 1 + rng.IntN(n)
				s.Pop(n)
				reply = reply[:len(reply)-n]
				continue
			}
			id := int32(rng.IntN(len(row))) // usually forbidden
			if left := draw(t, s, row); len(left) > 0 && rng.IntN(4) > 0 {
				id = left[rng.IntN(len(left))]
			}
			s.Push(id)
			reply = append(reply, id)
		}
		again := newShaper(t, c, v)
		for _, id := range reply {
			again.Push(id)
		}
		if got, want := draw(t, s, row), draw(t, again, fresh); !slices.Equal(got, want) || s.Expects() != again.Expects() || shortest(t, s) != shortest(t, again) {
			t.Fatalf("after %v: %d tokens and %q, afresh %d and %q", reply, len(got), s.Expects(), len(want), again.Expects())
		}
	}
	if steps < 10_000 {
		t.Errorf("only %d steps", steps)
	}
}

// An automaton that grows too large is replaced during a reply.
func TestALargeAutomatonIsReplaced(t *testing.T) {
	c, err := Regex(t.Context(), `[ab]*a[ab]{15}c`)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(13, 14))
	v := testVocabulary(rng, 300, "ab", false)
	s := newShaper(t, c, v)
	oracle := regexp.MustCompile(`a[ab]{15}$`)
	renewed := 0
	var text []byte
	row := make([]float32, len(v.text))
	for range 3000 {
		before := s.automaton
		left := draw(t, s, row)
		if got, want := slices.Contains(left, 2+'c'), oracle.Match(text); got != want {
			t.Fatalf("after %d letters c is allowed: %v", len(text), got)
		}
		id := int32(2 + 'a' + rng.IntN(2))
		s.Push(id)
		text = append(text, v.text[id]...)
		if s.automaton != before {
			renewed++
		}
	}
	if renewed == 0 {
		t.Errorf("the automaton took %d bytes and was never made anew; the test shows nothing", s.automaton.work.bytes)
	}
}

func TestNothingIsForbiddenAfterAForbiddenToken(t *testing.T) {
	c, err := Choices(t.Context(), []string{"yes", "no"})
	if err != nil {
		t.Fatal(err)
	}
	v := testVocabulary(rand.New(rand.NewPCG(1, 1)), 300, "yn", false)
	s := newShaper(t, c, v)
	row := make([]float32, len(v.text))
	s.Push(2 + 'x')
	if left := draw(t, s, row); len(left) != len(row) {
		t.Errorf("after a forbidden token %d of %d tokens are left, want all", len(left), len(row))
	}
	s.Pop(1)
	if left := draw(t, s, row); slices.Contains(left, 2+'x') || !slices.Contains(left, 2+'y') {
		t.Errorf("after Pop %v is left", left)
	}
	for _, b := range "yes" {
		s.Push(2 + b)
	}
	if left := draw(t, s, row); !slices.Equal(left, []int32{stop}) || !s.Ended() || s.Expects() != "end" {
		t.Errorf("at the end %v is left, and %q expected", left, s.Expects())
	}
	for i := range row {
		row[i] = forbidden // as if another shaper had forbidden the stop token
	}
	if err := s.Shape(row); err != nil || row[stop] != 0 {
		t.Errorf("a reply that can only end does not: %v, %v", row[stop], err)
	}
	s.Push(stop)
	if left := draw(t, s, row); len(left) != len(row) {
		t.Errorf("after the end %d tokens are left, want all", len(left))
	}
}

func TestExpectsSaysWhatMayFollow(t *testing.T) {
	v := testVocabulary(rand.New(rand.NewPCG(1, 1)), 300, "ab", false)
	schema, err := Schema(t.Context(), `{"type":"object","properties":{"name":{"type":"string"},"n":{"type":["integer","null"]},"t":{"type":"array","items":{"format":"date"}}},"required":["name"]}`)
	if err != nil {
		t.Fatal(err)
	}
	word, err := Regex(t.Context(), `[a-z]+\d?`)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		c          *Constraint
		text, want string
	}{
		{schema, ``, `«{"name":»`}, {schema, `{"na`, `«me":»`}, {schema, `{"name":`, `a string`}, {schema, `{"name":"x`, `a string`},
		{schema, `{"name":"x"`, `one of , }`}, {schema, `{"name":"x",`, `"`}, {schema, `{"name":"x"}`, `end`},
		{schema, `{"name":"x","n":`, `an integer or null`}, {schema, `{"name":"x","t":[`, `a date or ]`},
		{word, ``, `a–z`}, {word, `a`, `one of 0–9 a–z or end`}, {word, `a1`, `end`},
	} {
		s := newShaper(t, tt.c, v)
		for _, b := range []byte(tt.text) {
			s.Push(2 + int32(b))
		}
		if got := s.Expects(); got != tt.want {
			t.Errorf("after %s: %s, want %s", tt.text, got, tt.want)
		}
	}
}

func ExampleShaper() {
	c, _ := Regex(context.Background(), `[0-9]{2}|no`)
	texts := []string{"", "n", "o", "no", "1", "12", "123"}
	v := NewVocabulary(len(texts), func(id int32) []byte { return []byte(texts[id]) }, []int32{0}, false)
	s, err := NewShaper(context.Background(), c, v)
	if err != nil {
		fmt.Println(err)
		return
	}
	row := make([]float32, len(texts))
	_ = s.Shape(row)
	fmt.Println(row, "expects", s.Expects())
	s.Push(3)
	fmt.Println("after no:", s.Expects())
	// Output:
	// [-Inf 0 -Inf 0 0 0 -Inf] expects one of 0–9 n
	// after no: end
}

// The form forces a text up to the first place where it has a choice.
func TestForcedTextEndsAtTheFirstChoice(t *testing.T) {
	c, err := Schema(t.Context(), `{"type":"object","properties":{"age":{"type":"integer"}},"required":["age"],"additionalProperties":false}`)
	if err != nil {
		t.Fatal(err)
	}
	s := newShaper(t, c, testVocabulary(rand.New(rand.NewPCG(1, 1)), 300, "age", false))
	must := func(text, forced string) {
		t.Helper()
		for _, b := range []byte(text) {
			s.Push(int32(b) + 2)
		}
		if got := string(s.Forced()); got != forced {
			t.Errorf("after %q the form forces %q, want %q", text, got, forced)
		}
	}
	must("", "{")
	must("{", "") // white space, or a quotation mark
	must("\"", "age\":")
	must("age\":", "") // white space, or a number
	must("1", "")
	s.Push(int32('x') + 2)
	must("", "") // the form does not permit this text
}
