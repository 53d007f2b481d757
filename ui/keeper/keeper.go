// Package keeper keeps the terminal usable, whatever happens to the process that shows the screen.
//
// A screen makes the terminal raw, hides the cursor, takes the mouse and draws on a second page. A process that ends by
// itself undoes all that. One that is killed, runs out of memory or overflows its stack cannot. So there are two
// processes: [Split] starts the program again as a child, which loads the models and shows the screen, and the process
// that the shell started becomes the keeper. It waits. When the child ends without having left the screen, the keeper
// leaves it, restores the terminal's modes, prints what the child said last on stderr, and ends as the child ended.
//
// Why the keeper is the parent, and not a child that watches its parent: the shell waits for the process that it
// started. If that one died, shell and keeper would set the modes and write to the terminal at the same time, and the
// order would be luck: a prompt drawn before the second page is left is lost with it. The shell goes on only when the
// keeper has ended, so here the order is certain. The parent also learns when its child is stopped, which nobody else
// does, so even SIGSTOP gives a usable terminal back. The price is the start of a second process before the first frame.
//
// Both are in one process group, so job control treats them as one. Signals sent to the keeper are passed on. A keeper
// that is killed takes the screen with it, but nothing is lost: the child sees that it is gone, saves the chat, restores
// the terminal and ends.
//
// Elsewhere than on Linux and macOS there is no keeper: Windows gives a console its modes back itself and knows no job
// control. With SPECULA_KEEPER=off there is none either, for debuggers that follow one process.
package keeper

import "os"

// variable names the process that keeps, in the child's environment.
const variable = "SPECULA_KEEPER"

// Link is the child's end. A nil Link is a process without a keeper.
type Link struct {
	note    func(byte)
	restore func()
	gone    chan struct{}
	signals chan os.Signal
}

// What the child tells the keeper.
const (
	entered byte = 'e' // the screen is about to be on
	left    byte = 'l' // the screen is off
)

// Entered tells the keeper that the terminal is about to be taken.
func (l *Link) Entered() { l.tell(entered) }

// Left tells the keeper that the terminal shows what it showed before.
func (l *Link) Left() { l.tell(left) }

// Restore makes up for a keeper that ended before its child, when the child has left the screen: the shell may have taken
// the terminal already, and then the terminal refuses the child's modes.
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

// Signals are those that ask the keeper to end. They do not come as signals: one that is sent to the whole job reaches the
// child by itself, and the same again would be one that asks for more hurry.
func (l *Link) Signals() <-chan os.Signal {
	if l == nil {
		return nil
	}
	return l.signals
}

// Gone is closed when the keeper ended before its child.
func (l *Link) Gone() <-chan struct{} {
	if l == nil {
		return nil
	}
	return l.gone
}
