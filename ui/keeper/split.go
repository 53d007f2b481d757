//go:build linux || darwin

package keeper

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// The files that the child is given besides the standard ones.
const (
	ordersFD = 3 // signals that the keeper got, a byte each; it ends with the keeper
	notesFD  = 4 // what the child tells
)

// Split starts the program again, with the same arguments, and returns in the new process. The process that called it
// becomes the keeper and never returns. Where that is impossible, Split returns nil and there is no keeper.
func Split() *Link {
	switch os.Getenv(variable) {
	case "off":
		return nil
	case strconv.Itoa(os.Getppid()):
		_ = os.Unsetenv(variable)
		return connect()
	}
	k, err := start()
	if err != nil {
		return nil // the screen works without, too
	}
	k.watch()
	panic("unreachable")
}

// connect opens the child's end of the files.
func connect() *Link {
	unix.CloseOnExec(ordersFD)
	unix.CloseOnExec(notesFD)
	orders, notes := os.NewFile(ordersFD, "orders of the keeper"), os.NewFile(notesFD, "notes to the keeper")
	modes, err := unix.IoctlGetTermios(stdin, getTermios)
	l := &Link{
		note: func(what byte) { _, _ = notes.Write([]byte{what}) }, // a keeper that is gone needs no note
		gone: make(chan struct{}), signals: make(chan os.Signal, 2),
		restore: func() {
			signal.Ignore(syscall.SIGTTOU) // as a job in the background, it would be stopped
			// A shell that edits lines has set modes of its own, but no shell stops processing output.
			if now, err2 := unix.IoctlGetTermios(stdin, getTermios); err == nil && err2 == nil && now.Oflag&unix.OPOST == 0 {
				_ = unix.IoctlSetTermios(stdin, setTermios, modes)
			}
		},
	}
	go func() {
		defer close(l.gone)
		for order := make([]byte, 1); ; {
			if _, err := orders.Read(order); err != nil {
				return
			}
			select {
			case l.signals <- syscall.Signal(order[0]):
			default: // two are as many as matter
			}
		}
	}()
	return l
}

// start starts the child.
func start() (*keeper, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	k := &keeper{}
	if k.modes, err = unix.IoctlGetTermios(stdin, getTermios); err != nil {
		return nil, err
	}
	var open []*os.File
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
			open = append(open, r, w)
		}
		return r, w
	}
	childOrders, orders := pipe()
	notes, childNotes := pipe()
	words, childWords := pipe()
	if err != nil {
		closeAll(open...)
		return nil, err
	}
	k.orders, k.notes, k.noteFD = orders, notes, int(notes.Fd())
	if err := syscall.SetNonblock(k.noteFD, true); err != nil {
		closeAll(open...)
		return nil, err
	}
	stderr := childWords.Fd()
	if _, err := unix.IoctlGetTermios(int(os.Stderr.Fd()), getTermios); err != nil {
		stderr = os.Stderr.Fd() // a file or a pipe, which the screen does not disturb
	}
	k.listen() // before the child is there: no signal must end the keeper alone
	if err := os.Setenv(variable, strconv.Itoa(os.Getpid())); err != nil {
		closeAll(open...)
		return nil, err
	}
	k.child, err = syscall.ForkExec(path, os.Args, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{uintptr(stdin), uintptr(stdout), stderr, childOrders.Fd(), childNotes.Fd()},
	})
	closeAll(childOrders, childNotes, childWords)
	if err != nil {
		signal.Stop(k.signals)
		signal.Stop(k.stops)
		_ = os.Unsetenv(variable)
		closeAll(orders, notes, words)
		return nil, err
	}
	signal.Ignore(syscall.SIGTTOU) // only now: the child must not inherit it
	k.words = hear(words, k.on)
	return k, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close() // of a nil file, an error
	}
}
