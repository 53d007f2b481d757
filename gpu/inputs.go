package gpu

import (
	"encoding/binary"

	"specula/gpu/driver"
)

// inputs copies the words of tapes to the device. On the host there are several slots of pinned
// memory, so that the host may be some passes ahead. On the device one place is enough, because
// the stream runs one tape after the other.
type inputs struct {
	words  driver.Pointer
	pinned []byte                   // inputSlots slots of inputBytes
	passed [inputSlots]driver.Event // the device reaches it when the last copy from the slot is done
	used   [inputSlots]bool         // a copy from the slot was queued after the host last waited
	next   int
}

const (
	inputSlots = 8       // how many tapes' words may be on their way to the device
	inputWords = 1 << 17 // the most words of a tape
	inputBytes = 4 * inputWords
)

func (in *inputs) open(d device) (err error) {
	if in.words, err = d.Alloc(inputBytes); err != nil {
		return err
	}
	if in.pinned, err = d.AllocHost(inputSlots * inputBytes); err != nil {
		return err
	}
	for i := range in.passed {
		if in.passed[i], err = d.NewEvent(false); err != nil {
			return err
		}
	}
	return nil
}

func (in *inputs) send(d device, s driver.Stream, words []int32) error {
	if len(words) == 0 {
		return nil
	}
	slot := in.next
	in.next = (slot + 1) % inputSlots
	if in.used[slot] { // the slot's last copy may still run
		if err := d.WaitHost(in.passed[slot]); err != nil {
			return err
		}
	}
	memory := in.pinned[slot*inputBytes:][:4*len(words)]
	for i, w := range words {
		binary.LittleEndian.PutUint32(memory[4*i:], uint32(w))
	}
	if err := d.UploadAsync(s, in.words, memory); err != nil {
		return err
	}
	in.used[slot] = true
	return d.Record(in.passed[slot], s)
}

// waited notes that the host has waited for the stream: now every slot is free again.
func (in *inputs) waited() { in.used = [inputSlots]bool{} }

func (in *inputs) free(d device) (err error) {
	for _, e := range in.passed {
		if e != 0 {
			err = first(err, d.FreeEvent(e))
		}
	}
	if in.words != 0 {
		err = first(err, d.Free(in.words))
	}
	if in.pinned != nil {
		err = first(err, d.FreeHost(in.pinned))
	}
	*in = inputs{}
	return err
}

// first returns the first error that is not nil.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
