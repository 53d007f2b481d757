package layout_test

import (
	"fmt"
	"strings"
	"testing"

	"specula/ui/layout"
)

// draw paints each rectangle with a letter, one sample for every sx×sy cells.
func draw(r layout.Rects, sx, sy int) string {
	var out strings.Builder
	for y := sy / 2; y < r.H; y += sy {
		for x := sx / 2; x < r.W; x += sx {
			out.WriteByte(paneAt(r, x, y))
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func paneAt(r layout.Rects, x, y int) byte {
	found := byte(' ')
	for _, p := range panes(r) {
		if p.at.Contains(x, y) {
			if found != ' ' {
				return '!' // two panes overlap
			}
			found = p.name
		}
	}
	return found
}

type named struct {
	name byte
	at   layout.Rect
}

func panes(r layout.Rects) []named {
	list := []named{
		{'h', r.Head}, {'c', r.Chat}, {'l', r.Lane}, {'p', r.Picture}, {'~', r.Settings}, {'w', r.Composer}, {'=', r.Status}, {'s', r.Side}, {'i', r.Inspector}, {'|', r.Vertical},
	}
	for _, h := range r.Horizontal {
		list = append(list, named{'-', h})
	}
	return list
}

func TestArrange(t *testing.T) {
	cases := []struct {
		name   string
		w, h   int
		o      layout.Options
		sx, sy int
		want   string
	}{
		{"least window", 40, 10, layout.Options{}, 5, 1, `
hhhhhhhh
cccccccc
cccccccc
cccccccc
cccccccc
cccccccc
cccccccc
~~~~~~~~
wwwwwwww
========
`},
		{"small window with a long draft in the composer", 80, 24, layout.Options{ComposerLines: 3}, 10, 1, `
hhhhhhhh
hhhhhhhh
cccccccc
cccccccc
cccccccc
cccccccc
cccccccc
cccccccc
cccccccc
pppppppp
pppppppp
pppppppp
pppppppp
pppppppp
llllllll
llllllll
llllllll
llllllll
llllllll
~~~~~~~~
wwwwwwww
wwwwwwww
wwwwwwww
========
`},
		{"side column", 120, 36, layout.Options{}, 5, 3, `
hhhhhhhhhhhhhhhhhhhhhhhh
ccccccccccccccssssssssss
ccccccccccccccssssssssss
ccccccccccccccssssssssss
ccccccccccccccssssssssss
ccccccccccccccssssssssss
ccccccccccccccssssssssss
ccccccccccccccssssssssss
llllllllllllllllllllllll
llllllllllllllllllllllll
llllllllllllllllllllllll
wwwwwwwwwwwwwwwwwwwwwwww
`},
		{"side column not wanted", 120, 36, layout.Options{NoSide: true}, 10, 3, `
hhhhhhhhhhhh
cccccccccccc
cccccccccccc
cccccccccccc
cccccccccccc
cccccccccccc
pppppppppppp
pppppppppppp
llllllllllll
llllllllllll
llllllllllll
wwwwwwwwwwww
`},
		{"inspector under the figures", 200, 50, layout.Options{Inspector: true}, 10, 5, `
hhhhhhhhhhhhhhhhhhhh
ccccccccc|ssssssssss
ccccccccc|ssssssssss
ccccccccc|ssssssssss
ccccccccc|ssssssssss
ccccccccc|iiiiiiiiii
ccccccccc|iiiiiiiiii
lllllllll|iiiiiiiiii
lllllllll|iiiiiiiiii
~~~~~~~~~~~~~~~~~~~~
`},
		{"inspector under the chat", 80, 24, layout.Options{Inspector: true}, 10, 2, `
hhhhhhhh
cccccccc
cccccccc
--------
iiiiiiii
iiiiiiii
iiiiiiii
iiiiiiii
llllllll
llllllll
~~~~~~~~
========
`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := draw(layout.Arrange(c.w, c.h, c.o), c.sx, c.sy)
			if want := strings.TrimPrefix(c.want, "\n"); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// In every window the panes and rules cover each cell exactly once.
func TestPanesFillTheWindow(t *testing.T) {
	for w := 40; w <= 300; w += 13 {
		for h := 10; h <= 80; h++ {
			for _, o := range []layout.Options{{}, {Inspector: true}, {ComposerLines: 99}, {NoSide: true, Inspector: true, ComposerLines: 4}, {Empty: true}} {
				r := layout.Arrange(w, h, o)
				covered := 0
				for _, p := range panes(r) {
					if p.at.X < 0 || p.at.Y < 0 || p.at.X+p.at.W > w || p.at.Y+p.at.H > h {
						t.Fatalf("%dx%d %+v: %c is outside: %+v", w, h, o, p.name, p.at)
					}
					if !p.at.Empty() {
						covered += p.at.W * p.at.H
					}
				}
				if covered != w*h {
					t.Fatalf("%dx%d %+v: %d cells are covered, want %d", w, h, o, covered, w*h)
				}
				if r.Chat.H < 1 || r.Composer.H < 1 {
					t.Errorf("%dx%d %+v: chat %+v, composer %+v", w, h, o, r.Chat, r.Composer)
				}
			}
		}
	}
}

func TestTooSmall(t *testing.T) {
	for _, size := range [][2]int{{39, 10}, {40, 9}, {1, 1}, {0, 0}, {-1, -1}} {
		if r := layout.Arrange(size[0], size[1], layout.Options{}); !r.TooSmall || !r.Chat.Empty() {
			t.Errorf("%v: %+v", size, r)
		}
	}
}

func ExampleArrange() {
	r := layout.Arrange(80, 24, layout.Options{})
	fmt.Println("chat", r.Chat, "lane", r.Lane, "side", r.Side.Empty())
	// Output: chat {0 2 80 9} lane {0 16 80 5} side true
}
