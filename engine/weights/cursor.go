package weights

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	// windowBytes is how much of a header is in memory at a time. It also bounds the strings that
	// the cursor returns.
	windowBytes = 64 << 10
	// maxHeaderBytes bounds the time spent on a header. The largest vocabularies in use need about
	// 16 MiB.
	maxHeaderBytes = 256 << 20
)

// cursor reads a header forward through a small window. It checks each length against the bytes that
// are left before it reads or allocates for it. It keeps the first failure; later reads return zeros.
// So a caller can read several fields before it checks err.
type cursor struct {
	ctx   context.Context
	file  string
	src   io.ReaderAt
	limit int64 // where the header must end at the latest: the file's size, or maxHeaderBytes if that is less
	pos   int64
	err   error

	window   []byte
	windowAt int64 // position of window[0]

	// For error messages: the list and the item that is being read.
	list    string
	index   int
	name    string // "" until known
	element int64  // index in an array of strings or bools; -1 elsewhere
}

func newCursor(ctx context.Context, file string, src io.ReaderAt, size int64) *cursor {
	limit := min(size, maxHeaderBytes)
	return &cursor{ctx: ctx, file: file, src: src, limit: limit, window: make([]byte, 0, min(limit, windowBytes)), index: -1, element: -1}
}

// enter starts item index of a list.
func (c *cursor) enter(list string, index int) { c.list, c.index, c.name = list, index, "" }

// fail records that the field at offset breaks a rule.
func (c *cursor) fail(field string, offset int64, got, allowed string) {
	if c.err != nil {
		return
	}
	where := field
	if c.index >= 0 {
		where = fmt.Sprintf("%s[%d]", c.list, c.index)
		if c.name != "" {
			where += " " + quote(c.name)
		}
		where += " " + field
	}
	if c.element >= 0 {
		where += fmt.Sprintf(" of element %d", c.element)
	}
	c.err = &MalformedError{File: c.file, Field: where, Offset: offset, Got: got, Allowed: allowed}
}

func (c *cursor) remaining() uint64 { return uint64(c.limit - c.pos) }

// room checks that at least n more bytes are left before the limit.
func (c *cursor) room(n uint64, field string, offset int64) bool {
	if c.err == nil && n > c.remaining() {
		c.fail(field, offset, fmt.Sprintf("%d bytes from byte %d on", n, c.pos), c.left(c.remaining(), "bytes"))
	}
	return c.err == nil
}

// left says that at most n more units are allowed, and why: because the file or the header ends there.
func (c *cursor) left(n uint64, unit string) string {
	if c.limit == maxHeaderBytes {
		return fmt.Sprintf("at most %d %s (a header has at most %d bytes)", n, unit, maxHeaderBytes)
	}
	return fmt.Sprintf("at most %d %s (the file has %d bytes)", n, unit, c.limit)
}

// take returns the next n bytes, n ≤ windowBytes, valid until the next call; nil after a failure.
func (c *cursor) take(n int, field string) []byte {
	if !c.room(uint64(n), field, c.pos) {
		return nil
	}
	from := c.pos - c.windowAt
	if from < 0 || from+int64(n) > int64(len(c.window)) {
		if !c.fill(n) {
			return nil
		}
		from = 0
	}
	c.pos += int64(n)
	return c.window[from : from+int64(n)]
}

// fill moves the window to pos. If the file has fewer than n bytes there, fill fails.
func (c *cursor) fill(n int) bool {
	if err := c.ctx.Err(); err != nil {
		c.err = fmt.Errorf("reading %q: %w", c.file, err)
		return false
	}
	want := min(int64(cap(c.window)), c.limit-c.pos)
	got, err := c.src.ReadAt(c.window[:want], c.pos)
	c.window, c.windowAt = c.window[:max(got, 0)], c.pos
	if got >= n {
		return true
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = ErrChanged
	}
	c.err = fmt.Errorf("reading %q at byte %d: got %d bytes, want %d: %w", c.file, c.pos, got, n, err)
	return false
}

// skip moves past n bytes without reading them.
func (c *cursor) skip(n uint64, field string) {
	if c.room(n, field, c.pos) {
		c.pos += int64(n)
	}
}

func (c *cursor) u32(field string) uint32 {
	if b := c.take(4, field); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u64(field string) uint64 {
	if b := c.take(8, field); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// count reads the length of a list whose items take at least minBytes each.
func (c *cursor) count(field string, minBytes, most uint64) uint64 {
	at := c.pos
	n := c.u64(field)
	if c.err != nil {
		return 0
	}
	if fits := c.remaining() / minBytes; n > fits && fits < most {
		c.fail(field, at, fmt.Sprint(n), c.left(fits, fmt.Sprintf("of %d bytes or more each", minBytes)))
		return 0
	}
	if n > most {
		c.fail(field, at, fmt.Sprint(n), fmt.Sprintf("at most %d", most))
		return 0
	}
	return n
}

// identifier reads a string of 1 to most bytes, most ≤ windowBytes.
func (c *cursor) identifier(field string, most uint64) string {
	at := c.pos
	n := c.u64(field + " length")
	if c.err == nil && (n == 0 || n > most) {
		c.fail(field+" length", at, fmt.Sprint(n), fmt.Sprintf("1 to %d bytes", most))
	}
	if !c.room(n, field+" length", at) {
		return ""
	}
	return string(c.take(int(n), field))
}

// skipString moves past a string of any length.
func (c *cursor) skipString(field string) {
	at := c.pos
	if n := c.u64(field); c.room(n, field, at) {
		c.pos += int64(n)
	}
}
