package host

import (
	"testing"

	"specula/engine/compute"
	"specula/kernels/cpu"
)

func TestPhasesOfHeadsAndColumnsAreJoined(t *testing.T) {
	l := newLayer(t, 2, 4, 2, compute.Q8_0)
	l.nearBytes = 1 << 30
	l.run(1)
	if got := len(l.queue.program); got != 3 {
		t.Errorf("a layer whose weights are near has %d phases, want 3: quantise, heads, feed-forward network", got)
	}
	first, ok := l.queue.program[1].Task.(*joinedPhase)
	if !ok || first.n != 4 || first.parts != 2 {
		t.Fatalf("the second phase is %+v; products, norms and rotation, attention and addition should be joined, in a part for each of 2 key heads", l.queue.program[1].Task)
	}
	l.nearBytes = 0
	l.run(1)
	if got := len(l.queue.program); got != 7 {
		t.Errorf("a layer whose weights are in memory has %d phases, want 7", got)
	}
}

func TestKeepDoesNotWriteTheSame(t *testing.T) {
	task := joinedPhase{n: 1, parts: 2}
	task.phases[0].task = cpu.Task(&rowPhase{})
	other := task
	if allocs := testing.AllocsPerRun(10, func() { cpu.Keep(&other, &task) }); allocs != 0 || other != task {
		t.Errorf("Keep allocated %v times, or changed what was the same", allocs)
	}
	task.parts = 3
	if cpu.Keep(&other, &task); other != task {
		t.Errorf("Keep left %+v, want %+v", other, task)
	}
}
