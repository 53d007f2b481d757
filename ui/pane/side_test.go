package pane

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"specula/engine/event"
	"specula/engine/spec"
	"specula/ui/layout"
	"specula/ui/state"
	"specula/ui/state/statetest"
	"specula/ui/theme"
)

// sideOf returns the side column of a window of w columns, after some rounds.
func sideOf(w int) *column {
	s := state.New()
	for _, e := range statetest.Chat(24) {
		s.Apply(e)
	}
	th, _ := theme.Named("mono", true)
	return &column{s: s, th: th, w: layout.Arrange(w, 60, layout.Options{ComposerLines: 1}).Side.W}
}

// Two sections of one rank would be left out in an order that nobody chose, and rows that a section was
// not given are cut.
func TestSectionsHaveTheirOwnRankAndKeepToTheirRows(t *testing.T) {
	narrow, wide := sideOf(100), sideOf(250)
	for _, o := range []SideOptions{{}, {Tradeoff: true}, {Few: true}} {
		for name, sections := range map[string][]sideSection{"sections": narrow.sections(o), "wideSections": wide.wideSections(o)} {
			ranks := map[int]int{}
			for i, section := range sections {
				if other, taken := ranks[section.rank]; taken {
					t.Errorf("%s with %+v: numbers %d and %d have the rank %d; give each its own", name, o, other, i, section.rank)
				}
				ranks[section.rank] = i
				for rows := section.rows; rows <= max(section.rows, section.want)+section.grow; rows++ {
					if n := len(section.draw(rows)); n > rows {
						t.Errorf("%s with %+v: number %d draws %d rows of the %d that it is given; ask for more in rows", name, o, i, n, rows)
					}
				}
			}
		}
	}
}

// The inspector compares all rules on one line of the narrowest side column.
func TestTheNamesOfAllRulesFit(t *testing.T) {
	c := sideOf(100)
	var r state.Round
	for _, rule := range spec.Rules {
		r.Rules = append(r.Rules, event.RuleOutcome{Rule: string(rule.Rule), Lossy: rule.Lossy(), Accepted: 8})
	}
	line := ansi.Strip(strings.Join(c.ruleComparison(&r), "\n"))
	if n := strings.Count(line, fmt.Sprint(" ", 8)); n != len(spec.Rules) {
		t.Errorf("%d of %d rules fit: %q; shorten names in ruleComparison", n, len(spec.Rules), line)
	}
}
