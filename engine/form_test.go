package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"specula/engine"
	"specula/engine/event"
)

// formSchemas allow replies so deep or long that many come to their limit.
var formSchemas = []string{
	`{"type":"object","properties":{"title":{"type":"string"},"people":{"type":"array","minItems":1,"items":{"type":"object",
	  "properties":{"name":{"type":"string","minLength":1},"age":{"type":"integer","minimum":0,"maximum":150},"kind":{"enum":["friend","stranger"]}},
	  "required":["name","age","kind"],"additionalProperties":false}}},"required":["title","people"],"additionalProperties":false}`,
	`{"$ref":"#/$defs/tree","$defs":{"tree":{"type":"object","properties":{"text":{"type":"string"},"left":{"$ref":"#/$defs/tree"},
	  "right":{"$ref":"#/$defs/tree"}},"required":["text"]}}}`,
	`{"type":"array","items":{"anyOf":[{"type":"string","minLength":20},{"type":"number"},{"type":"string","format":"date-time"}]},"minItems":4}`,
	`{"type":"object","additionalProperties":{"type":"array","items":{"type":["boolean","null","string"]}}}`,
}

// formReplies writes replies under every schema, checks that each is valid, and returns how many ended at their
// limit.
func formReplies(t testing.TB, s *engine.Session, seeds, limit int) (cut int) {
	t.Helper()
	for seed := range seeds {
		schema := formSchemas[seed%len(formSchemas)]
		temperature := []string{"0.7", "1", "1.5"}[seed/4%3]
		change(t, s, "schema", schema, "seed", fmt.Sprint(seed), "temp", temperature, "max", fmt.Sprint(limit))
		for ev := range s.Generate(t.Context(), engine.Request{Messages: user("Tell me about speculative decoding.")}) {
			ended, ok := ev.(event.ReplyEnded)
			if !ok {
				continue
			}
			if err := validate(t, schema, ended.Text); err != nil || len(ended.IDs) > limit {
				t.Errorf("seed %d, schema %d: %d tokens, %q: %v", seed, seed%len(formSchemas), len(ended.IDs), ended.Text, err)
			}
			if ended.Reason == "length" {
				cut++
			}
		}
	}
	return cut
}

func validate(t testing.TB, schema, text string) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid([]byte(text)) {
		return fmt.Errorf("not JSON")
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}

func TestSchemaRepliesAreValidWhereverTheyEnd(t *testing.T) {
	s := session(t, pair(), "rule", "fixed", "gamma", "4")
	if cut := formReplies(t, s, 16, 90); cut < 3 {
		t.Errorf("only %d replies came to their limit; the test shows little", cut)
	}
}

// BenchmarkSchemaReplies writes 200 replies of up to 200 tokens and validates all of them.
func BenchmarkSchemaReplies(b *testing.B) {
	s := session(b, pair(), "rule", "fixed", "gamma", "4")
	for b.Loop() {
		cut := formReplies(b, s, 200, 200)
		b.ReportMetric(float64(cut), "at-limit")
	}
}

func TestConstrainedGreedyRepliesDoNotDependOnSpeculation(t *testing.T) {
	s := session(t, pair(), "temp", "0", "rule", "fixed", "gamma", "5", "max", "90")
	for _, form := range [][2]string{{"schema", formSchemas[0]}, {"regex", `(?:[a-z]{2,9} ){3,8}end\.`}, {"choices", `["a target","a draft","nothing"]`},
		{"grammar", `root ::= "I " [a-z ]{5,40} "."`}} {
		change(t, s, form[0], form[1])
		for _, proposer := range []string{"draft", "ngram"} {
			change(t, s, "speculate", "on", "proposer", proposer)
			drafted := write(t, s, user("What is a draft model?"), nil)
			change(t, s, "speculate", "off")
			plain := write(t, s, user("What is a draft model?"), nil)
			if drafted.ended.Text != plain.ended.Text || drafted.ended.Text == "" {
				t.Errorf("%s by %s: %q, plainly %q", form[0], proposer, drafted.ended.Text, plain.ended.Text)
			}
			if drafted.ended.Totals.Accepted == 0 && proposer == "draft" && form[0] != "choices" {
				t.Errorf("%s: nothing was accepted", form[0])
			}
		}
		change(t, s, form[0], map[bool]string{true: "[]", false: ""}[form[0] == "choices"])
	}
}

func TestRoundsSayWhatTheFormExpects(t *testing.T) {
	s := session(t, pair(), "regex", `yes|no, [a-z]+`, "max", "8")
	r := write(t, s, user("hello"), nil)
	if !regexp.MustCompile(`^(?:yes|no, [a-z]+)$`).MatchString(r.ended.Text) {
		t.Errorf("%q does not match", r.ended.Text)
	}
	last := r.rounds[len(r.rounds)-1]
	if first := r.rounds[0]; first.Path != "fallback" || len(first.Shaped) != 1 || first.Shaped[0] != "regular expression" || first.Constraint == "" && last.Index > 0 {
		t.Errorf("the first round has path %q, shapers %q, constraint %q; want fallback, the regular expression and what it expects",
			first.Path, first.Shaped, first.Constraint)
	}
}

func TestFormsAreRefusedAtOnce(t *testing.T) {
	s := session(t, pair())
	if err := s.Change("schema", `{"type":"object","properties":{"age":{"multipleOf":2}}}`); err == nil || !strings.Contains(err.Error(), "#/properties/age/multipleOf") {
		t.Errorf("a schema with multipleOf: error %v, want one that names #/properties/age/multipleOf", err)
	}
	change(t, s, "choices", "yes")
	if err := s.Change("regex", "a+"); err == nil || !strings.Contains(err.Error(), "a reply can have one form") {
		t.Errorf("a second form: error %v, want that a reply can have one form", err)
	}
	change(t, s, "choices", "[]", "regex", "[a-z]{40}", "max", "3")
	var failed string
	for ev := range s.Generate(t.Context(), engine.Request{Messages: user("hello")}) {
		if f, ok := ev.(event.Failed); ok {
			failed = f.Error
		}
	}
	if !strings.Contains(failed, "sampling.max_tokens is 3") {
		t.Errorf("a form that does not fit the limit: %q", failed)
	}
}

func TestAFormIsReadFromItsFileForEachReply(t *testing.T) {
	path := filepath.Join(t.TempDir(), "form.gbnf")
	save := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save(`root ::= "one"`)
	s := session(t, pair(), "grammar", "@"+path)
	if r := write(t, s, user("hello"), nil); r.ended.Text != "one" {
		t.Errorf("wrote %q, want one", r.ended.Text)
	}
	save(`root ::= "two"`)
	if r := write(t, s, user("hello"), nil); r.ended.Text != "two" {
		t.Errorf("after a change of the file: wrote %q, want two", r.ended.Text)
	}
}

// dearForm is expensive: 330 bytes ask for 30,000 letters.
var dearForm = strings.Repeat(`\p{L}{1000}`, 30)

func TestAFormThatIsFarTooLongIsRefusedBeforeItIsMeasured(t *testing.T) {
	s := session(t, pair(), "regex", dearForm, "max", "40")
	r := write(t, s, user("hello"), nil)
	if !strings.Contains(r.failed, "the shortest reply that fits the regular expression needs at least") ||
		!strings.Contains(r.failed, "sampling.max_tokens is 40: raise it, or ask for less") {
		t.Errorf("failed with %q", r.failed)
	}
	change(t, s, "regex", "ye[sp]")
	if r := write(t, s, user("hello"), nil); r.failed != "" || !strings.HasPrefix(r.ended.Text, "ye") {
		t.Errorf("the next reply is %q, failed with %q", r.ended.Text, r.failed)
	}
}

// giveUp is a context that ends after Err was called looks times.
type giveUp struct {
	context.Context
	looks atomic.Int64
}

func (c *giveUp) Err() error {
	if c.looks.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func TestMeasuringAFormEndsWithTheReply(t *testing.T) {
	s := session(t, pair(), "regex", dearForm, "max", "2039") // not refused at first sight
	for _, looks := range []int64{20, 200, 2000} {
		ctx := &giveUp{Context: t.Context()}
		ctx.looks.Store(looks)
		r := writeContext(t, ctx, s, user("hello"), nil)
		if r.ended.Reason != "cancelled" || r.failed != "" || ctx.looks.Load() < -20 {
			t.Errorf("ended by %q, failed with %q, %d looks after the end", r.ended.Reason, r.failed, -ctx.looks.Load())
		}
	}
	r := write(t, s, user("hello"), nil)
	if !strings.Contains(r.failed, "million steps to work out") {
		t.Errorf("a reply that nobody stops failed with %q", r.failed)
	}
}

// With every proposer, tokens that a form forces are drafted, and the greedy text stays the same.
func TestForcedTextIsDrafted(t *testing.T) {
	settings := []string{"temperature", "0", "max-tokens", "120", "schema", formSchemas[0]}
	plain := write(t, session(t, pair(), append(settings, "speculate", "off")...), user("Describe two people."), nil)
	for _, c := range []struct {
		proposer, rule string
		most           int // draft tokens in a round
	}{{"ngram", "cost-aware", 8}, {"draft", "cost-aware", 8}, {"suffix", "fixed", 2}, {"eagle", "windowed", 2}} {
		s := session(t, pair(), append(settings, "proposer", c.proposer, "gamma", "2", "gamma-rule", c.rule)...)
		r := write(t, s, user("Describe two people."), nil)
		if !slices.Equal(r.ended.IDs, plain.ended.IDs) {
			t.Errorf("%s, %s: wrote %q, want %q", c.proposer, c.rule, r.ended.Text, plain.ended.Text)
		}
		tested, kept := 0, 0
		for _, round := range r.rounds {
			if len(round.Draft) > c.most || round.GammaRule != c.rule {
				t.Errorf("%s, %s: a draft of %d tokens by the rule %s", c.proposer, c.rule, len(round.Draft), round.GammaRule)
			}
			if round.Proposer == event.FromForm {
				tested, kept = tested+round.Tested, kept+round.Accepted
			}
		}
		// Under the rule cost-aware the number of forced tokens depends on measured times, so only a few are
		// required.
		if tested < 3 || kept < tested*3/4 {
			t.Errorf("%s, %s: %d of %d forced tokens were kept", c.proposer, c.rule, kept, tested)
		}
	}
}
