//go:build linux || darwin

package keeper

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// The child's files in addition to the standard ones.
const (
	ordersFD = 3 // signals from the keeper, one byte each; EOF when the keeper ends
	notesFD  = 4 // notes from the child
)

// Split starts the program again with the same arguments, and returns in the new process. The calling
// process becomes the keeper and never returns. If that is impossible or turned off, Split returns nil
// and there is no keeper.
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
		return nil // the screen also works without a keeper
	}
	k.watch()
	panic("unreachable")
}

// connect opens the child's ends of the pipes to the keeper.
func connect() *Link {
	unix.CloseOnExec(ordersFD)
	unix.CloseOnExec(notesFD)
	orders, notes := os.NewFile(ordersFD, "orders of the keeper"), os.NewFile(notesFD, "notes to the keeper")
	modes, err := unix.IoctlGetTermios(stdin, getTermios)
	l := &Link{
		note: func(what byte) { _, _ = notes.Write([]byte{what}) }, // if the keeper is gone, the error does not matter
		gone: make(chan struct{}), signals: make(chan os.Signal, 2),
		restore: func() {
			signal.Ignore(syscall.SIGTTOU) // this signal would stop a process that sets modes in the background
			// A shell may have set modes of its own, but none turns output processing off. If it is off,
			// the modes are still those of the screen.
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
			default: // two signals are waiting already; more make no difference
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
		stderr = os.Stderr.Fd() // stderr is a file or a pipe, so its output does not disturb the screen
	}
	k.listen() // before the child starts, so that no signal ends the keeper alone
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
	signal.Ignore(syscall.SIGTTOU) // after the fork, so that the child does not inherit it
	k.words = hear(words, k.on)
	return k, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close() // closing a nil file gives an error, which does not matter
	}
}
