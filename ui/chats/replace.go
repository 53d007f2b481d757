package chats

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// files is the part of the file system that replacing a file needs; tests let each step fail.
type files interface {
	CreateTemp(dir, pattern string) (file, error)
	Rename(from, to string) error
	Remove(name string) error
	SyncDir(dir string) error
}

type file interface {
	io.WriteCloser
	Sync() error
	Name() string
}

// replaceFile gives path new content in one step. After an error the old content stands; the temporary file is removed
// where that is still possible. If only the last step fails the new content is there but may not survive a power cut.
func replaceFile(fsys files, path string, data []byte) error {
	dir := filepath.Dir(path)
	f, err := fsys.CreateTemp(dir, ".saving-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = fsys.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, fsys.Remove(f.Name()))
	}
	return fsys.SyncDir(dir)
}

// disk is the real file system.
type disk struct{}

func (disk) CreateTemp(dir, pattern string) (file, error) { return os.CreateTemp(dir, pattern) }
func (disk) Rename(from, to string) error                 { return os.Rename(from, to) }
func (disk) Remove(name string) error                     { return os.Remove(name) }

func (disk) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
