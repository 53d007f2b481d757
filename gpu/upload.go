package gpu

import "specula/gpu/driver"

// uploader copies weights and masks to the device on a stream of its own. It has two pieces of pinned
// memory: one is copied while the next weights are packed into the other.
type uploader struct {
	stream driver.Stream
	pieces [2][]byte
	copied [2]driver.Event // the last copy from the piece is done
	next   int
	// Use these on the device's thread only.
	busy     [2]bool // a copy from the piece was queued and may still run
	unjoined bool    // the main stream does not wait for the last copy yet
}

// pieceBytes is the size of a piece, and so the most that one call of send copies.
const pieceBytes = 8 << 20

func (u *uploader) open(d device) (err error) {
	if u.stream, err = d.NewStream(); err != nil {
		return err
	}
	for i := range u.pieces {
		if u.pieces[i], err = d.AllocHost(pieceBytes); err != nil {
			return err
		}
		if u.copied[i], err = d.NewEvent(false); err != nil {
			return err
		}
	}
	return nil
}

// send lets fill write bytes, at most pieceBytes, to a free piece and starts to copy them to the
// device. If both pieces are in use, it first waits for the older copy. It returns before its own copy
// is done.
func (u *uploader) send(b *Backend, to driver.Pointer, bytes int, fill func(to []byte)) error {
	require(bytes <= pieceBytes, "an upload of more than a piece")
	if err := b.usable(); err != nil {
		return err
	}
	i := u.next
	u.next = 1 - i
	piece := u.pieces[i][:bytes]
	err := b.device.Do(func() error {
		if !u.busy[i] {
			return nil
		}
		return b.device.WaitHost(u.copied[i])
	})
	if err != nil {
		return b.note(err)
	}
	fill(piece)
	return b.note(b.device.Do(func() error {
		u.busy[i], u.unjoined = true, true
		if err := b.device.UploadAsync(u.stream, to, piece); err != nil {
			return err
		}
		return b.device.Record(u.copied[i], u.stream)
	}))
}

// join makes a stream wait for everything that was sent.
func (u *uploader) join(d device, s driver.Stream) error {
	if !u.unjoined {
		return nil
	}
	u.unjoined = false
	for i, e := range u.copied {
		if !u.busy[i] {
			continue
		}
		if err := d.WaitEvent(s, e); err != nil {
			return err
		}
	}
	return nil
}

// waited notes that the host has waited for the main stream. If this stream had waited for all copies, both
// pieces are free.
func (u *uploader) waited() {
	if !u.unjoined {
		u.busy = [2]bool{}
	}
}

func (u *uploader) free(d device) (err error) {
	if u.stream != 0 {
		err = first(d.Wait(u.stream))
	}
	for i := range u.pieces {
		if u.copied[i] != 0 {
			err = first(err, d.FreeEvent(u.copied[i]))
		}
		if u.pieces[i] != nil {
			err = first(err, d.FreeHost(u.pieces[i]))
		}
	}
	if u.stream != 0 {
		err = first(err, d.FreeStream(u.stream))
	}
	*u = uploader{}
	return err
}
