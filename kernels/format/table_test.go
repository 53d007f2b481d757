package format

import "testing"

// A type is either loadable or listed among the others. Find returns the first row with a number, so
// a second row of the same number would never be found.
func TestNoTypeStandsTwiceInTheTable(t *testing.T) {
	numbers, names := map[uint32]string{}, map[string]uint32{}
	for _, list := range [][]Format{loadable, others} {
		for _, f := range list {
			if first, twice := numbers[f.Type]; twice {
				t.Errorf("%s has the number %d of %s: a type has one row, in loadable or in others", &f,
					f.Type, first)
			} else if first, twice := names[f.Name]; twice {
				t.Errorf("%s has the numbers %d and %d: a type has one row, in loadable or in others", &f,
					first, f.Type)
			}
			numbers[f.Type], names[f.Name] = f.Name, f.Type
		}
	}
	for i := range loadable {
		if f := &loadable[i]; Find(f.Type) != f || !CanLoad(f.Type) {
			t.Errorf("%s is not found by its number %d", f, f.Type)
		}
	}
}
