package cli

import (
	"fmt"
	"testing"

	"specula/engine/config"
)

// A flag that is given ten thousand times makes one list, not ten thousand growing lists.
func TestAFlagThatIsRepeatedIsOneList(t *testing.T) {
	setting, _ := config.Lookup("choice")
	var o overrides
	flag := settingFlag{setting: setting, into: &o}
	const n = 10_000
	for i := range n {
		if err := flag.Set(fmt.Sprint("choice ", i)); err != nil {
			t.Fatal(err)
		}
	}
	values := o.all()
	if len(values) != 1 || len(o.values) != 0 || !o.given("constraint.choices") {
		t.Fatalf("%d values, %d of them kept while flags were read", len(values), len(o.values))
	}
	c := config.Default()
	if err := c.SetAll(values...); err != nil || len(c.Constraint.Choices) != n || c.Constraint.Choices[n-1] != "choice 9999" {
		t.Errorf("%v: %d choices", err, len(c.Constraint.Choices))
	}
	if err := flag.Set(""); err != nil || len(o.lists["constraint.choices"]) != 0 || !o.given("constraint.choices") {
		t.Errorf("an empty text does not clear the list: %v", err)
	}
}
