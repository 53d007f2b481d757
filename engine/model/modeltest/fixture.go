// Package modeltest reads the tiny models of every family, for tests of several packages. `make
// oracle` makes them.
package modeltest

import (
	"compress/gzip"
	"io"
	"os"
	"testing"
)

// Unpack returns what a compressed file of engine/model/testdata/architectures holds: a GGUF file.
func Unpack(t testing.TB, path string) []byte {
	t.Helper()
	packed, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
