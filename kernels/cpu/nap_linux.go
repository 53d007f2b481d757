package cpu

import (
	"syscall"
	"time"
)

// sleepThread puts the thread to sleep. It does not use Go's timers, which take several times as
// long.
func sleepThread(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil) // a signal may end it early, which the caller tolerates
}
