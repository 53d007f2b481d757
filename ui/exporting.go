package ui

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"specula/ui/export"
	"specula/ui/export/film"
	"specula/ui/sanitize"
)

// export writes the chat to a new file. arg is a format, a file whose name ends with one, or both:
// "html", "talk.html", "md notes.txt". An existing file is an error.
func (m *Model) export(arg string) tea.Cmd {
	format, path, err := m.exportTo(arg)
	if err != nil {
		return m.say(sanitize.Line(err.Error()))
	}
	return m.write(format, path)
}

// write exports the screen in a format to a new file.
func (m *Model) write(format export.Format, path string) tea.Cmd {
	source := m.source()
	return func() tea.Msg {
		out, err := m.create(path)
		if err == nil {
			err = errors.Join(format.Write(out, source), out.Close())
		}
		if err != nil {
			return noteMsg(sanitize.Line("exporting: " + err.Error()))
		}
		return noteMsg(sanitize.Line("exported to " + path))
	}
}

// picture writes a picture of the screen as it is.
func (m *Model) picture() tea.Cmd {
	format, err := export.Named("png")
	if err != nil {
		panic(err) // cannot happen: png is in the list of formats
	}
	m.pictures++
	return m.write(format, fmt.Sprintf("specula-%s-%d.png", m.options.Now().Format("20060102-150405"), m.pictures))
}

// create opens a new file that only its owner may read. A relative path begins at m.options.Folder. An
// existing file is an error.
func (m *Model) create(path string) (*os.File, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(m.options.Folder, path)
	}
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}

// source returns the contents of the screen in all forms that can be exported. The result does not change
// while the screen goes on.
func (m *Model) source() export.Source {
	chat := m.snapshot()
	moving := Film(export.Recording(chat, m.state.Ready), m.config.Clone(), m.size.w, m.size.h)
	moving.Title, moving.Light = sanitize.Line(chat.Title), m.theme.Name == "light"
	now := moving
	screen := film.Frame{Screen: m.View().Content}
	now.Frames = func(yield func(film.Frame) bool) { yield(screen) }
	records, _ := m.events.Records()
	if m.options.Load == nil {
		records = m.options.Replay
	}
	return export.Source{Chat: chat, Film: moving, Picture: now, Records: records}
}

// exportTo returns the format and the file that the argument of /export names.
func (m *Model) exportTo(arg string) (f export.Format, path string, err error) {
	name, path, _ := strings.Cut(arg, " ")
	if name == "" {
		return f, "", errors.New("/export FILE, or /export FORMAT: " + strings.Join(export.Names(), ", "))
	}
	if f, err = export.Named(name); err != nil { // the whole argument is a file
		f, err = export.ForFile(arg)
		return f, arg, err
	}
	if path = strings.TrimSpace(path); path == "" {
		path = m.chat.ID + "." + f.Name
	}
	return f, path, nil
}
