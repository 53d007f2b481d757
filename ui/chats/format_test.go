package chats

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"specula/engine/event"
)

func one[T any](x T) *T { return &x }

// recorded returns a chat with a reply and the events that it was drawn from.
func recorded(id string) Chat {
	c := sample(id, "hello")
	lay := event.Token{ID: 9, Raw: []byte("\x1b raw"), Text: " raw", Verdict: event.Resampled, P: one(0.5)}
	c.Turns[1].Record = &Record{
		Started: event.ReplyStarted{Reply: 1, Settings: event.Settings{Seed: 1<<53 - 1}, Config: map[string]string{"sampling.seed": "9007199254740991"}},
		Tail:    "…",
		Drafts:  "1,0x2",
		Events: []event.Event{
			event.Round{Gamma: 1, Tested: 1, Draft: []event.Token{{ID: 3, Raw: []byte{0xc3}, Verdict: event.Rejected, Q: one(0.25)}}, Commit: &lay},
			event.SettingChanged{Round: 1, Name: "sampling.temperature", From: "0.7", To: "0.8"},
			event.Failed{Error: "no"},
		},
	}
	return c
}

func TestARecordIsKept(t *testing.T) {
	s := NewStore(t.TempDir())
	want := recorded("a")
	if _, err := s.Save(want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Open("a")
	want.Version = Version
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("opened %+v (%v)\nsaved %+v", got.Turns[1].Record, err, want.Turns[1].Record)
	}
	text, err := os.ReadFile(s.path("a"))
	if lines := strings.Split(string(text), "\n"); err != nil || len(lines) != 16 || !strings.HasPrefix(lines[10], `      {"kind":"setting-changed"`) {
		t.Errorf("a file with a line for each message and each event is\n%s", text)
	}
}

// The text of a reply can be read even if another version of the program has added to its record.
func TestARecordThatIsNotUnderstoodIsLeftOut(t *testing.T) {
	for name, record := range map[string]string{
		"an unknown event":  `{"started":{"reply":1},"events":[{"kind":"round","data":{}},{"kind":"applause","data":{}}]}`,
		"another event":     `{"started":{"reply":1},"events":[{"kind":"round","data":{"index":"two"}}]}`,
		"no list of events": `{"started":{"reply":1},"events":7}`,
		"no object":         `7`,
		"a field more":      `{"started":{"reply":1,"mood":"calm"},"mood":[1]}`,
	} {
		s := NewStore(t.TempDir())
		text := `{"version":1,"mood":"calm","turns":[{"role":"user","text":"x"},{"role":"assistant","text":"y","record":` + record + `}]}`
		if err := os.WriteFile(s.path("a"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := s.Open("a")
		if err != nil || len(c.Turns) != 2 || c.Turns[1].Text != "y" || c.Turns[1].Record != nil && len(c.Turns[1].Record.Events) != 0 {
			t.Errorf("%s: read as %+v (%v), want the text alone", name, c, err)
		}
	}
}

// A saved chat of any length can be read, and its newest replies have events.
func TestTheOldestEventsGiveWay(t *testing.T) {
	c := recorded("a")
	tokens := make([]event.Token, 100)
	for i := range tokens {
		tokens[i] = event.Token{Raw: []byte("word"), Text: "word", Verdict: event.Accepted, P: one(0.123456789012345), Q: one(0.123456789012345)}
	}
	events := make([]event.Event, 100)
	for i := range events {
		events[i] = event.Round{Draft: tokens}
	}
	long := Turn{Role: "assistant", Text: "y", Record: &Record{Events: events}}
	for range 26 {
		c.Turns = append(c.Turns, Turn{Role: "user", Text: "x"}, long)
	}
	s := NewStore(t.TempDir())
	if _, err := s.Save(c); err != nil {
		t.Fatal(err)
	}
	got, err := s.Open("a")
	if err != nil || len(got.Turns) != len(c.Turns) {
		t.Fatalf("%d turns, %v", len(got.Turns), err)
	}
	if first, last := got.Turns[1].Record, got.Turns[len(got.Turns)-1].Record; first == nil || first.Events != nil || len(last.Events) != 100 {
		t.Errorf("the first reply has %+v, the last %d events", first, len(last.Events))
	}
	if info, err := os.Stat(s.path("a")); err != nil || info.Size() > maxRecordBytes+1<<20 {
		t.Errorf("the file has %d bytes (%v)", info.Size(), err)
	}
}

// Two windows with one chat must not erase each other's turns.
func TestAFileThatSomebodyElseChangedIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	mine, theirs := NewStore(dir), NewStore(dir)
	if _, err := mine.Save(sample("a", "hello")); err != nil {
		t.Fatal(err)
	}
	if _, err := theirs.Open("a"); err != nil {
		t.Fatal(err)
	}
	if saved, err := theirs.Save(sample("a", "theirs")); err != nil || saved.ID != "a" {
		t.Fatalf("a file that nobody changed was saved as %q, %v", saved.ID, err)
	}
	saved, err := mine.Save(sample("a", "mine"))
	if err != nil || saved.ID != "a-2" || saved.Title != "t (2)" {
		t.Fatalf("saved as %q, %q, %v", saved.ID, saved.Title, err)
	}
	for id, want := range map[string]string{"a": "theirs", "a-2": "mine"} {
		if c, err := NewStore(dir).Open(id); err != nil || c.Turns[0].Text != want {
			t.Errorf("%s says %+v (%v), want %q", id, c.Turns, err, want)
		}
	}
	if saved, err := mine.Save(sample("a-2", "mine again")); err != nil || saved.ID != "a-2" {
		t.Errorf("the copy was saved as %q, %v", saved.ID, err)
	}
	// A file that this program never read belongs to another program, too. A missing file is written
	// again.
	if saved, err := NewStore(dir).Save(sample("a", "new")); err != nil || saved.ID != "a-3" {
		t.Errorf("saved as %q, %v", saved.ID, err)
	}
	if err := os.Remove(filepath.Join(dir, "a.json")); err != nil {
		t.Fatal(err)
	}
	if saved, err := mine.Save(sample("a", "again")); err != nil || saved.ID != "a" {
		t.Errorf("saved as %q, %v", saved.ID, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 3 {
		t.Errorf("files: %v", entries)
	}
}

// The list reads no turns, so a folder of long chats opens at once.
func TestTheListReadsOnlyHeads(t *testing.T) {
	s := NewStore(t.TempDir())
	text := `{"version":1,"title":"one","turns":[` + "\x00 not JSON"
	if err := os.WriteFile(s.path("a"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, broken, err := s.List(); len(list) != 1 || list[0].Title != "one" || broken != 0 || err != nil {
		t.Errorf("listed %+v, %d broken, %v", list, broken, err)
	}
}
