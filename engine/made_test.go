package engine

import (
	"slices"
	"testing"

	"specula/engine/config"
	"specula/engine/spec"
)

// A proposer that was built from a setting must be built again when the setting changes, or the change does
// nothing. Such settings apply at the next reply, since a proposer lives for whole replies.
func TestEverySettingOfABuildIsInMade(t *testing.T) {
	notBuilt := map[string]bool{"speculation.costs": true, "speculation.drafts": true} // the reply reads these
	before := config.Default()
	for _, s := range config.Settings() {
		if s.Section() != "speculation" {
			continue
		}
		built := slices.ContainsFunc(drafters(), func(d drafter) bool {
			return d.made != nil && d.made(before.Speculation) != d.made(otherwise(t, s).Speculation)
		})
		switch {
		case built && s.Applies != config.NextReply:
			t.Errorf("a proposer is built from %s, which applies %s: let it apply at the next reply", s.Name, s.Applies)
		case !built && s.Applies == config.NextReply && !notBuilt[s.Name]:
			t.Errorf("no proposer is built again when %s changes: add it to made in engine/drafters.go, or to notBuilt here", s.Name)
		}
	}
}

// otherwise returns the default settings, except that s has another value.
func otherwise(t *testing.T, s config.Setting) config.Config {
	c := config.Default()
	for _, value := range append(s.Choices, "2", "3", "0.5", "false", "2x1") {
		if c.Set(s.Name, value) == nil {
			if now, _ := c.Get(s.Name); now != s.Default {
				return c
			}
		}
	}
	t.Fatalf("%s: every value tried is refused or the default", s.Name)
	return c
}

// A proposer that is in a cascade twice would be told each token twice.
func TestCascadesAskEachProposerOnce(t *testing.T) {
	for name, want := range map[string][]string{
		"ngram,suffix": {"ngram", "suffix"}, "suffix,combined": {"suffix", "draft"}, "ngram,combined": {"ngram", "suffix", "draft"},
		"suffix,ngram,combined": {"suffix", "ngram", "draft"},
	} {
		if d := drafterNamed(name); !slices.Equal(d.parts, want) || d.Name != name {
			t.Errorf("%s asks %q, want %q", name, d.parts, want)
		}
	}
}

// When a setting changes, renew drops the proposers that were built from it, the cascades with them, and what was
// learned about both. Others stay.
func TestAChangedProposerLeavesItsCascades(t *testing.T) {
	c := config.Default().Speculation
	s := &Session{proposers: map[string]spec.Proposer{}, made: map[string]string{}, failed: map[string]string{}, lessons: map[kind]*lessons{}}
	names := []string{"ngram", "suffix", "ngram,suffix"}
	for _, name := range names {
		s.lessons[kind{proposer: name}] = &lessons{}
		if _, refused := s.proposer(name, c); refused != "" {
			t.Fatal(refused)
		}
	}
	if err := s.renew(c); err != nil || len(s.proposers) != 3 || len(s.lessons) != 3 {
		t.Errorf("without a change %d proposers and %d lessons are left, %v", len(s.proposers), len(s.lessons), err)
	}
	c.NgramMax++
	if err := s.renew(c); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		stays := name == "suffix"
		if got, learned := s.proposers[name] != nil, s.lessons[kind{proposer: name}] != nil; got != stays || learned != stays {
			t.Errorf("%s is left: %v, its lessons: %v; want %v", name, got, learned, stays)
		}
	}
}
