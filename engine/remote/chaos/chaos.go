// Package chaos is a bad network between a client and a server, for tests only. A test chooses which
// harm is done to the bytes of client or server, and after how many bytes. Connections are pipes in
// memory, and the clock is that of package time: in a bubble of testing/synctest an hour of silence
// takes no time.
package chaos

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"
)

// Kind is what happens to the bytes of one direction.
type Kind string

// The kinds of harm.
const (
	None    Kind = ""
	Cut     Kind = "cut"     // both ends see the end of the connection
	Silence Kind = "silence" // nothing comes any more, and the connection stays open
	Pause   Kind = "pause"   // the bytes that follow wait for Harm.Wait, once
	Drip    Kind = "drip"    // at most Harm.Count bytes of one read come one by one, each after Harm.Wait
	Repeat  Kind = "repeat"  // the last bytes, at most Harm.Count, come twice
	Lose    Kind = "lose"    // at most Harm.Count bytes of one read do not come
	Flip    Kind = "flip"    // one byte becomes another one
	Digit   Kind = "digit"   // the next digit becomes another one: an answer stays JSON
	Noise   Kind = "noise"   // Harm.Count bytes come that nobody sent
	Refuse  Kind = "refuse"  // the next Harm.Count connections are refused
)

// Harm is what the network does to one connection or, with Again, to that connection and every later one.
type Harm struct {
	Kind  Kind
	Up    bool          // harm the bytes that the client sends; false: those that the server sends
	After int           // bytes of this direction, over all connections, that pass before the harm
	Count int           // how many bytes are harmed; for Refuse, how many connections
	Wait  time.Duration // the delay of Pause and Drip
	Again bool          // Cut: every later connection is refused; Silence: every later one is silent, too
}

// Network connects a client and a server. It is a net.Listener, and Dial is for http.Transport.
type Network struct {
	harm     Harm
	incoming chan net.Conn
	closed   chan struct{}
	closing  sync.Once

	mu      sync.Mutex
	rand    *rand.Rand
	passed  [2]int // bytes that the server and the client have sent
	refused int
	done    bool // the harm has been done
}

// New returns a network that does the harm h. rand chooses the false bytes.
func New(h Harm, rand *rand.Rand) *Network {
	return &Network{harm: h, rand: rand, incoming: make(chan net.Conn), closed: make(chan struct{})}
}

// Passed returns how many bytes server and client have sent.
func (n *Network) Passed() (down, up int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.passed[0], n.passed[1]
}

// Done reports whether the harm has been done.
func (n *Network) Done() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.done
}

// Dial connects to the server.
func (n *Network) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	n.mu.Lock()
	refused := n.harm.Kind == Refuse && n.refused < n.harm.Count && n.passed[1] >= n.harm.After ||
		n.harm.Kind == Cut && n.harm.Again && n.done
	if refused {
		n.refused++
		n.done = true
	}
	n.mu.Unlock()
	if refused {
		return nil, errors.New("connection refused")
	}
	client, near := net.Pipe()
	far, server := net.Pipe()
	select {
	case n.incoming <- server:
	case <-n.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var ends sync.Once
	end := func() { ends.Do(func() { _ = near.Close(); _ = far.Close() }) }
	go n.carry(far, near, 0, end)
	go n.carry(near, far, 1, end)
	return client, nil
}

// Accept returns the next connection to the server.
func (n *Network) Accept() (net.Conn, error) {
	select {
	case c := <-n.incoming:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (n *Network) Close() error {
	n.closing.Do(func() { close(n.closed) })
	return nil
}

// Addr returns an empty address: the network has none.
func (n *Network) Addr() net.Addr { return &net.TCPAddr{} }

// carry moves bytes in one direction until an end is closed. It never lets the writer wait: HTTP/2 holds
// locks while it writes, so a writer that waits would stop the clock of a bubble.
func (n *Network) carry(from io.Reader, to io.Writer, direction int, end func()) {
	defer end()
	q := queue{arrived: make(chan struct{}, 1)}
	go q.fill(from)
	kept := []byte(nil) // the last bytes, for Repeat
	for {
		text, ok := q.take()
		if !ok {
			return
		}
		at := n.strikes(direction, len(text))
		if at < 0 {
			if _, err := to.Write(text); err != nil {
				return
			}
			kept = text
			continue
		}
		kept = append(kept[:len(kept):len(kept)], text[:at]...)
		if _, err := to.Write(text[:at]); err != nil || !n.harmed(&q, to, kept, text[at:]) {
			return
		}
	}
}

// queue holds bytes that were read and not yet passed on.
type queue struct {
	arrived chan struct{} // holds one value if bytes or the end have come since take last waited
	mu      sync.Mutex
	parts   [][]byte
	ended   bool
}

func (q *queue) fill(from io.Reader) {
	for ended := false; !ended; {
		buffer := make([]byte, 4<<10)
		size, err := from.Read(buffer)
		ended = err != nil
		q.mu.Lock()
		q.ended = ended
		if size > 0 {
			q.parts = append(q.parts, buffer[:size])
		}
		q.mu.Unlock()
		select {
		case q.arrived <- struct{}{}:
		default:
		}
	}
}

// take waits for the next bytes; ok is false if no more come.
func (q *queue) take() (part []byte, ok bool) {
	for {
		q.mu.Lock()
		if len(q.parts) > 0 {
			part, q.parts = q.parts[0], q.parts[1:]
			q.mu.Unlock()
			return part, true
		}
		ended := q.ended
		q.mu.Unlock()
		if ended {
			return nil, false
		}
		<-q.arrived
	}
}

// strikes counts the next bytes of a direction; size is how many they are. It returns the index of the byte where
// the harm begins; −1 if the harm does not begin among these bytes.
func (n *Network) strikes(direction, size int) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.passed[direction]
	n.passed[direction] += size
	wanted := 0
	if n.harm.Up {
		wanted = 1
	}
	again := n.done && n.harm.Again && n.harm.Kind == Silence
	if direction != wanted || n.harm.Kind == None || n.harm.Kind == Refuse || n.done && !again || n.passed[direction] <= n.harm.After {
		return -1
	}
	n.done = true
	return max(0, n.harm.After-before)
}

// harmed does the harm to the bytes of rest and passes on what comes of them. It reports whether the connection
// goes on.
func (n *Network) harmed(q *queue, to io.Writer, kept, rest []byte) bool {
	count := n.harm.Count
	switch n.harm.Kind {
	case Cut:
		return false
	case Silence:
		for {
			if _, ok := q.take(); !ok {
				return false // client or server closed the connection
			}
		}
	case Pause:
		n.wait()
	case Drip:
		for len(rest) > 0 && count > 0 {
			n.wait()
			if _, err := to.Write(rest[:1]); err != nil {
				return false
			}
			rest, count = rest[1:], count-1
		}
	case Repeat:
		rest = slices.Concat(kept[max(0, len(kept)-count):], rest)
	case Lose:
		rest = rest[min(count, len(rest)):]
	case Flip:
		rest = slices.Clone(rest)
		rest[0] = n.other(rest[0])
	case Digit:
		if i := bytes.IndexAny(rest, "0123456789"); i >= 0 {
			rest = slices.Clone(rest)
			rest[i] = '0' + (rest[i]-'0'+byte(1+n.below(9)))%10
		}
	case Noise:
		noise := make([]byte, count)
		for i := range noise {
			noise[i] = n.other(0)
		}
		rest = append(noise, rest...)
	}
	_, err := to.Write(rest)
	return err == nil
}

// wait returns after Harm.Wait, or when the network is closed.
func (n *Network) wait() {
	t := time.NewTimer(n.harm.Wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-n.closed:
	}
}

// other returns a byte that differs from b.
func (n *Network) other(b byte) byte { return b + byte(1+n.below(255)) }

func (n *Network) below(limit int) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.rand.IntN(limit)
}
