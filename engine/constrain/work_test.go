package constrain

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// compile compiles a form of a kind: "regex", "schema", "grammar" or "choices", one on each line.
func compile(ctx context.Context, kind, text string) (*Constraint, error) {
	switch kind {
	case "regex":
		return Regex(ctx, text)
	case "schema":
		return Schema(ctx, text)
	case "grammar":
		return Grammar(ctx, text)
	}
	return Choices(ctx, strings.Split(text, "\n"))
}

// numbered repeats text for each number below n, formatted with it, with sep in between.
func numbered(n int, text, sep string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = strings.ReplaceAll(text, "%d", fmt.Sprint(i))
	}
	return strings.Join(list, sep)
}

// expensive are forms that cost much: to compile, to measure, or with each token.
var expensive = []struct {
	name, kind, text string
	wrong            string // part of the error; empty if the form is within the limits
}{
	{"long classes", "regex", strings.Repeat(`\p{L}{1000}`, 30), "million steps"},
	{"many pieces at once", "regex", strings.Repeat(`\p{L}{0,1000}`, 30), "more than 1024 ways"},
	{"nested counts", "regex", `((a{0,9}){0,9}b?){0,9}c`, ""},
	{"many classes", "regex", strings.Repeat(`\p{L}\p{N}?`, 500), ""},
	{"a long pattern", "regex", strings.Repeat(`\p{L}`, 20_000), "more than 32768 bytes"},
	{"one class of many", "regex", "(?i)[" + strings.Repeat(`\p{L}`, 6000) + "]", ""},
	{"ambiguous", "regex", `(a|a|aa|aaa|[a-z]*)*x{30}`, ""},
	{"many items", "schema", `{"type":"array","minItems":5000000}`, "at most 10000"},
	{"a long string", "schema", `{"type":"string","minLength":10000,"maxLength":999999999}`, ""},
	{"nested items", "schema", `{"minItems":9999,"items":{"minItems":9999,"items":{"minItems":9999}}}`, "less than 64 kB"},
	{"names", "schema", `{"required":[` + numbered(20_000, `"k%d"`, ",") + `]}`, "more than 262144 parts"},
	{"a long name", "schema", `{"properties":{"` + strings.Repeat("a", 200_000) + `":true}}`, "more than 1024 bytes"},
	{"pairs to compare", "schema", `{"oneOf":[` + numbered(13_000, `{"const":"v%d"}`, ",") + `]}`, "million steps"},
	{"doubling", "schema", `{"$ref":"#/$defs/a0","$defs":{` + numbered(30, `"a%d":{"required":["x"],"allOf":[{"$ref":"#/$defs/b%d"},{"$ref":"#/$defs/b%d"}]}`, ",") +
		"," + numbered(30, `"b%d":{"anyOf":[{"$ref":"#/$defs/a%d","type":"object"},{"$ref":"#/$defs/a%d","type":"object"}]}`, ",") + `}}`, "combined more than 32 deep"},
	{"long values that are nearly the same", "schema", `{"enum":["` + strings.Repeat("a", 60_000) + `","` + strings.Repeat("a", 60_000) + `b"]}`, ""},
	{"a chain of rules", "grammar", "root ::= r0\n" + strings.ReplaceAll(numbered(6000, "r%d ::= \"y\"? r%d+", "\n"), "+", "x") + "\n" + numbered(6000, `r%dx ::= "z"`, "\n"), ""},
	{"counts of counts", "grammar", `root ::= "a"` + strings.Repeat("{0,10}", 40_000), "more than 1024 ways"},
	{"many ways", "grammar", "root ::= " + numbered(10_000, `[a-z]+ "b%d"`, " | "), "more than 1024 ways"},
	{"choices", "choices", numbered(20_000, "choice %d", "\n"), ""},
	{"deep choices", "choices", strings.Repeat("a", 60_000) + "\n" + strings.Repeat("a", 60_001), ""},
}

// use does what a reply does with a form: it computes the length of the shortest text, shapes rows
// and reads tokens. steps and bytes are the most that a single piece of this work took.
func use(ctx context.Context, kind, text string, v *Vocabulary) (steps, bytes int, err error) {
	c, err := compile(ctx, kind, text)
	if err != nil {
		return 0, 0, err
	}
	s, err := NewShaper(ctx, c, v)
	if err != nil {
		return c.g.work.steps, c.g.work.bytes, err
	}
	steps, bytes = c.g.work.steps, c.g.work.bytes
	seen := func() {
		steps, bytes = max(steps, s.automaton.work.steps), max(bytes, s.automaton.work.bytes)
	}
	seen()
	s.Bound(ctx, 100_000)
	if _, err := s.Shortest(); err != nil {
		seen()
		return steps, bytes, err
	}
	row := make([]float32, v.Size())
	for range 20 {
		clear(row)
		err := s.Shape(row)
		seen()
		if err != nil {
			return steps, bytes, err
		}
		for id, score := range row {
			if score == 0 && id != stop {
				s.Push(int32(id))
				break
			}
		}
	}
	return steps, bytes, nil
}

func TestExpensiveFormsHaveLimits(t *testing.T) {
	v := testVocabulary(rand.New(rand.NewPCG(1, 2)), 600, testAlphabet, false)
	for _, tt := range expensive {
		t.Run(tt.name, func(t *testing.T) {
			steps, bytes, err := use(t.Context(), tt.kind, tt.text, v)
			if (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("got %v, want %q", err, tt.wrong)
			}
			// The step that ends a piece of work is counted, too.
			if steps > maxSteps+maxNodes || bytes > maxBytes+stateBytes+maxStacks*16 {
				t.Errorf("%d steps and %d bytes: more than is allowed", steps, bytes)
			}
			if err != nil && len(err.Error()) > 400 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

// countdown is a context that ends after so many checks.
type countdown struct {
	context.Context
	looks int
}

func (c *countdown) Err() error {
	if c.looks--; c.looks < 0 {
		return context.Canceled
	}
	return nil
}

// Cancelled work ends at the next check of its context, wherever it is. The shaper can still serve
// the next reply.
func TestWorkEndsWithItsContext(t *testing.T) {
	v := testVocabulary(rand.New(rand.NewPCG(1, 2)), 600, testAlphabet, false)
	ended := 0
	for _, tt := range expensive {
		for _, looks := range []int{0, 7} {
			ctx := &countdown{t.Context(), looks}
			_, _, err := use(ctx, tt.kind, tt.text, v)
			if ctx.looks >= 0 {
				break // the work was finished earlier
			}
			ended++
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s, ended after %d looks: %v", tt.name, looks, err)
			}
			// Compiling, the shaper and the first row each begin with a check.
			if ctx.looks < -4 {
				t.Errorf("%s, ended after %d looks: went on for %d more", tt.name, looks, -ctx.looks)
			}
		}
	}
	if ended < len(expensive) {
		t.Errorf("only %d pieces of work were ended", ended)
	}
}

func TestAShaperServesTheReplyAfterACancelledOne(t *testing.T) {
	c, err := Regex(t.Context(), `\p{L}{1,1000}x`)
	if err != nil {
		t.Fatal(err)
	}
	v := testVocabulary(rand.New(rand.NewPCG(1, 2)), 600, testAlphabet, false)
	s, fresh := newShaper(t, c, v), newShaper(t, c, v)
	row := make([]float32, v.Size())
	s.Bound(&countdown{t.Context(), 0}, 100)
	if err := s.Shape(row); !errors.Is(err, context.Canceled) {
		t.Fatalf("a row of a cancelled reply: %v", err)
	}
	s.Bound(t.Context(), 100)
	if err := s.Reset(nil); err != nil {
		t.Fatal(err)
	}
	if got, want := len(draw(t, s, row)), len(draw(t, fresh, row)); got != want {
		t.Errorf("the next reply may begin with %d tokens, of a new shaper with %d", got, want)
	}
}

// Each node is measured once for each of its parts, even if all rules are defined after their use.
func TestLengthsTakeLinearTime(t *testing.T) {
	const rules = 10_000
	var text strings.Builder
	text.WriteString("root ::= r0\n")
	for i := range rules {
		fmt.Fprintf(&text, "r%d ::= r%d\n", i, i+1)
	}
	fmt.Fprintf(&text, "r%d ::= \"x\"\n", rules)
	c, err := Grammar(t.Context(), text.String())
	if err != nil {
		t.Fatal(err)
	}
	c.g.work.renew(t.Context())
	if c.g.lengths(everyByte()); c.g.work.steps > 4*len(c.g.nodes) {
		t.Errorf("%d nodes took %d steps", len(c.g.nodes), c.g.work.steps)
	}
}

// A class of characters is a tree of bytes, not one stack for each of its ranges.
func TestAClassIsFewStacks(t *testing.T) {
	c, err := Regex(t.Context(), `\p{L}{1000}`)
	if err != nil {
		t.Fatal(err)
	}
	a := newAutomaton(t.Context(), c, everyByte(), false)
	if n := len(a.states[a.start].stacks); n > 64 {
		t.Errorf("a letter is %d stacks", n)
	}
}

func TestAtLeastIsNoMoreThanShortest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	above := 0
	for _, c := range constraints(t) {
		s := newShaper(t, c, testVocabulary(rng, 500, testAlphabet, false))
		least, exact := s.AtLeast(), shortest(t, s)
		if least > exact {
			t.Errorf("%s: at least %d tokens, and %d are enough", c.Name(), least, exact)
		}
		if least > 0 {
			above++
		}
	}
	if above < 10 {
		t.Errorf("only %d forms need a token", above)
	}
}
