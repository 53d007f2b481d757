// Package compose is the prompt: a text area of several lines with readline's keys and a history.
// Pasting never sends the prompt.
//
// Typed or pasted text is made safe before it enters the text area. So the prompt that is sent is the
// one that the user sees: a right-to-left override from a web page appears as ⟨U+202E⟩ and cannot
// reverse the text.
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

// The limits of a prompt, and of the rows in which it is drawn.
const (
	charLimit = 100_000 // characters
	lineLimit = 10_000  // lines after wrapping; one less for a paste, whose first line the text area counts twice
	maxHeight = 8       // rows of the screen; a longer prompt scrolls
)

// Composer is the prompt. It is not safe for concurrent use.
type Composer struct {
	area    textarea.Model
	history *History
	lines   int    // lines that the text needs, up to maxHeight
	view    string // the last drawing; valid if drawn is set
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

// plainStyles returns styles without colours, which fit every theme.
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

// keyMap returns readline's keys, without those that the screen uses. Pasting is left to the terminal:
// the text area would start another program to read the clipboard.
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

// Type gives a key to the text area.
func (c *Composer) Type(msg tea.KeyPressMsg) tea.Cmd {
	msg.Text = sanitize.Text(msg.Text)
	var cmd tea.Cmd
	c.area, cmd = c.area.Update(msg)
	c.changed()
	return cmd
}

// Paste inserts text with its newlines, and returns the number of characters that did not fit.
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

// Value returns the prompt.
func (c *Composer) Value() string { return c.area.Value() }

// SetValue replaces the prompt and puts the cursor at its end.
func (c *Composer) SetValue(text string) {
	c.area.SetValue(sanitize.Text(text))
	c.area.MoveToEnd()
	c.area, _ = c.area.Update(nil) // makes the text area compute its height
	c.changed()
}

// Take returns the prompt, empties the composer and adds the prompt to the history. An error is about
// the history's file only; the prompt is returned in any case.
func (c *Composer) Take() (string, error) {
	text := c.Value()
	err := c.history.Add(text)
	c.SetValue("")
	return text, err
}

// Back shows the previous prompt of the history, if there is one, and returns true. If the cursor
// is not on the first line, it returns false, and the key should move the cursor.
func (c *Composer) Back() bool {
	if c.area.Line() > 0 || c.area.LineInfo().RowOffset > 0 {
		return false
	}
	if text, ok := c.history.Back(c.Value()); ok {
		c.SetValue(text)
	}
	return true
}

// Forward shows the next prompt of the history, if there is one, and returns true. If the cursor is
// not on the last line, it returns false, and the key should move the cursor.
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

// SetFocus gives the keyboard to the composer, or takes it away.
func (c *Composer) SetFocus(on bool) {
	if on {
		c.area.Focus()
	} else {
		c.area.Blur()
	}
	c.drawn = false
}

// SetPlaceholder sets the text of an empty composer.
func (c *Composer) SetPlaceholder(text string) {
	if text != c.area.Placeholder {
		c.area.Placeholder = text
		c.drawn = false
	}
}

// Lines returns the number of lines that the prompt needs, 1 to 8.
func (c *Composer) Lines() int { return c.lines }

// SetWidth wraps the prompt to w cells. Lines may change.
func (c *Composer) SetWidth(w int) {
	c.area.SetWidth(w)
	c.changed()
}

// SetHeight sets the number of rows in which the composer is drawn.
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

// Cursor returns the position of the terminal's cursor relative to the composer; nil if the composer
// does not have the keyboard.
func (c *Composer) Cursor() *tea.Cursor { return c.area.Cursor() }
