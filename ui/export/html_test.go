package export_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"specula/engine/event"
	"specula/ui/export"
)

// written is JavaScript that returns the text of the reply as the page shows it, without draft tokens
// that are rejected, discarded or pending.
const written = `[...document.querySelectorAll("#text span")].filter(s => !s.hidden && !/rejected|discarded|pending/.test(s.className)).map(s => s.textContent).join("")`

func TestPageInABrowser(t *testing.T) {
	records := recorded()
	var rounds []event.Round
	var ended event.ReplyEnded
	for _, r := range records {
		switch e := r.Event.(type) {
		case event.Round:
			rounds = append(rounds, e)
		case event.ReplyEnded:
			ended = e
		}
	}
	path := inFile(t, "page.html", write(t, "html", export.ChatOf(records)))
	b := browse(t, path, 1400, 900, "dark")
	if got := get[string](b, written); got != ended.Text {
		t.Errorf("the page shows %q, want %q", got, ended.Text)
	}
	b.picture("html-1400-dark")

	// Every position of the scrubber shows the text up to its round.
	steps := get[[]struct{ Text, Where string }](b, `[...Array(+document.getElementById("seek").max + 1).keys()].map(i => {
		const seek = document.getElementById("seek"); seek.value = i; seek.dispatchEvent(new Event("input"));
		return {text: `+written+`, where: seek.getAttribute("aria-valuetext")}})`)
	text, at := "", 1
	for _, r := range rounds {
		if len(r.Draft) > 0 {
			for _, phase := range []string{"drafted", "verified"} {
				want := fmt.Sprintf("round %d of %d, %s", r.Index+1, len(rounds), phase)
				kept := text
				if phase == "verified" {
					for _, token := range r.Draft[:r.Accepted] {
						kept += token.Text
					}
				}
				if steps[at].Where != want || steps[at].Text != kept {
					t.Fatalf("step %d is %+v, want %q in %s", at, steps[at], kept, want)
				}
				at++
			}
		}
		for _, token := range r.Committed() {
			text += token.Text
		}
		if steps[at].Text != text || !strings.HasSuffix(steps[at].Where, "written") {
			t.Fatalf("step %d is %+v, want %q", at, steps[at], text)
		}
		at++
	}
	if at != len(steps) || steps[0].Text != "" {
		t.Errorf("%d steps, want %d", len(steps), at)
	}

	// The keys: back and forward, and play to the end. The mouse: the numbers of a token.
	position := `+document.getElementById("seek").value`
	last := len(steps) - 1
	b.do(run(`document.activeElement.blur()`), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowRight))
	if got := get[int](b, position); got != last-1 {
		t.Errorf("after two steps back and one forward the position is %d, want %d", got, last-1)
	}
	b.do(chromedp.SetValue("#speed", "20"), run(`document.activeElement.blur()`), chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(" "),
		until(position+` > 3`), chromedp.KeyEvent(" "))
	if got := get[int](b, position); got <= 3 || got >= last {
		t.Errorf("paused at %d", got)
	}
	b.do(chromedp.KeyEvent(" "), until(position+fmt.Sprintf(` === %d && document.getElementById("play").textContent === "Play"`, last)))
	refused := get[int](b, `+document.querySelector("#text span.rejected").dataset.token`)
	box := get[struct{ X, Y float64 }](b, `(r => ({X: r.x, Y: r.y}))(document.querySelector("#text span.rejected").getClientRects()[0])`)
	x, y := box.X+4, box.Y+4
	b.do(chromedp.MouseEvent("mouseMoved", x, y))
	detail := `document.getElementById("detail").innerText`
	if got := get[string](b, detail); !strings.Contains(got, "refused") || !strings.Contains(got, "left p − q") {
		t.Errorf("over token %d stands %q", refused, got)
	}
	b.picture("html-1400-refused")
	b.do(chromedp.MouseClickXY(x, y), chromedp.KeyEvent(kb.ArrowRight))
	if said := get[string](b, `document.getElementById("said").textContent`); !strings.Contains(said, "drawn by the target in place of the refused token") {
		t.Errorf("a screen reader hears %q after the refused token", said)
	}
	named(b)
	b.mustBeQuiet()
}

// named checks that everything that can be used has a name for a screen reader.
func named(b *tab) {
	b.t.Helper()
	sliders := 0
	for _, n := range call(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		if n.Ignored || n.Role == nil {
			continue
		}
		switch role := string(n.Role.Value); role {
		case `"slider"`:
			sliders++
			fallthrough
		case `"button"`, `"combobox"`, `"image"`:
			if n.Name == nil || string(n.Name.Value) == `""` {
				b.t.Errorf("a %s has no name", role)
			}
		}
	}
	if sliders != 1 {
		b.t.Errorf("%d sliders", sliders)
	}
}

func TestPageFitsEveryWindow(t *testing.T) {
	path := inFile(t, "page.html", write(t, "html", export.ChatOf(recorded())))
	seen := map[string]bool{}
	for _, scheme := range []string{"light", "dark"} {
		for _, w := range []int64{360, 1400} {
			b := browse(t, path, w, 800, scheme)
			if got := get[int](b, `document.documentElement.scrollWidth`); got > int(w) {
				t.Errorf("at %d pixels the page is %d wide", w, got)
			}
			seen[get[string](b, `getComputedStyle(document.body).backgroundColor`)] = true
			b.picture(fmt.Sprintf("html-%d-%s", w, scheme))
			b.mustBeQuiet()
		}
	}
	if len(seen) != 2 {
		t.Errorf("backgrounds %v, want one for light and one for dark", seen)
	}
}

func TestHostileTokensAreText(t *testing.T) {
	b := browse(t, inFile(t, "page.html", write(t, "html", hostile())), 800, 600, "light")
	got := get[string](b, written)
	for _, want := range []string{"<script>alert(1)</script>", `"onmouseover="x`, "]]>"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page shows %q, without %q", got, want)
		}
	}
	if strings.ContainsAny(got, "\x1b\x07\u202e\u2066") {
		t.Errorf("the page shows %q", got)
	}
	if n := get[int](b, `document.scripts.length`); n != 2 {
		t.Errorf("%d scripts", n)
	}
	if n := get[int](b, `document.querySelectorAll("[onmouseover]").length`); n != 0 {
		t.Errorf("%d handlers", n)
	}
	// Even a script that got in would not run, and could ask for nothing.
	b.do(run(`{const s = document.createElement("script"); s.textContent = "window.ran = 1"; document.body.append(s);
		const i = new Image(); i.onerror = () => window.refused = 1; i.src = "http://127.0.0.1:9/x.png"}`), until(`window.refused === 1`))
	if get[bool](b, `window.ran === 1`) {
		t.Error("a script ran that is not the page's own")
	}
}

// The page is about whole replies, so it does not show the speed-up that the last round tells of the newest rounds.
func TestPageHasTheSpeedUpOfTheReply(t *testing.T) {
	records := recorded()
	for i, r := range records {
		if ended, ok := r.Event.(event.ReplyEnded); ok {
			ended.Totals.Speedup, ended.Totals.SpeedupEstimated = 1.125, true
			records[i].Event = ended
		}
	}
	if page := write(t, "html", export.ChatOf(records)); !strings.Contains(page, `"speedup":1.125,"estimated":true`) {
		t.Error("the page does not have the speed-up of the totals")
	}
}
