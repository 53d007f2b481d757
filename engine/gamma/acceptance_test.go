package gamma

import "testing"

// If in some replies everything is accepted and in others nothing, the controller soon knows the kind of
// the current reply. If all replies are alike, it ignores the luck of one reply.
func TestRepliesAreJudgedByThemselvesWhereTheyDiffer(t *testing.T) {
	reply := func(a *acceptance, held ...bool) {
		a.begin()
		for _, h := range held {
			o := Observation{Drafted: 1, Tested: 1}
			if h {
				o.Accepted = 1
			}
			a.observe(o)
		}
	}
	var differ, alike acceptance
	for range 20 {
		reply(&differ, true, true, true, true, true, true)
		reply(&differ, false, false, false, false, false, false)
		reply(&alike, true, false, true, false, true, false)
		reply(&alike, false, true, false, true, false, true)
	}
	reply(&differ, false, false, false, false)
	reply(&alike, false, false, false, false)
	if at := differ.at(0); at > 0.15 {
		t.Errorf("after four rejections in a reply, where each reply is of one kind, %.2f is expected", at)
	}
	if at := alike.at(0); at < 0.4 {
		t.Errorf("after four rejections, where all replies are alike, %.2f is expected", at)
	}
	differ.begin()
	if at := differ.at(0); at < 0.4 || at > 0.6 {
		t.Errorf("of a new reply %.2f is expected", at)
	}
}
