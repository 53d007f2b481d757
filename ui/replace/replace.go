// Package replace gives a file new content in one step: after a crash or with a full disk, a reader finds
// the old content or the new content, never a part of it. The new content is written to a temporary
// file in the same folder and flushed to the disk. Then the file is renamed and the folder is flushed.
// A symbolic link is replaced, not followed.
package replace

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Files is the part of the file system that Write needs. Tests make each step fail.
type Files interface {
	CreateTemp(dir, pattern string) (File, error)
	Rename(from, to string) error
	Remove(name string) error
	SyncDir(dir string) error
}

// File is an open file to write to.
type File interface {
	io.WriteCloser
	Sync() error
	Name() string
}

// Write replaces the content of path by data, which only its owner may read. Right before the rename it
// calls check, unless that is nil; an error of check stops the replacement. After an error the old
// content is still there, and the temporary file is removed if possible. One exception: if only the last
// flush fails, the file has the new content, but that may not survive a power cut.
func Write(files Files, path string, data []byte, check func() error) error {
	dir := filepath.Dir(path)
	f, err := files.CreateTemp(dir, ".saving-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil && check != nil {
		err = check()
	}
	if err == nil {
		err = files.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, files.Remove(f.Name()))
	}
	return files.SyncDir(dir)
}

// Disk is the real file system.
type Disk struct{}

// CreateTemp creates a new file that only its owner may read.
func (Disk) CreateTemp(dir, pattern string) (File, error) { return os.CreateTemp(dir, pattern) }

// Rename moves a file over another.
func (Disk) Rename(from, to string) error { return os.Rename(from, to) }

// Remove deletes a file.
func (Disk) Remove(name string) error { return os.Remove(name) }

// SyncDir flushes a folder, so that its names survive a power cut.
func (Disk) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
