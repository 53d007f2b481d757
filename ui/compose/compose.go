// Package compose is the place where a prompt is typed: a text area of several lines with readline's keys, a history, and a
// paste that never sends.
//
// What is pasted or typed is made safe before it enters the text area, so the prompt that is sent is the one that was seen:
// a right-to-left override from a web page stands there as ⟨U+202E⟩ and cannot turn the text around.
package compose

import (
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"specula/ui/sanitize"
)

// What a prompt holds at most. The context of a model is far below it.
const (
	charLimit = 100_000
	lineLimit = 10_000 // after wrapping; the text area counts a pasted line twice
	maxHeight = 8
)

// Composer is the prompt. It is not safe for concurrent use.
type Composer struct {
	area    textarea.Model
	history *History
	lines   int    // lines the text would like, up to maxHeight
	view    string // the last drawing, until something changes
	drawn   bool
}

// New returns an empty, focused composer.
func New(history *History, prompt string) *Composer {
	area := textarea.New()
	area.Prompt = ""
	area.SetPromptFunc(2, func(info textarea.PromptInfo) string {
		if info.LineNumber == 0 {
			return prompt + " "
		}
		return "  "
	})
	area.ShowLineNumbers = false
	area.DynamicHeight = true
	area.MaxHeight, area.MaxContentHeight, area.CharLimit = maxHeight, lineLimit, charLimit
	area.MaxWidth = 0
	area.SetVirtualCursor(false)
	area.SetStyles(plainStyles())
	area.KeyMap = keyMap()
	area.Focus()
	return &Composer{area: area, history: history, lines: 1}
}

// plainStyles leave the terminal's own colours alone, so that they fit every theme.
func plainStyles() textarea.Styles {
	plain := textarea.StyleState{
		Placeholder: lipgloss.NewStyle().Faint(true),
		Selection:   lipgloss.NewStyle().Reverse(true),
		Prompt:      lipgloss.NewStyle().Bold(true),
	}
	blurred := plain
	blurred.Text = lipgloss.NewStyle().Faint(true)
	return textarea.Styles{Focused: plain, Blurred: blurred, Cursor: textarea.CursorStyle{Shape: tea.CursorBar}}
}

// keyMap is readline's as far as the screen has no other use for a key. Reading the clipboard is left to the terminal's
// paste: the text area would start another program for it.
func keyMap() textarea.KeyMap {
	m := textarea.DefaultKeyMap()
	none := key.NewBinding(key.WithDisabled())
	m.Paste, m.CopySelection, m.TransposeCharacterBackward = none, none, none
	m.SelectAll, m.PageUp, m.PageDown = none, none, none
	m.InsertNewline = key.NewBinding(key.WithKeys("ctrl+j", "alt+enter", "shift+enter"))
	m.WordForward = key.NewBinding(key.WithKeys("ctrl+right", "alt+f"))
	m.WordBackward = key.NewBinding(key.WithKeys("ctrl+left", "alt+b"))
	return m
}

// Type hands a key on to the text area.
func (c *Composer) Type(msg tea.KeyPressMsg) tea.Cmd {
	msg.Text = sanitize.Text(msg.Text)
	var cmd tea.Cmd
	c.area, cmd = c.area.Update(msg)
	c.changed()
	return cmd
}

// Paste inserts text, newlines and all, and returns how many characters did not fit.
func (c *Composer) Paste(text string) (lost int) {
	text = sanitize.Text(text)
	before := c.area.Length()
	c.area, _ = c.area.Update(tea.PasteMsg{Content: text})
	c.changed()
	return max(0, utf8.RuneCountInString(text)-(c.area.Length()-before))
}

func (c *Composer) changed() {
	c.lines = c.area.Height()
	c.drawn = false
}

// Value is the prompt as it stands.
func (c *Composer) Value() string { return c.area.Value() }

// SetValue replaces the prompt and puts the cursor at its end.
func (c *Composer) SetValue(text string) {
	c.area.SetValue(sanitize.Text(text))
	c.area.MoveToEnd()
	c.area, _ = c.area.Update(nil) // lets the text area find its height
	c.changed()
}

// Take returns the prompt, empties the composer and adds the prompt to the history. The error is about the history's file
// alone; the prompt is returned in any case.
func (c *Composer) Take() (string, error) {
	text := c.Value()
	err := c.history.Add(text)
	c.SetValue("")
	return text, err
}

// Back shows the previous prompt if the cursor is on the first line. It reports whether the key was used up.
func (c *Composer) Back() bool {
	if c.area.Line() > 0 || c.area.LineInfo().RowOffset > 0 {
		return false
	}
	if text, ok := c.history.Back(c.Value()); ok {
		c.SetValue(text)
	}
	return true
}

// Forward shows the next prompt if the cursor is on the last line. It reports whether the key was used up.
func (c *Composer) Forward() bool {
	info := c.area.LineInfo()
	if c.area.Line() < c.area.LineCount()-1 || info.RowOffset < info.Height-1 {
		return false
	}
	if text, ok := c.history.Forward(); ok {
		c.SetValue(text)
	}
	return true
}

// SetFocus gives or takes the keyboard.
func (c *Composer) SetFocus(on bool) {
	if on {
		c.area.Focus()
	} else {
		c.area.Blur()
	}
	c.drawn = false
}

// SetPlaceholder sets what an empty composer says.
func (c *Composer) SetPlaceholder(text string) {
	if text != c.area.Placeholder {
		c.area.Placeholder = text
		c.drawn = false
	}
}

// Lines is how many lines the prompt would like to have, 1 to 8.
func (c *Composer) Lines() int { return c.lines }

// SetWidth wraps the prompt anew; Lines may change.
func (c *Composer) SetWidth(w int) {
	c.area.SetWidth(w)
	c.changed()
}

// SetHeight gives the composer the rows it is drawn in.
func (c *Composer) SetHeight(h int) {
	if h != c.area.Height() {
		c.area.SetHeight(h)
		c.drawn = false
	}
}

// View draws the composer. Its lines may be shorter than its width.
func (c *Composer) View() []string {
	if !c.drawn {
		c.view, c.drawn = c.area.View(), true
	}
	return strings.Split(c.view, "\n")
}

// Cursor is where the terminal's cursor stands, relative to the composer; nil when the keyboard is elsewhere.
func (c *Composer) Cursor() *tea.Cursor { return c.area.Cursor() }
