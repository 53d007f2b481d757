package dialog

import (
	"fmt"
	"io"
	"strings"

	"charm.land/bubbles/v2/list"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"specula/ui/chats"
	"specula/ui/paint"
	"specula/ui/sanitize"
	"specula/ui/theme"
)

// Chosen is sent when the user has chosen a saved chat.
type Chosen struct{ ID string }

// Chats is the list of saved chats. Text typed after the key / filters it.
type Chats struct {
	list   list.Model
	broken int
	th     *theme.Theme
}

type item struct{ id, title, when, model string }

func (i item) FilterValue() string { return i.title + " " + i.when }

// NewChats returns the list of saved chats. broken is the number of files that could not be read.
func NewChats(saved []chats.Chat, broken int, th *theme.Theme) *Chats {
	items := make([]list.Item, len(saved))
	for i, c := range saved {
		items[i] = item{
			id: c.ID, title: sanitize.Line(c.Title), model: sanitize.Line(c.Model),
			when: c.Updated.Local().Format("2006-01-02 15:04"),
		}
	}
	d := &Chats{broken: broken, th: th}
	d.list = list.New(items, rows{d}, 0, 0)
	d.list.Styles = list.Styles{ArabicPagination: lipgloss.NewStyle()}
	d.list.SetShowTitle(false)
	d.list.SetShowStatusBar(false)
	d.list.SetShowHelp(false)
	d.list.DisableQuitKeybindings()
	d.list.FilterInput.Prompt = " filter: "
	d.list.FilterInput.SetStyles(textinput.Styles{}) // the terminal's colours, and a cursor that does not blink
	return d
}

// Filtering reports whether the filter is in use; then the filter gets the key esc.
func (d *Chats) Filtering() bool { return d.list.FilterState() != list.Unfiltered }

// Update moves the selection or edits the filter. Enter ends the typing of a filter; otherwise it sends
// Chosen.
func (d *Chats) Update(msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		if k.String() == "enter" && !d.list.SettingFilter() {
			chosen, ok := d.list.SelectedItem().(item)
			if !ok {
				return nil
			}
			return func() tea.Msg { return Chosen{chosen.id} }
		}
	}
	var cmd tea.Cmd
	d.list, cmd = d.list.Update(msg)
	return cmd
}

// Draw returns height lines of width cells.
func (d *Chats) Draw(th *theme.Theme, width, height int) []string {
	d.th = th
	title := paint.NewLine(th, width).Put(th.Title, fmt.Sprintf(" Saved chats: %d", len(d.list.Items())))
	if d.broken > 0 {
		title.Put(th.Warning, fmt.Sprintf("  %d unreadable", d.broken))
	}
	title.Right(th.Label, "↑↓ choose · / filter · enter opens · esc closes ")
	lines := []string{title.String(), th.Rule.On(strings.Repeat(th.Glyph.HRule, width))}
	if len(d.list.Items()) == 0 {
		lines = append(lines, paint.Spaces(width), paint.Fit(th, th.Label, " Nothing is saved yet. A chat is saved after every reply.", width))
		return paint.Block(lines, width, height)
	}
	d.list.SetSize(width, max(height-2, 1))
	return paint.Block(append(lines, fitAll(th, d.list.View(), width)...), width, height)
}

// rows draws one chat per line.
type rows struct{ d *Chats }

func (rows) Height() int                         { return 1 }
func (rows) Spacing() int                        { return 0 }
func (rows) Update(tea.Msg, *list.Model) tea.Cmd { return nil }

func (r rows) Render(w io.Writer, m list.Model, index int, li list.Item) {
	it, ok := li.(item)
	if !ok {
		return
	}
	th := r.d.th
	line := paint.NewLine(th, m.Width())
	style := theme.Style("")
	if index == m.Index() {
		line.Put(th.Strong, " "+th.Glyph.Marker+" ")
		style = th.Strong
	} else {
		line.Put("", "   ")
	}
	line.Put(th.Label, it.when+"  ").Put(style, it.title)
	line.Right(th.Label, it.model+" ")
	fmt.Fprint(w, line.String())
}
