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

// patience limits two waits that might never end: for a terminal that takes no output, and for the end of
// the child's stderr, which another process may hold open.
const patience = time.Second

// nudgeTime is how long the keeper, after it was continued, waits for its child to be continued by the
// same signal.
const nudgeTime = 50 * time.Millisecond

// keeper is the parent process, which waits for the child.
type keeper struct {
	child  int // process id
	modes  *unix.Termios
	orders *os.File // signals for the child; stays open until this process ends
	words  *words   // the child's stderr

	signals chan os.Signal // signals to pass on to the child
	stops   chan os.Signal // SIGTSTP, to pass on, too; room for one is enough, as a stopped child ignores a second
	stopped bool           // the child is stopped

	mu     sync.Mutex // guards the rest
	notes  *os.File   // notes from the child
	noteFD int        // descriptor of notes, for reading without blocking
	onView bool       // the screen is on, according to the last note
}

// listen catches the usual signals that would end or stop the keeper. If another signal kills the keeper,
// the child notices that.
func (k *keeper) listen() {
	k.signals, k.stops = make(chan os.Signal, 16), make(chan os.Signal, 1)
	signal.Notify(k.signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGCONT)
	if !signal.Ignored(syscall.SIGTSTP) {
		signal.Notify(k.stops, syscall.SIGTSTP)
	}
}

// watch passes signals on, follows the child's stops and continues, and ends this process when the
// child has ended.
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
			_, _ = k.orders.Write([]byte{byte(s.(syscall.Signal))}) // if the child has ended, the error does not matter
		case <-k.stops:
			_ = syscall.Kill(k.child, syscall.SIGTSTP)
		case <-nudge: // the child is still stopped if only this process was continued, not the group
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

// wait sends every change of the child's state to changes, up to the child's end.
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

// stop restores the terminal and stops this process too, so that the shell sees a stopped job. When the
// shell continues the job, it continues both processes. by is the signal that stopped the child.
func (k *keeper) stop(by syscall.Signal) {
	k.stopped = true
	k.restore("")
	signal.Stop(k.stops)
	select {
	case <-k.stops: // drop the SIGTSTP that caused this stop
	default:
	}
	// SIGTSTP, SIGTTIN and SIGTTOU have stopped the child only because a shell can continue it: without one, the
	// system drops these signals. SIGSTOP stops the child in any case. Then this process stops only if a shell
	// waits, because without one nothing would continue the two.
	if by != syscall.SIGSTOP || shellWaits() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
	signal.Notify(k.stops, syscall.SIGTSTP)
}

// shellWaits reports whether the parent of this process seems to be a shell that controls jobs: it is in
// this session, but in another process group.
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
			time.Sleep(patience) // the signal comes during this sleep
		}
		os.Exit(128 + int(s)) // for other signals, such as SIGQUIT, the Go runtime would print a report
	}
	os.Exit(status.ExitStatus())
}

// on reports whether the screen is on, according to the child's notes so far.
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

// resets leaves the screen from any state, even in the middle of a sequence or a frame.
const resets = "\x18" + // ends an incomplete sequence
	ansi.ResetModeSynchronizedOutput + ansi.ResetStyle + "\x1b]8;;\x07" + "\x1b[0 q" + // no link, the default cursor
	ansi.ResetModeMouseNormal + ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseAnyEvent + ansi.ResetModeMouseExtSgr +
	ansi.ResetModeFocusEvent + ansi.ResetModeBracketedPaste + ansi.ResetModeUnicodeCore +
	ansi.ResetModifyOtherKeys + "\x1b[<1u" + // the keyboard protocol, which each page sets for itself
	ansi.ResetModeAltScreenSaveCursor + ansi.SetModeTextCursorEnable

// restore restores the terminal if the child has not, and prints last to stderr. It does not touch the
// modes of a terminal that belongs to another job, which has set its own.
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
