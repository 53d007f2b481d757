package export_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/chromedp/chromedp"

	"specula/engine/config"
	"specula/engine/trace"
	"specula/ui"
	"specula/ui/export"
	"specula/ui/export/film"
)

// pictures returns a recording in a size and theme, and what a format makes of it.
func pictures(t *testing.T, records []trace.Record, format, theme string, w, h int) (film.Film, string) {
	t.Helper()
	c := config.Default()
	c.UI.Pace, c.UI.Theme = "slow", theme
	f, err := export.Named(format)
	if err != nil {
		t.Fatal(err)
	}
	var sb strings.Builder
	moving := ui.Film(records, c, w, h)
	if err := f.Write(&sb, export.Source{Film: moving, Picture: moving}); err != nil {
		t.Fatal(err)
	}
	return moving, sb.String()
}

// texts returns the lines of a frame, with spaces for the characters that are painted as shapes.
func texts(f film.Frame) []string {
	shapes := func(r rune) rune {
		if r >= 0x2580 && r <= 0x259f || r >= 0x2800 && r <= 0x28ff || strings.ContainsRune("─│┌┐└┘├┤┬┴┼", r) {
			return ' '
		}
		return r
	}
	var out []string
	for line := range strings.SplitSeq(strings.Map(shapes, ansi.Strip(f.Screen)), "\n") {
		out = append(out, strings.TrimRight(line, " "))
	}
	return out
}

// At every time a browser shows the texts of the frame, each in its cell.
func TestAnimationInABrowser(t *testing.T) {
	const w, h = 100, 30
	moving, svg := pictures(t, recorded(), "film.svg", "dark", w, h)
	b := browse(t, inFile(t, "film.svg", svg), 924, 564, "dark")
	var frames []film.Frame
	for f := range moving.Frames {
		if n := len(frames); n > 0 && frames[n-1].At == f.At {
			frames = frames[:n-1]
		}
		frames = append(frames, f)
	}
	for i := 0; i < len(frames)-1; i += 7 {
		at := (frames[i].At + frames[i+1].At) / 2
		got := get[[]struct {
			X, Y float64
			Text string
		}](b, fmt.Sprintf(`(document.getAnimations().forEach(a => { a.pause(); a.currentTime = %g }),
			[...document.querySelectorAll("text")].filter(e => getComputedStyle(e).visibility === "visible").map(e => ({x: +e.getAttribute("x"), y: +e.getAttribute("y"), text: e.textContent})))`,
			float64(at)/float64(time.Millisecond)))
		rows := make([][]rune, h)
		for y := range rows {
			rows[y] = []rune(strings.Repeat(" ", w))
		}
		for _, e := range got {
			copy(rows[(int(e.Y)-12)/18][(int(e.X)-12)/9:], []rune(e.Text))
		}
		for y, want := range texts(frames[i]) {
			if line := strings.TrimRight(string(rows[y]), " "); line != want {
				t.Fatalf("at %v row %d shows %q, want %q", at, y, line, want)
			}
		}
		if i == 21 {
			b.picture("film-svg-at-21")
		}
	}
	// Each word is as wide as its cells, whatever the font is.
	if n := get[int](b, `[...document.querySelectorAll("text[textLength]")].filter(e => Math.abs(e.getComputedTextLength() - +e.getAttribute("textLength")) > 0.5).length`); n > 0 {
		t.Errorf("%d words are not as wide as their cells", n)
	}
	b.mustBeQuiet()
}

// Chromium, librsvg and our own painter of pixels paint the same picture.
func TestPicturesAreTheSameInEveryRenderer(t *testing.T) {
	convert, err := exec.LookPath("rsvg-convert")
	if err != nil {
		t.Skip("SKIPPED: there is no rsvg-convert (apt-get install librsvg2-bin)")
	}
	for _, size := range [][2]int{{80, 24}, {120, 36}, {200, 50}} {
		for _, theme := range []string{"dark", "light"} {
			name := fmt.Sprintf("%dx%d-%s", size[0], size[1], theme)
			_, svg := pictures(t, recorded(), "svg", theme, size[0], size[1])
			_, ours := pictures(t, recorded(), "png", theme, size[0], size[1])
			b := browse(t, inFile(t, "x.svg", svg), int64(size[0]*9+24), int64(size[1]*18+24), theme)
			shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
			if err != nil {
				t.Fatal(err)
			}
			b.picture("svg-" + name)
			rsvg, err := exec.Command(convert, inFile(t, "x.svg", svg)).Output()
			if err != nil {
				t.Fatalf("rsvg-convert: %v", err)
			}
			chromium := decode(t, shot)
			for renderer, other := range map[string]image.Image{"librsvg": decode(t, rsvg), "ours": half(decode(t, []byte(ours)))} {
				if chromium.Bounds() != other.Bounds() {
					t.Errorf("%s: %v in Chromium, %v in %s", name, chromium.Bounds(), other.Bounds(), renderer)
					continue
				}
				if d := worstCell(chromium, other); d > 20 {
					t.Errorf("%s: Chromium and %s differ by %.0f of 255 in a cell", name, renderer, d)
				}
			}
		}
	}
}

func decode(t *testing.T, data []byte) image.Image {
	t.Helper()
	i, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// half returns a picture of half the width and height.
func half(in image.Image) image.Image {
	out := image.NewRGBA(image.Rect(0, 0, in.Bounds().Dx()/2, in.Bounds().Dy()/2))
	for y := range out.Bounds().Dy() {
		for x := range out.Bounds().Dx() {
			var sum [3]uint32
			for i := range 4 {
				r, g, b, _ := in.At(2*x+i%2, 2*y+i/2).RGBA()
				sum[0], sum[1], sum[2] = sum[0]+r/4, sum[1]+g/4, sum[2]+b/4
			}
			out.SetRGBA(x, y, color.RGBA{R: uint8(sum[0] >> 8), G: uint8(sum[1] >> 8), B: uint8(sum[2] >> 8), A: 255})
		}
	}
	return out
}

// worstCell returns the greatest difference of the mean colours of a cell, from 0 to 255.
func worstCell(a, b image.Image) float64 {
	worst := 0.0
	for top := 12; top+18 <= a.Bounds().Dy()-12; top += 18 {
		for left := 12; left+9 <= a.Bounds().Dx()-12; left += 9 {
			var diff [3]float64
			for y := top; y < top+18; y++ {
				for x := left; x < left+9; x++ {
					r, g, bl, _ := a.At(x, y).RGBA()
					r2, g2, bl2, _ := b.At(x, y).RGBA()
					diff[0] += float64(r>>8) - float64(r2>>8)
					diff[1] += float64(g>>8) - float64(g2>>8)
					diff[2] += float64(bl>>8) - float64(bl2>>8)
				}
			}
			for _, d := range diff {
				worst = max(worst, math.Abs(d)/(9*18))
			}
		}
	}
	return worst
}

func TestHostileTextIsTextInAPicture(t *testing.T) {
	for _, format := range []string{"svg", "film.svg"} {
		_, svg := pictures(t, hostileRecords(), format, "dark", 80, 24)
		b := browse(t, inFile(t, "x.svg", svg), 744, 456, "dark")
		if n := get[int](b, `document.querySelectorAll("script, [onmouseover]").length`); n != 0 {
			t.Errorf("%s: %d scripts", format, n)
		}
		if got := get[string](b, `[...document.querySelectorAll("text")].map(e => e.textContent).join(" ")`); !strings.Contains(got, "<script>alert(1)</script>") {
			t.Errorf("%s shows %q", format, got)
		}
		b.mustBeQuiet()
	}
}
