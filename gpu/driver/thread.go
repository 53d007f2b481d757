package driver

import (
	"runtime"
	"sync"
)

// Thread is a goroutine locked to its OS thread. It runs the functions it is given, one after
// another. Waking it takes time, so put many calls into one function, or submit without waiting.
type Thread struct {
	work    chan task
	stopped chan struct{}
	once    sync.Once
}

type task struct {
	run  func()
	done chan<- any // gets run's panic value or nil; if the channel is nil, no one waits for run
}

// maxSubmitted is how many functions can wait in the queue before Submit blocks.
const maxSubmitted = 1024

// StartThread starts a thread; Stop ends it.
func StartThread() *Thread {
	t := &Thread{work: make(chan task, maxSubmitted), stopped: make(chan struct{})}
	go t.loop()
	return t
}

func (t *Thread) loop() {
	// The thread is never unlocked, so it ends with this goroutine. Otherwise another goroutine could
	// get a thread that has this CUDA context.
	runtime.LockOSThread()
	defer close(t.stopped)
	var panicked any // value of a panic in submitted work; the next Do passes it on
	for task := range t.work {
		if panicked == nil {
			panicked = attempt(task.run)
		}
		if task.done != nil {
			task.done <- panicked
			panicked = nil
		}
	}
}

func attempt(run func()) (panicked any) {
	defer func() { panicked = recover() }()
	run()
	return nil
}

// Do runs f on the thread, after everything submitted, and returns its error. If f panics, Do
// panics in the caller with the same value. After a panic in submitted work the thread runs nothing
// until the next Do, which does not run f and panics with that value.
func (t *Thread) Do(f func() error) error {
	var err error
	done := make(chan any, 1)
	t.work <- task{func() { err = f() }, done}
	if panicked := <-done; panicked != nil {
		panic(panicked)
	}
	return err
}

// Submit queues f and returns. It blocks only while maxSubmitted functions are queued.
func (t *Thread) Submit(f func()) { t.work <- task{run: f} }

// Stop ends the thread after what was submitted. Give it nothing afterwards.
func (t *Thread) Stop() {
	t.once.Do(func() { close(t.work) })
	<-t.stopped
}
