//go:build linux || darwin

package ui

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	uv "github.com/charmbracelet/ultraviolet"

	"specula/ui/chats"
)

// TestAWholeChatInATerminal does what a visitor does: asks, watches tokens being accepted and rejected,
// changes γ and the temperature during the reply, inspects a token, stops, and quits.
func TestAWholeChatInATerminal(t *testing.T) {
	visit(t, startTerminal(t, 120, 36, dark120), "temperature 0.80")
}

// TestTheWholeProgramInATerminal is the same visit to the whole program, with the embedded pair.
func TestTheWholeProgramInATerminal(t *testing.T) {
	t.Parallel()
	// A high temperature makes the reply long and the target reject many tokens. The seed makes it the
	// same every time.
	cmd := exec.Command(program(t), "--theme", "dark", "--pace", "slow", "--rounds-per-second", "6",
		"--temperature", "2", "--seed", "1", "--gamma-rule", "fixed", "--gamma", "4")
	visit(t, startProgram(t, 120, 36, cmd), "temperature 2.10")
}

// visit is the visit of TestAWholeChatInATerminal. warmer is the temperature on screen after it was
// raised once.
func visit(t *testing.T, x *terminal, warmer string) {
	t.Helper()
	const chatTop, chatW, chatH = 4, 71, 26 // below the head, left of the pictures, above the lane
	x.waitText("type a message")
	x.send("tell me a story about a dragon")
	x.waitText("tell me a story about a dragon")
	x.send("\r")

	x.wait("an accepted token in blue", func() bool {
		return x.cells(0, chatTop, chatW, chatH, func(c *uv.Cell) bool { return coloured(c, 0x56b4e9) && !struck(c) })
	})
	x.wait("a rejected token in vermilion, struck out", func() bool {
		return x.cells(0, chatTop, chatW, chatH, func(c *uv.Cell) bool { return coloured(c, 0xe8731a) && struck(c) })
	})
	x.wait("a resampled token, underlined", func() bool {
		return x.cells(0, chatTop, chatW, chatH, func(c *uv.Cell) bool {
			return coloured(c, 0xf0e442) && c.Style.Underline != uv.UnderlineNone
		})
	})
	graphs := func() string { return x.text(chatW+2, chatTop+1, x.w, 15) }
	var seen string
	x.wait("a column for a round", func() bool { seen = graphs(); return strings.Contains(seen, "█ ") })
	x.wait("the graphs to move", func() bool { return graphs() != seen })

	x.send(altUp)
	x.wait("γ fixed at 5", func() bool {
		return strings.Contains(x.text(0, x.h-3, x.w, x.h-2), "γ 5 fixed") // the rule above the prompt
	})
	x.send(altRght)
	x.wait(warmer, func() bool {
		return strings.Contains(x.text(0, x.h-3, x.w, x.h-2), warmer)
	})
	x.wait("the marks of both changes on the graphs", func() bool { return strings.Contains(graphs(), "▴") })

	x.send("\t")
	x.waitText("enter inspect")
	x.send(left + "\r")
	x.waitText("p/q")
	x.waitText("token  esc back") // the status line is drawn last, so the frame is complete
	x.send(esc)
	x.waitText("enter inspect")
	x.send(esc)
	x.waitText("esc stop")
	x.send(esc)
	x.waitText("stopped")
	x.waitText("tab tokens")

	x.send(ctrlC)
	x.waitText("ctrl+c again quits")
	x.send(ctrlC)
	if code := x.end(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// checkSaved fails unless the chat with its partial reply was saved.
func checkSaved(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("saved chats: %v (%v), want one", files, err)
	}
	c, err := chats.NewStore(dir).Open(strings.TrimSuffix(filepath.Base(files[0]), ".json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Turns) != 2 || c.Turns[0].Text != "hello" || !strings.HasPrefix(c.Turns[1].Text, "Speculative decoding") {
		t.Errorf("the saved chat is %+v", c.Turns)
	}
}
