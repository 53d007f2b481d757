package cpu

import "testing"

// drive makes n runs on a machine on which a multiplication costs so much, together and alone, and returns how many were run alone.
func drive(c *company, n int, together, alone float64) (aloneRuns int) {
	for range n {
		is, timed := c.next()
		cost := together
		if is {
			cost = alone
			aloneRuns++
		}
		if timed {
			c.observe(is, cost)
		}
	}
	return aloneRuns
}

func TestCompanyFollowsTheMachine(t *testing.T) {
	var c company
	if alone := drive(&c, 20_000, 0.6, 1); alone > 20_000/500 {
		t.Errorf("two threads are faster, and %d of 20,000 runs were made by one", alone)
	}
	if together := 5000 - drive(&c, 5000, 1.2, 1); together > 5000/20 {
		t.Errorf("one thread is faster since the machine changed, and %d of 5,000 runs were made by two", together)
	}
	if alone := drive(&c, 10_000, 0.6, 1); alone > mostBetween+100 {
		t.Errorf("two threads are faster again, and %d of 10,000 runs were made by one", alone)
	}
}

func TestCompanyStaysWhereBothAreAlike(t *testing.T) {
	var c company
	if alone := drive(&c, 10_000, 1, 0.98); alone > 10_000*trialRuns/leastBetween+trialRuns {
		t.Errorf("one thread is no faster to speak of, and took %d of 10,000 runs", alone)
	}
}

func TestCompanyForgetsAStall(t *testing.T) {
	var c company
	drive(&c, soon-1, 1, 1.5)
	is, timed := c.next()
	for ; !is || !timed; is, timed = c.next() {
	}
	c.observe(true, 0.1) // a clock that jumped: alone seems fast
	if alone := drive(&c, 2000, 1, 1.5); alone > 200 {
		t.Errorf("one wrong timing, and %d of 2,000 runs were made by one thread that is slower", alone)
	}
}

func TestLargeProgramsAlwaysHaveCompany(t *testing.T) {
	var c companies
	if c.of(100*mostCompanyWork+1, 100) != nil {
		t.Error("a program of large phases is up for choice")
	}
	if c.of(100*mostCompanyWork, 100) == nil {
		t.Error("a program of small phases is not up for choice")
	}
}
