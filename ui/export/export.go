// Package export writes a chat to a file for use outside the program. [Formats] lists the formats: text
// for people, films and pictures of the screen, tables for programs.
//
// Text and tables are written from events, those of a chat or those of a trace ([ChatOf]), so a file says
// what the screen has shown. Pictures are written from the drawn screen.
package export

import (
	"fmt"
	"io"
	"strings"
	"time"

	"specula/engine/trace"
	"specula/ui/chats"
	"specula/ui/export/film"
)

// Source is what can be exported.
type Source struct {
	Chat chats.Chat
	Film film.Film // the chat as a film of the screen
	// Picture is what the formats svg and png show: the last frame of this film.
	Picture film.Film
	Records []trace.Record // the whole session, including events before the chat
}

// Format is a file format.
type Format struct {
	Name  string // also the end of a file's name, without the first dot
	Doc   string
	write func(io.Writer, Source) error
}

// Formats returns all formats, in the order of help.
func Formats() []Format {
	ofChat := func(write func(io.Writer, chats.Chat) error) func(io.Writer, Source) error {
		return func(w io.Writer, s Source) error { return write(w, s.Chat) }
	}
	ofFilm := func(write func(film.Film, io.Writer) error) func(io.Writer, Source) error {
		return func(w io.Writer, s Source) error { return write(s.Film, w) }
	}
	ofPicture := func(write func(film.Film, io.Writer) error) func(io.Writer, Source) error {
		return func(w io.Writer, s Source) error { return write(s.Picture, w) }
	}
	return []Format{
		{"html", "a page that plays the reply, with the numbers of each token, in one file", ofChat(HTML)},
		{"cast", "the screen as an asciicast, version 2, with a marker for each round", ofFilm(film.Film.Cast2)},
		{"v3.cast", "the same, version 3", ofFilm(film.Film.Cast3)},
		{"film.svg", "the screen as a picture that plays in a document, without a script", ofFilm(film.Film.Animation)},
		{"svg", "a picture of the screen", ofPicture(film.Film.SVG)},
		{"png", "the same, in pixels", ofPicture(film.Film.PNG)},
		{"jsonl", "the recording, for specula replay", func(w io.Writer, s Source) error { return writeTrace(w, s.Records) }},
		{"md", "the text, as Markdown", ofChat(Markdown)},
		{"json", "the chat with its events, as it is saved", ofChat(JSON)},
		{"rounds.json", "replies, their rounds and tokens", ofChat(RoundsJSON)},
		{"csv", "a table of rounds", ofChat(RoundsCSV)},
		{"tokens.csv", "a table of tokens, the refused ones included", ofChat(TokensCSV)},
	}
}

// Names returns the names of all formats.
func Names() []string {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// Named returns the format of a name.
func Named(name string) (Format, error) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("there is no format %.32q: allowed are %s", name, strings.Join(Names(), ", "))
}

// ForFile returns the format that the end of a file's name asks for.
func ForFile(path string) (Format, error) {
	best := Format{}
	for _, f := range Formats() {
		if strings.HasSuffix(strings.ToLower(path), "."+f.Name) && len(f.Name) > len(best.Name) {
			best = f
		}
	}
	if best.Name == "" {
		return best, fmt.Errorf("the name %.64q ends with no format: allowed are .%s", path, strings.Join(Names(), ", ."))
	}
	return best, nil
}

// FilmFor returns the format of a film that the end of a file's name asks for. For .svg it returns the
// animated film.svg, not a picture.
func FilmFor(path string) (Format, error) {
	f, err := ForFile(path)
	if f.Name == "svg" {
		return Named("film.svg")
	}
	if err != nil || f.Name != "film.svg" && f.Name != "cast" && f.Name != "v3.cast" {
		return Format{}, fmt.Errorf("the name %.64q ends with no format of a film: allowed are .svg, .cast, .v3.cast", path)
	}
	return f, nil
}

// Write writes a source in this format.
func (f Format) Write(w io.Writer, s Source) error {
	if err := f.write(w, s); err != nil {
		return fmt.Errorf("exporting %s: %w", f.Name, err)
	}
	return nil
}

func writeTrace(w io.Writer, records []trace.Record) error {
	out := trace.NewWriter(w, time.Now)
	for _, r := range records {
		if err := out.WriteRecord(r); err != nil {
			return err
		}
	}
	return nil
}
