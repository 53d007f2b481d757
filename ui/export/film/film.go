// Package film writes frames of the screen as files: recordings for players (asciicast), pictures
// that play in a document (animated SVG), and single pictures (SVG, PNG).
//
// Invariant: every cell of a frame is in the file, with its text, colours and attributes; in a PNG, a
// character that the font lacks is an empty box. The frames come from the screen's own drawing; no
// terminal takes part.
package film

import (
	"image/color"
	"iter"
	"time"
)

// Frame is what the screen shows from a time on.
type Frame struct {
	At     time.Duration // since the film began
	Screen string        // lines of exactly W cells with escape sequences for their style
	Mark   string        // the name of what begins here, such as "round 3"; or ""
}

// Film is a sequence of frames. A frame stays on the screen until the time of the next one. The film
// ends at the time of the last one.
type Film struct {
	Title  string // safe for a terminal
	W, H   int    // cells
	Light  bool   // the background is light
	Frames iter.Seq[Frame]
}

// Last returns the last frame.
func (f Film) Last() Frame {
	var last Frame
	for frame := range f.Frames {
		last = frame
	}
	return last
}

// colours are the colours of a terminal.
type colours struct {
	fore, back color.RGBA
	ansi       [16]color.RGBA
}

func rgb(c uint32) color.RGBA {
	return color.RGBA{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c), A: 255}
}

func (f Film) colours() colours {
	c := colours{fore: rgb(0xd0d3d9), back: rgb(0x16181c)}
	ansi := [16]uint32{0x16181c, 0xd55e00, 0x009e73, 0xe69f00, 0x0072b2, 0xcc79a7, 0x56b4e9, 0xd0d3d9, 0x767c86, 0xf07d33, 0x3fb89c, 0xf0e442, 0x56b4e9, 0xe0a0c4, 0x8fd0f4, 0xffffff}
	if f.Light {
		c = colours{fore: rgb(0x1d2026), back: rgb(0xffffff)}
		ansi[0], ansi[7], ansi[15] = 0x1d2026, 0xc9ced6, 0xffffff
	}
	for i, v := range ansi {
		c.ansi[i] = rgb(v)
	}
	return c
}
