package cpu

import "testing"

// drive makes n runs on a machine where a multiplication costs the given nanoseconds, on all threads
// and alone. It returns how many were run alone.
func drive(c *threadChoice, n int, together, alone float64) (aloneRuns int) {
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

func TestThreadChoiceFollowsTheMachine(t *testing.T) {
	var c threadChoice
	if alone := drive(&c, 20_000, 0.6, 1); alone > 20_000/500 {
		t.Errorf("two threads are faster, and %d of 20,000 runs were made by one", alone)
	}
	if together := 5000 - drive(&c, 5000, 1.2, 1); together > 5000/20 {
		t.Errorf("one thread is faster since the machine changed, and %d of 5,000 runs were made by two",
			together)
	}
	if alone := drive(&c, 10_000, 0.6, 1); alone > mostBetween+100 {
		t.Errorf("two threads are faster again, and %d of 10,000 runs were made by one", alone)
	}
}

func TestThreadChoiceStaysIfBothCostTheSame(t *testing.T) {
	var c threadChoice
	if alone := drive(&c, 10_000, 1, 0.98); alone > 10_000*trialRuns/leastBetween+trialRuns {
		t.Errorf("one thread is only 2 %% faster, and took %d of 10,000 runs", alone)
	}
}

func TestThreadChoiceForgetsAWrongTiming(t *testing.T) {
	var c threadChoice
	drive(&c, soon-1, 1, 1.5)
	is, timed := c.next()
	for ; !is || !timed; is, timed = c.next() {
	}
	c.observe(true, 0.1) // a clock that jumped: alone seems fast
	if alone := drive(&c, 2000, 1, 1.5); alone > 200 {
		t.Errorf("after one wrong timing, %d of 2,000 runs were made by one thread, which is slower", alone)
	}
}

// The first timing may be disturbed. The other way must not win against it.
func TestThreadChoiceForgetsADisturbedTiming(t *testing.T) {
	var c threadChoice
	for n := range 20_000 {
		is, timed := c.next()
		if is && timed && c.trial == 0 && c.alone {
			t.Fatalf("run %d: one thread is slower, and has become the way", n)
		}
		switch cost := 1.0; {
		case !timed:
		case is:
			c.observe(true, 1.3)
		default:
			if n < timedEvery { // another program took a core
				cost = 4
			}
			c.observe(false, cost)
		}
	}
}

func TestLargeProgramsAlwaysUseAllThreads(t *testing.T) {
	var c threadChoices
	if c.of(100*mostChoiceWork+1, 100) != nil {
		t.Error("a program of large phases has a choice")
	}
	if c.of(100*mostChoiceWork, 100) == nil {
		t.Error("a program of small phases has no choice")
	}
}
