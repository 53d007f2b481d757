package weights

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ForeignError says that a file has another format than GGUF. The file may be valid in that format.
type ForeignError struct {
	File string // path or name
	Is   string // such as "a safetensors file"
	Do   string // what the user can do
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("reading %q: it is %s: %s", e.File, e.Is, e.Do)
}

// foreignBytes is how many bytes of a file are enough to recognise the formats that people mistake
// for GGUF.
const foreignBytes = 32

// foreign recognises other formats by their first bytes. It returns nil if it recognises none, or
// if the file cannot be read.
func foreign(name string, src io.ReaderAt) *ForeignError {
	first := make([]byte, foreignBytes)
	n, err := src.ReadAt(first, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	first = first[:n]
	const download = "download the model's .gguf file again"
	const convert = "give a GGUF file, or the folder that holds the model's config.json and .safetensors files"
	for _, f := range []struct{ begin, is, do string }{
		{"version https://git-lfs", "what git leaves in place of a large file", "fetch the file itself with git lfs pull"},
		{"<", "a web page, as a download that failed leaves it", download},
		{"{", "a JSON text", convert},
		{"PK\x03\x04", "a zip archive, such as PyTorch writes", convert},
		{"tjgg", "of the format before GGUF", convert}, // GGJT, GGML, GGMF and GGLA, least significant byte first
		{"lmgg", "of the format before GGUF", convert},
		{"fmgg", "of the format before GGUF", convert},
		{"algg", "of the format before GGUF", convert},
	} {
		if bytes.HasPrefix(first, []byte(f.begin)) {
			return &ForeignError{File: name, Is: f.is, Do: f.do}
		}
	}
	// A safetensors file begins with the length of a JSON text, and then the text.
	if len(first) > 8 && first[8] == '{' && binary.LittleEndian.Uint64(first) < 1<<32 {
		return &ForeignError{File: name, Is: "a safetensors file", Do: convert + " (trained heads are given by --heads)"}
	}
	return nil
}
