package gpu

import "specula/gpu/driver"

// uploader brings weights to the device while the next are being read and packed: two pieces of pinned memory, each of which is
// copied while the other is filled. It has a stream of its own.
type uploader struct {
	stream   driver.Stream
	pieces   [2][]byte
	copied   [2]driver.Event
	busy     [2]bool
	next     int
	unjoined bool // the main stream does not yet wait for the latest copy; on the device's thread
}

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

// send copies bytes, at most pieceBytes, that fill writes. It waits only for the piece before the last.
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

// join lets a stream wait for what was sent.
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
