package compose_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"specula/ui/compose"
)

func Example() {
	c := compose.New(&compose.History{}, ">")
	c.SetWidth(40)
	c.Paste("two\nlines") // a pasted newline never sends
	fmt.Println(c.Lines())
	text, err := c.Take()
	fmt.Printf("%q %v\n", text, err)
	// Output:
	// 2
	// "two\nlines" <nil>
}

// press types a line in which ⟨name⟩ is a key.
func press(c *compose.Composer, script string) {
	for script != "" {
		if name, rest, ok := strings.Cut(strings.TrimPrefix(script, "⟨"), "⟩"); ok && strings.HasPrefix(script, "⟨") {
			c.Type(named[name])
			script = rest
			continue
		}
		r := []rune(script)[0]
		c.Type(tea.KeyPressMsg{Code: r, Text: string(r)})
		script = script[len(string(r)):]
	}
}

var named = map[string]tea.KeyPressMsg{
	"ctrl+j":      {Code: 'j', Mod: tea.ModCtrl},
	"alt+enter":   {Code: tea.KeyEnter, Mod: tea.ModAlt},
	"shift+enter": {Code: tea.KeyEnter, Mod: tea.ModShift},
	"ctrl+a":      {Code: 'a', Mod: tea.ModCtrl},
	"ctrl+e":      {Code: 'e', Mod: tea.ModCtrl},
	"ctrl+w":      {Code: 'w', Mod: tea.ModCtrl},
	"ctrl+u":      {Code: 'u', Mod: tea.ModCtrl},
	"ctrl+k":      {Code: 'k', Mod: tea.ModCtrl},
	"alt+b":       {Code: 'b', Mod: tea.ModAlt},
	"alt+d":       {Code: 'd', Mod: tea.ModAlt},
	"left":        {Code: tea.KeyLeft},
}

func TestReadlineKeys(t *testing.T) {
	tests := []struct{ script, want string }{
		{"ab⟨ctrl+a⟩x", "xab"},
		{"ab⟨ctrl+a⟩⟨ctrl+e⟩x", "abx"},
		{"one two⟨ctrl+w⟩x", "one x"},
		{"one⟨ctrl+u⟩x", "x"},
		{"one⟨ctrl+a⟩⟨ctrl+k⟩x", "x"},
		{"one two⟨alt+b⟩x", "one xtwo"},
		{"one two⟨alt+b⟩⟨alt+d⟩x", "one x"},
		{"a⟨ctrl+j⟩b⟨alt+enter⟩c⟨shift+enter⟩d", "a\nb\nc\nd"},
	}
	for _, tt := range tests {
		t.Run(tt.script, func(t *testing.T) {
			c := compose.New(&compose.History{}, ">")
			c.SetWidth(40)
			press(c, tt.script)
			if c.Value() != tt.want {
				t.Errorf("got %q, want %q", c.Value(), tt.want)
			}
		})
	}
}

func TestPastedTextIsMadeSafeAndBounded(t *testing.T) {
	c := compose.New(&compose.History{}, ">")
	c.SetWidth(40)
	c.Paste("a\x1b[31mb\x1b]52;c;AA==\x07c\u202ed")
	if got, want := c.Value(), "abc⟨U+202E⟩d"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c.SetValue("")
	lost := c.Paste(strings.Repeat("x", 300_000))
	if n := len(c.Value()); n != 100_000 || lost != 200_000 {
		t.Errorf("a paste of 300,000 characters left %d and reported %d as lost", n, lost)
	}
}

func TestItGrowsToEightLinesAndScrolls(t *testing.T) {
	c := compose.New(&compose.History{}, ">")
	c.SetWidth(20)
	for i := range 12 {
		c.SetHeight(c.Lines())
		press(c, fmt.Sprintf("line %d⟨ctrl+j⟩", i))
	}
	press(c, "end")
	if c.Lines() != 8 || len(c.View()) != 8 || !strings.Contains(ansi.Strip(c.View()[7]), "end") {
		t.Errorf("%d lines wanted, drawn:\n%s", c.Lines(), strings.Join(c.View(), "\n"))
	}
	if cur := c.Cursor(); cur == nil || cur.Y != 7 || cur.X != 5 {
		t.Errorf("the cursor is at %+v, want column 5 of the last row", cur)
	}
}

func TestHistoryAtTheEdges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "history.jsonl")
	h, err := compose.OpenHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	c := compose.New(h, ">")
	c.SetWidth(40)
	for _, text := range []string{"first", "first", "se\ncond"} {
		c.SetValue(text)
		if _, err := c.Take(); err != nil {
			t.Fatal(err)
		}
	}
	press(c, "draft")
	steps := []struct {
		move func() bool
		used bool
		want string
	}{
		{c.Back, true, "se\ncond"},
		{c.Back, false, "se\ncond"}, // on the last line of two: the key moves the cursor
		{func() bool { c.Type(tea.KeyPressMsg{Code: tea.KeyUp}); return c.Back() }, true, "first"},
		{c.Back, true, "first"}, // the oldest; the same prompt twice is kept once
		{c.Forward, true, "se\ncond"},
		{c.Forward, true, "draft"},
		{c.Forward, true, "draft"},
	}
	for i, s := range steps {
		if used := s.move(); used != s.used || c.Value() != s.want {
			t.Fatalf("step %d: used %v, shows %q; want %v, %q", i, used, c.Value(), s.used, s.want)
		}
	}
	again, err := compose.OpenHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := again.Back(""); text != "se\ncond" {
		t.Errorf("the file's newest entry is %q", text)
	}
}

func TestHistoryFileIsBoundedAndForgiving(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	var lines strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&lines, "%q\nnot json\n", fmt.Sprint("prompt ", i))
	}
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := compose.OpenHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := h.Back(""); text != "prompt 1499" {
		t.Errorf("newest is %q", text)
	}
	data, err := os.ReadFile(path)
	if n := strings.Count(string(data), "\n"); err != nil || n != 500 {
		t.Errorf("the file has %d lines (%v), want 500", n, err)
	}
	if h, err := compose.OpenHistory(t.TempDir()); err == nil || h.Add("x") != nil {
		t.Error("a directory in place of the file must be an error, and the history must go on in memory")
	}
}

func BenchmarkTypingIntoALongPrompt(b *testing.B) {
	c := compose.New(&compose.History{}, ">")
	c.SetWidth(80)
	c.Paste(strings.Repeat("some words of a long pasted text\n", 1000))
	for b.Loop() {
		press(c, "x")
		c.View()
	}
}

func TestALineOfAnyLengthIsPassedOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	long := strings.Repeat("x", 128<<10)
	for _, end := range []string{"", "\n", "\n\"newest\"\n", "\n\"newest\""} {
		if err := os.WriteFile(path, []byte("\"older\"\n\""+long+"\""+end), 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := compose.OpenHistory(path)
		if err != nil {
			t.Fatal(err)
		}
		want := "older"
		if strings.Contains(end, "newest") {
			want = "newest"
		}
		if text, _ := h.Back(""); text != want {
			t.Errorf("with %q after a long line the newest entry is %q, want %q", end, text, want)
		}
	}
}

// A killed program may leave a line without a newline. The next prompt must not become part of that
// line.
func TestAPromptAfterACutLineIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	if err := os.WriteFile(path, []byte("\"older\"\n\"half"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, prompt := range []string{"next", "after"} {
		h, err := compose.OpenHistory(path)
		if err != nil || h.Add(prompt) != nil {
			t.Fatal(err)
		}
	}
	h, err := compose.OpenHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"after", "next", "older"} {
		if got, _ := h.Back(""); got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}

// Shortening the history writes to a new file with a random name, so that it cannot follow a link that
// someone else has placed.
func TestShorteningTheHistoryFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	path, victim := filepath.Join(dir, "history.jsonl"), filepath.Join(dir, "victim")
	lines := strings.Repeat("\"x\"\n\"y\"\n", 1000)
	for name, text := range map[string]string{path: lines, victim: "precious"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(victim, path+".new"); err != nil {
		t.Fatal(err)
	}
	if _, err := compose.OpenHistory(path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(victim)
	if err != nil || string(data) != "precious" {
		t.Errorf("the file that a link named has %q (%v)", data, err)
	}
	if data, err := os.ReadFile(path); err != nil || strings.Count(string(data), "\n") != 500 {
		t.Errorf("the history has %d lines (%v)", strings.Count(string(data), "\n"), err)
	}
}
