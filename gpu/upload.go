package gpu

import "specula/gpu/driver"

// uploader copies weights to the device on a stream of its own. It has two pieces of pinned
// memory: one is copied while the next weights are packed into the other.
type uploader struct {
	stream   driver.Stream
	pieces   [2][]byte
	copied   [2]driver.Event // the last copy from the piece is done
	busy     [2]bool         // a copy from the piece was ever queued
	next     int
	unjoined bool // the main stream does not wait for the last copy yet; used on the device's thread only
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
	if u.busy[i] {
		if err := b.device.Do(func() error { return b.device.WaitHost(u.copied[i]) }); err != nil {
			return b.note(err)
		}
	}
	u.busy[i] = true
	fill(piece)
	return b.note(b.device.Do(func() error {
		u.unjoined = true
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
