package driver

import (
	"errors"
	"testing"
)

func TestThreadKeepsTheOrder(t *testing.T) {
	thread := StartThread()
	defer thread.Stop()
	var order []int
	for i := range 5 {
		thread.Submit(func() { order = append(order, i) })
	}
	failed := errors.New("failed")
	if err := thread.Do(func() error { order = append(order, 5); return failed }); err != failed {
		t.Errorf("Do returned %v, want the error of the function", err)
	}
	for i, got := range order {
		if got != i || len(order) != 6 {
			t.Fatalf("order %v", order)
		}
	}
}

func TestPanicsReachTheCaller(t *testing.T) {
	for name, cause := range map[string]func(*Thread){
		"in Do": func(thread *Thread) { _ = thread.Do(func() error { panic("broken") }) },
		"before Do": func(thread *Thread) {
			thread.Submit(func() { panic("broken") })
			_ = thread.Do(func() error { return nil })
		},
		"in between": func(thread *Thread) {
			thread.Submit(func() { panic("broken") })
			thread.Submit(func() {})
			_ = thread.Do(func() error { return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			thread := StartThread()
			defer thread.Stop()
			func() {
				defer func() {
					if caught := recover(); caught != "broken" {
						t.Errorf("caught %v", caught)
					}
				}()
				cause(thread)
			}()
			if err := thread.Do(func() error { return nil }); err != nil {
				t.Errorf("after the panic: %v", err)
			}
		})
	}
}

func TestStopTwice(t *testing.T) {
	thread := StartThread()
	thread.Stop()
	thread.Stop()
}
