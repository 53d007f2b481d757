package chats

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"specula/engine/event"
	"specula/ui/replace"
)

func sample(id, text string) Chat {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	return Chat{ID: id, Title: "t", Created: at, Updated: at, Turns: []Turn{
		{Role: "user", Text: text},
		{Role: "assistant", Text: "\x1b]52;c;AA==\x07 raw", Reason: "cancelled", Totals: &event.Totals{Tokens: 3}},
	}}
}

func TestSaveAndOpenKeepRawText(t *testing.T) {
	s := NewStore(filepath.Join(t.TempDir(), "deep", "chats"))
	want := sample("a", "zwei\nZeilen \u202e <&>")
	if _, err := s.Save(want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Open("a")
	want.Version = Version
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("opened %+v (%v), saved %+v", got, err, want)
	}
	if info, err := os.Stat(filepath.Join(s.Dir(), "a.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a chat must be readable by its owner alone: %v, %v", info.Mode(), err)
	}
}

// failing makes the n-th call of the file layer fail, as a full or broken disk does.
type failing struct {
	replace.Disk
	calls, at int
}

var errDisk = errors.New("no space left on device")

func (f *failing) step() error {
	f.calls++
	if f.calls == f.at {
		return errDisk
	}
	return nil
}

func (f *failing) CreateTemp(dir, pattern string) (replace.File, error) {
	if err := f.step(); err != nil {
		return nil, err
	}
	real, err := f.Disk.CreateTemp(dir, pattern)
	return &failingFile{real, f}, err
}

func (f *failing) Rename(from, to string) error {
	if err := f.step(); err != nil {
		return err
	}
	return f.Disk.Rename(from, to)
}
func (f *failing) SyncDir(dir string) error { return errors.Join(f.step(), f.Disk.SyncDir(dir)) }

type failingFile struct {
	replace.File
	disk *failing
}

func (f *failingFile) Write(p []byte) (int, error) {
	if err := f.disk.step(); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	return f.File.Write(p)
}
func (f *failingFile) Sync() error  { return errors.Join(f.disk.step(), f.File.Sync()) }
func (f *failingFile) Close() error { return errors.Join(f.disk.step(), f.File.Close()) }

func TestAFailingDiskLeavesTheOldChatOrTheNewOne(t *testing.T) {
	steps := []string{"create", "write", "sync", "close", "rename", "sync of the directory"}
	for i, name := range steps {
		t.Run(name, func(t *testing.T) {
			s := NewStore(t.TempDir())
			if _, err := s.Save(sample("a", "old")); err != nil {
				t.Fatal(err)
			}
			s.files = &failing{at: i + 1}
			if _, err := s.Save(sample("a", "new")); !errors.Is(err, errDisk) {
				t.Fatalf("the failure was not reported: %v", err)
			}
			want := "old"
			if name == "sync of the directory" {
				want = "new"
			}
			got, err := s.Open("a")
			if err != nil || got.Turns[0].Text != want {
				t.Errorf("found %+v (%v), want the %s chat", got.Turns, err, want)
			}
			if entries, _ := os.ReadDir(s.Dir()); len(entries) != 1 {
				t.Errorf("temporary files were left: %v", entries)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	tests := []struct {
		name, content, says string
		broken              int // count in the list, which does not read turns
	}{
		{"not JSON", "hello", "not a saved chat", 1},
		{"another version", `{"version":9}`, "version 9", 1},
		{"a role that is none", `{"version":1,"turns":[{"role":"system","text":"x"}]}`, "role", 0},
		{"too many objects", `{"version":1,"turns":[` + strings.Repeat("{},", 600_000) + `{}]}`, "600003 objects", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := NewStore(t.TempDir())
			if err := os.WriteFile(filepath.Join(s.Dir(), "a.json"), []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Open("a"); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want an error that says %q", err, tt.says)
			}
			if list, broken, err := s.List(); len(list)+broken != 1 || broken != tt.broken || err != nil {
				t.Errorf("listed %v, %d broken (%v), want %d broken", list, broken, err, tt.broken)
			}
		})
	}
	for _, id := range []string{"", "..", "../x", "a/b", `a\b`, ".x", strings.Repeat("x", 200)} {
		if _, err := NewStore(t.TempDir()).Open(id); err == nil || !strings.Contains(err.Error(), "cannot name a chat") {
			t.Errorf("ID %.20q: got %v", id, err)
		}
	}
}

func TestListIsNewestFirst(t *testing.T) {
	s := NewStore(filepath.Join(t.TempDir(), "none yet"))
	if list, broken, err := s.List(); len(list) != 0 || broken != 0 || err != nil {
		t.Fatalf("a store that does not exist yet lists %v, %d, %v", list, broken, err)
	}
	for i, id := range []string{"b", "c", "a"} {
		c := sample(id, "x")
		c.Updated = c.Updated.Add(time.Duration(i) * time.Hour)
		if _, err := s.Save(c); err != nil {
			t.Fatal(err)
		}
	}
	list, _, err := s.List()
	if err != nil || len(list) != 3 || list[0].ID != "a" || list[2].ID != "b" {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestTitleFrom(t *testing.T) {
	for text, want := range map[string]string{
		"  one\ntwo":             "one",
		strings.Repeat("ä", 100): strings.Repeat("ä", 59) + "…",
		"":                       "",
	} {
		if got := TitleFrom(text); got != want {
			t.Errorf("TitleFrom(%q) = %q, want %q", text, got, want)
		}
	}
}
