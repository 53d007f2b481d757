package ui

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/vt"

	"specula/ui/stream"
)

// counter shows how many steps it has taken. Drawing lets the renderer come between.
type counter struct{ steps int }

type step struct{}

func (c *counter) Init() tea.Cmd { return nil }

func (c *counter) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(step); ok {
		c.steps++
	}
	return c, nil
}

func (c *counter) View() tea.View {
	for range c.steps % 7 {
		runtime.Gosched()
	}
	return tea.NewView(fmt.Sprintf("%04d steps", c.steps))
}

// glass is a terminal that a test looks at.
type glass struct {
	mu   sync.Mutex
	emu  *vt.Emulator
	mark bool // whether it was given a restMark
}

func (g *glass) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mark = g.mark || strings.Contains(string(p), restMark{}.String())
	return g.emu.Write(p)
}

func (g *glass) text() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.TrimSpace(g.emu.String())
}

// Messages come at the very moments at which the renderer ticks. When no more come, the newest view is on
// the terminal, and the ticker has stopped.
func TestARendererAtRestHasShownTheNewestView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shown := &glass{emu: vt.NewEmulator(40, 2)}
		o := Options{Output: shown, Environ: []string{"TERM=xterm-256color"}}
		p, _ := newProgram(&counter{}, o, tea.WithInput(nil), tea.WithWindowSize(40, 2))
		ended := make(chan error, 1)
		go func() { _, err := p.Run(); ended <- err }()
		defer p.Kill()
		steps := 0
		for range 300 {
			for range 1 + steps%3 {
				p.Send(step{})
				steps++
				time.Sleep(stream.FrameInterval / 2)
			}
			time.Sleep(time.Second)
			if want := fmt.Sprintf("%04d steps", steps); shown.text() != want {
				t.Fatalf("the terminal shows %q, want %q", shown.text(), want)
			}
			select {
			case <-rendererTicker(p).C:
				t.Fatalf("the renderer ticks after step %d, though nothing changes", steps)
			case <-time.After(time.Minute):
			}
		}
		p.Quit()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if shown.mark {
			t.Error("a mark was written to the terminal")
		}
	})
}
