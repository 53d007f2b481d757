// Package keeper restores the terminal if the process that shows the screen cannot.
//
// A screen makes the terminal raw, hides the cursor, captures the mouse and draws on the alternate
// page. A process that ends normally undoes all that. A process that is killed, runs out of memory
// or overflows its stack cannot. So there are two processes. [Split] starts the program again as a
// child, which loads the models and shows the screen. The process that the shell started becomes
// the keeper, and waits. When the child has ended, the keeper leaves the alternate page and restores
// the terminal's modes, if the child has not. Then it prints what the child wrote to stderr while
// the screen was on, and ends with the child's exit status.
//
// The keeper is the parent, not a child that watches its parent, because the shell waits for the
// process that it started, and goes on only after that has ended. So the keeper restores the terminal
// before the shell writes to it. If the keeper were the child, both would write at the same time, and
// a prompt that the shell draws on the alternate page would be lost. A parent also learns when its
// child is stopped, so even SIGSTOP leaves a usable terminal. The price is the start of a second
// process before the first frame.
//
// Both processes are in one group, so job control treats them as one. The keeper passes signals on
// to the child. If the keeper is killed, the child notices it, saves the chat, restores the
// terminal and ends.
//
// There is a keeper on Linux and macOS only. Windows restores a console itself and has no job
// control. SPECULA_KEEPER=off turns the keeper off, for debuggers that follow one process.
package keeper

import "os"

// variable names an environment variable. In the child it holds the keeper's process id; set to off by the
// user, it turns the keeper off.
const variable = "SPECULA_KEEPER"

// Link is the child's connection to its keeper. A nil Link means that there is no keeper; its methods
// then do nothing and return nil.
type Link struct {
	note    func(byte)
	restore func()
	gone    chan struct{}
	signals chan os.Signal
}

// The notes from the child to the keeper.
const (
	entered byte = 'e' // the child is about to enter the screen
	left    byte = 'l' // the child has left the screen
)

// Entered tells the keeper that this process is about to enter the screen.
func (l *Link) Entered() { l.tell(entered) }

// Left tells the keeper that this process has left the screen.
func (l *Link) Left() { l.tell(left) }

// Restore restores the terminal's modes if the keeper has ended before this process. Call it after leaving
// the screen. Bubble Tea restores the modes, too; but if the shell has taken the terminal back by then, this
// process is in the background, and the system refuses the change.
func (l *Link) Restore() {
	select {
	case <-l.Gone():
		l.restore()
	default:
	}
}

func (l *Link) tell(what byte) {
	if l != nil {
		l.note(what)
	}
}

// Signals returns the signals that the keeper was asked to end with. The keeper sends them over a pipe, not
// as signals: a signal to the whole job reaches the child anyway, and the child would take a second signal
// for the wish to end at once.
func (l *Link) Signals() <-chan os.Signal {
	if l == nil {
		return nil
	}
	return l.signals
}

// Gone is closed when the keeper ends before its child.
func (l *Link) Gone() <-chan struct{} {
	if l == nil {
		return nil
	}
	return l.gone
}
