//go:build linux || darwin

package keeper

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"
)

const (
	stdin  = 0
	stdout = 1
)

// patience bounds what may take for ever: a terminal that takes no output, a process that keeps the child's stderr.
const patience = time.Second

// nudgeTime is how long the keeper waits, after it was continued, for its child to be continued by the same signal.
const nudgeTime = 50 * time.Millisecond

// keeper is the process that waits.
type keeper struct {
	child  int // process id
	modes  *unix.Termios
	orders *os.File // signals for the child; it is closed by the end of this process
	words  *words   // the child's stderr

	signals chan os.Signal // to be passed on
	stops   chan os.Signal // SIGTSTP, passed on as it is: a stopped process is not stopped again
	stopped bool           // the child is

	mu     sync.Mutex // guards the rest
	notes  *os.File   // what the child tells
	noteFD int        // the same, which is read without blocking
	onView bool       // the screen is on, by the last note
}

// listen takes the signals that would end or stop the keeper. The rest of them either cannot be caught, or kill it, and
// the child sees that.
func (k *keeper) listen() {
	k.signals, k.stops = make(chan os.Signal, 16), make(chan os.Signal, 1)
	signal.Notify(k.signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGCONT)
	if !signal.Ignored(syscall.SIGTSTP) {
		signal.Notify(k.stops, syscall.SIGTSTP)
	}
}

// watch waits for what happens to the child, and ends with it.
func (k *keeper) watch() {
	changes := make(chan syscall.WaitStatus)
	go wait(k.child, changes)
	var nudge <-chan time.Time
	for {
		select {
		case s := <-k.signals:
			if s == syscall.SIGCONT {
				nudge = time.After(nudgeTime)
				continue
			}
			_, _ = k.orders.Write([]byte{byte(s.(syscall.Signal))}) // a child that has ended needs none
		case <-k.stops:
			_ = syscall.Kill(k.child, syscall.SIGTSTP)
		case <-nudge: // only this process was continued, not the group
			if k.stopped {
				_ = syscall.Kill(k.child, syscall.SIGCONT)
			}
		case status := <-changes:
			switch {
			case status.Stopped():
				k.stop(status.StopSignal())
			case status.Continued():
				k.stopped = false
			default:
				k.end(status)
			}
		}
	}
}

// wait tells every change of the child, the last of which is its end.
func wait(child int, changes chan<- syscall.WaitStatus) {
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(child, &status, syscall.WUNTRACED|syscall.WCONTINUED, nil)
		if err == syscall.EINTR {
			continue
		}
		changes <- status
		if err != nil || status.Exited() || status.Signaled() {
			return
		}
	}
}

// stop gives the terminal back and stops this process, too, for the shell to see. Who continues the job continues both.
func (k *keeper) stop(by syscall.Signal) {
	k.stopped = true
	k.restore("")
	signal.Stop(k.stops)
	select {
	case <-k.stops: // it asked for what has happened
	default:
	}
	// Signals of job control stop nothing that no shell could continue. SIGSTOP does, and must not stop this process then.
	if by != syscall.SIGSTOP || shellWaits() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
	signal.Notify(k.stops, syscall.SIGTSTP)
}

// shellWaits reports whether the parent of this process controls its job.
func shellWaits() bool {
	parent := syscall.Getppid()
	group, err := syscall.Getpgid(parent)
	if err != nil || group == syscall.Getpgrp() {
		return false
	}
	theirs, err := unix.Getsid(parent)
	ours, err2 := unix.Getsid(0)
	return err == nil && err2 == nil && theirs == ours
}

// end restores the terminal and ends this process as the child ended.
func (k *keeper) end(status syscall.WaitStatus) {
	k.restore(k.words.kept())
	if status.Signaled() {
		s := status.Signal()
		switch s {
		case syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP:
			signal.Reset(s)
			_ = syscall.Kill(os.Getpid(), s)
			time.Sleep(patience) // it comes while this sleeps
		}
		os.Exit(128 + int(s)) // the runtime would add its own report to any other signal
	}
	os.Exit(status.ExitStatus())
}

// on reports whether the screen is on, by what the child told until now.
func (k *keeper) on() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	var notes [64]byte
	for {
		n, err := syscall.Read(k.noteFD, notes[:])
		if err == syscall.EINTR {
			continue
		}
		if n <= 0 {
			return k.onView
		}
		k.onView = notes[n-1] == entered
	}
}

// resets leave the screen from any state: in the middle of a sequence, of a frame or of a key's report.
const resets = "\x18" + // cancels a sequence that was not written to its end
	ansi.ResetModeSynchronizedOutput + ansi.ResetStyle + "\x1b]8;;\x07" + "\x1b[0 q" + // no link, the usual cursor
	ansi.ResetModeMouseNormal + ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseAnyEvent + ansi.ResetModeMouseExtSgr +
	ansi.ResetModeFocusEvent + ansi.ResetModeBracketedPaste + ansi.ResetModeUnicodeCore +
	ansi.ResetModifyOtherKeys + "\x1b[<1u" + // the keyboard's protocol, which each page has for itself
	ansi.ResetModeAltScreenSaveCursor + ansi.SetModeTextCursorEnable

// restore undoes what the child left undone, and prints last words. A terminal that belongs to another job is left alone:
// whoever has it set its modes.
func (k *keeper) restore(last string) {
	on := k.on()
	text := last
	if Foreground() {
		if now, err := unix.IoctlGetTermios(stdin, getTermios); err == nil && now.Lflag&unix.ICANON != k.modes.Lflag&unix.ICANON {
			_ = unix.IoctlSetTermios(stdin, setTermios, k.modes)
		}
		if on {
			text = resets + last
			k.mu.Lock()
			k.onView = false
			k.mu.Unlock()
		}
	}
	if text == "" {
		return
	}
	written := make(chan struct{})
	go func() {
		_, _ = os.Stdout.WriteString(text[:len(text)-len(last)])
		_, _ = os.Stderr.WriteString(last)
		close(written)
	}()
	select {
	case <-written:
	case <-time.After(patience):
	}
}

// Foreground reports whether the terminal belongs to this job.
func Foreground() bool {
	group, err := unix.IoctlGetInt(stdin, unix.TIOCGPGRP)
	return err == nil && group == syscall.Getpgrp()
}
