//go:build cuda && linux && cgo

package gpu

import (
	"testing"

	"specula/gpu/driver"
	"specula/kernels/cuda/testbench/checks"
)

// The best that the device can do, measured in the same run as the results compared with it.

// elapsed is the device's time in milliseconds for the work that queue queues: the least of a few runs,
// because disturbances can only add time.
func (b *made) elapsed(t testing.TB, queue func() error) float64 {
	t.Helper()
	const times = 5
	least := 0.0
	err := b.onDevice(func() error {
		from, err := b.device.NewEvent(true)
		if err != nil {
			return err
		}
		to, err := b.device.NewEvent(true)
		if err != nil {
			return err
		}
		for i := range times {
			err := first(b.device.Record(from, b.stream), queue(), b.device.Record(to, b.stream),
				b.device.Wait(b.stream))
			if err != nil {
				return err
			}
			ms, err := b.device.Elapsed(from, to)
			if err != nil {
				return err
			}
			if i == 0 || ms < least {
				least = ms
			}
		}
		return first(b.device.FreeEvent(from), b.device.FreeEvent(to))
	})
	if err != nil {
		t.Fatal(err)
	}
	return least
}

// copyBytesPerMS is the memory speed of a copy on the device, in bytes read plus bytes written per
// millisecond.
func (b *made) copyBytesPerMS(t testing.TB) float64 {
	t.Helper()
	bytes := int64(scaled(2<<30, 1<<16))
	from, err := b.alloc("a copy", bytes)
	if err != nil {
		t.Fatal(err)
	}
	to, err := b.alloc("a copy", bytes)
	if err != nil {
		t.Fatal(err)
	}
	err = b.onDevice(func() error { return b.device.Fill(b.stream, from, 0x5a, bytes) })
	if err != nil {
		t.Fatal(err)
	}
	ms := b.elapsed(t, func() error { return b.device.Copy(b.stream, to, from, bytes) })
	if err := first(b.release(from), b.release(to)); err != nil {
		t.Fatal(err)
	}
	return 2 * float64(bytes) / ms
}

// multiplyTiles runs products of tiles in tensor cores, as often as rounds says.
type multiplyTiles struct {
	out, operands driver.Pointer
	rounds        int
	shape         driver.Shape
}

func (o multiplyTiles) launch() launch {
	return launchOf("matrix_peak", o.shape, address(o.out), address(o.operands), whole(o.rounds))
}

// peakPerMS is how many multiplications and additions of bfloat16 numbers the tensor cores do by
// mma.sync, per millisecond.
func (b *made) peakPerMS(t testing.TB) float64 {
	t.Helper()
	const threads, chains, perProduct = 256, 8, 2 * 16 * 8 * 16
	blocks, rounds := 8*b.info.Multiprocessors, scaled(2000, 2)
	blocks = scaled(blocks, 2)
	tile := make([]float32, 16*16)
	for i := range tile {
		tile[i] = 1 + float32(i%13)/16
	}
	operands := make([]byte, 0, 32*6*4)
	for _, w := range checks.PeakOperands(tile, tile[:16*8]) {
		operands = append(operands, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
	}
	memory, err := b.alloc("operands", int64(len(operands)))
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.alloc("sums", int64(4*blocks*threads))
	if err != nil {
		t.Fatal(err)
	}
	steps, err := b.lower(nil,
		multiplyTiles{out, memory, rounds, driver.Shape{Grid: [3]int{blocks}, Block: [3]int{threads}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.onDevice(func() error { return b.device.Upload(b.stream, memory, operands) }); err != nil {
		t.Fatal(err)
	}
	ms := b.elapsed(t, func() error { return b.runAll(steps) })
	if err := first(b.release(out), b.release(memory)); err != nil {
		t.Fatal(err)
	}
	return float64(blocks) * threads / 32 * float64(rounds) * chains * perProduct / ms
}
