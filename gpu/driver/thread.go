package driver

import (
	"runtime"
	"sync"
)

// Thread is a goroutine locked to its thread of the operating system, which runs the functions it is given, one after another.
// Waking it takes tens of microseconds: many calls belong in one function, or are submitted without waiting.
type Thread struct {
	work    chan task
	stopped chan struct{}
	once    sync.Once
}

type task struct {
	run  func()
	done chan<- any // what run panicked with, or nil; nil: nobody waits
}

const maxSubmitted = 1024

// StartThread starts one; Stop ends it.
func StartThread() *Thread {
	t := &Thread{work: make(chan task, maxSubmitted), stopped: make(chan struct{})}
	go t.loop()
	return t
}

func (t *Thread) loop() {
	runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine, and with it whatever is current on it
	defer close(t.stopped)
	var panicked any // by submitted work; the next to wait hears of it
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

// Do runs f on the thread, behind everything submitted, and returns its error. A panic of f, or of submitted work before it, becomes one
// of the caller's.
func (t *Thread) Do(f func() error) error {
	var err error
	done := make(chan any, 1)
	t.work <- task{func() { err = f() }, done}
	if panicked := <-done; panicked != nil {
		panic(panicked)
	}
	return err
}

// Submit queues f and returns. It waits only when 1024 are queued.
func (t *Thread) Submit(f func()) { t.work <- task{run: f} }

// Stop ends the thread behind what was submitted. Nothing may be given to it afterwards.
func (t *Thread) Stop() {
	t.once.Do(func() { close(t.work) })
	<-t.stopped
}
