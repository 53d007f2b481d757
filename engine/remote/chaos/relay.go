package chaos

import (
	"io"
	"net"
	"sync"
	"time"
)

// Relay passes connections of a listener on to an address, and every byte arrives later by half of
// roundTrip. It waits in real time, because it is for measurements. It ends when the listener is closed.
func Relay(listener net.Listener, address string, roundTrip time.Duration) {
	for {
		near, err := listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", address)
		if err != nil {
			_ = near.Close()
			continue
		}
		var ends sync.Once
		end := func() { ends.Do(func() { _ = near.Close(); _ = far.Close() }) }
		go later(near, far, roundTrip/2, end)
		go later(far, near, roundTrip/2, end)
	}
}

// arrival is a text that was read, and the time at which to pass it on.
type arrival struct {
	at   time.Time
	text []byte
}

// later copies bytes after a delay. While some bytes wait, later reads more, so the delay does not limit the
// rate.
func later(from io.Reader, to io.Writer, delay time.Duration, end func()) {
	defer end()
	under := make(chan arrival, 1<<14)
	go func() {
		defer close(under)
		for {
			buffer := make([]byte, 32<<10)
			n, err := from.Read(buffer)
			if n > 0 {
				under <- arrival{time.Now().Add(delay), buffer[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	broken := false
	for a := range under {
		if time.Sleep(time.Until(a.at)); broken {
			continue // go on emptying the channel, so that the reader does not wait for ever
		}
		if _, err := to.Write(a.text); err != nil {
			broken = true
			end()
		}
	}
}
