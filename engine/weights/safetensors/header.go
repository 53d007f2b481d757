package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"specula/engine/weights"
	"specula/engine/weights/gguf"
)

// Limits far above any published head; a file of a model must keep them, too. The format itself allows a
// header of 100 MB.
const (
	lengthBytes      = 8
	leastHeaderBytes = 2 // an empty object
	maxHeaderBytes   = 16 << 20
	maxTensors       = 8192
	maxNameBytes     = 256
	maxDims          = 8
	maxTexts         = 1024 // entries of __metadata__
)

// headerLength reads the length of the header from the first bytes of a file, and checks it. size is the
// number of bytes of the whole file.
func headerLength(name string, first []byte, size int64) (int64, error) {
	fail := func(got, allowed string) (int64, error) {
		return 0, &weights.MalformedError{File: name, Field: "header length", Got: got, Allowed: allowed}
	}
	if size < lengthBytes+leastHeaderBytes || len(first) < lengthBytes {
		return 0, &weights.MalformedError{File: name, Field: "size", Got: fmt.Sprintf("%d bytes", size),
			Allowed: fmt.Sprintf("files of %d bytes or more", lengthBytes+leastHeaderBytes)}
	}
	if bytes.HasPrefix(first, []byte(gguf.Magic)) {
		return 0, &weights.ForeignError{File: name, Is: "a GGUF file",
			Do: "heads are read from safetensors; a model of this format is given by --target or --draft"}
	}
	n := binary.LittleEndian.Uint64(first)
	if most := uint64(min(size-lengthBytes, maxHeaderBytes)); n < leastHeaderBytes || n > most {
		return fail(strconv.FormatUint(n, 10), fmt.Sprintf("%d to %d", leastHeaderBytes, most))
	}
	return int64(n), nil
}

// parser reads the header token by token and keeps the first failure.
type parser struct {
	file   string
	header []byte
	json   *json.Decoder
	at     int64  // file offset of the last token
	tensor string // the tensor whose description is being read; "" elsewhere
	err    error
}

// fail records that the last token breaks a rule.
func (p *parser) fail(field, got, allowed string) {
	if p.err != nil {
		return
	}
	if p.tensor != "" {
		field = fmt.Sprintf("tensor %.64q %s", p.tensor, field)
	}
	p.err = &weights.MalformedError{File: p.file, Field: field, Offset: p.at, Got: got, Allowed: allowed}
}

// next reads a token; nil after a failure.
func (p *parser) next(field string) json.Token {
	if p.err != nil {
		return nil
	}
	at := p.json.InputOffset()
	for at < int64(len(p.header)) && bytes.IndexByte([]byte(" \t\r\n,:"), p.header[at]) >= 0 {
		at++
	}
	p.at = lengthBytes + at
	token, err := p.json.Token()
	if err != nil {
		p.fail(field, err.Error(), "JSON")
		return nil
	}
	return token
}

func (p *parser) expect(field string, want json.Delim) {
	if token := p.next(field); p.err == nil && token != want {
		p.fail(field, show(token), fmt.Sprintf("%q", rune(want)))
	}
}

// more reports whether the current list or object has another element. If not, it reads the closing
// bracket.
func (p *parser) more(field string, end json.Delim) bool {
	if p.err != nil {
		return false
	}
	if p.json.More() {
		return true
	}
	p.expect(field, end)
	return false
}

func (p *parser) text(field string, most int) string {
	token := p.next(field)
	s, ok := token.(string)
	if p.err == nil && (!ok || len(s) > most) {
		p.fail(field, show(token), fmt.Sprintf("text of at most %d bytes", most))
	}
	return s
}

// count reads a whole number ≥ 0.
func (p *parser) count(field string) int64 {
	token := p.next(field)
	number, ok := token.(json.Number)
	n, err := strconv.ParseInt(string(number), 10, 64)
	if p.err == nil && (!ok || err != nil || n < 0) {
		p.fail(field, show(token), "whole numbers from 0 to 2⁶³-1")
		return 0
	}
	return n
}

// counts reads a list of whole numbers; the parameter most limits its length.
func (p *parser) counts(field string, most int) []int64 {
	p.expect(field, '[')
	list := []int64{}
	for p.more(field, ']') {
		if len(list) == most {
			p.fail(field, fmt.Sprintf("more than %d numbers", most), fmt.Sprintf("at most %d", most))
			return nil
		}
		list = append(list, p.count(field))
	}
	return list
}

func show(token json.Token) string { return fmt.Sprintf("%.64q", fmt.Sprint(token)) }

// parseHeader reads the header of a file that has dataBytes bytes after the header.
func parseHeader(name string, header []byte, dataBytes int64) (*File, error) {
	p := &parser{file: name, header: header, json: json.NewDecoder(bytes.NewReader(header))}
	p.json.UseNumber()
	f := &File{name: name, byName: map[string]int{}, metadata: map[string]string{}}
	p.expect("header", '{')
	seen := map[string]bool{}
	for p.more("header", '}') {
		key := p.text("name", maxNameBytes)
		at := p.at
		switch {
		case p.err != nil:
		case seen[key]:
			p.fail("name", show(key)+" again", "each once")
		case len(f.tensors) == maxTensors:
			p.fail("header", "more tensors", fmt.Sprintf("at most %d", maxTensors))
		case key == "__metadata__":
			p.metadata(f)
		default:
			p.tensor = key
			t := p.readTensor(dataBytes)
			t.Name, t.infoAt = key, at
			f.tensors = append(f.tensors, t)
			p.tensor = ""
		}
		seen[key] = true
	}
	if rest := bytes.TrimLeft(header[min(p.json.InputOffset(), int64(len(header))):], " "); p.err == nil && len(rest) > 0 {
		p.at = lengthBytes + int64(len(header)-len(rest))
		p.fail("header", fmt.Sprintf("%.16q after its end", rest), "spaces")
	}
	if p.err == nil {
		p.err = f.order(dataBytes)
	}
	return f, p.err
}

func (p *parser) metadata(f *File) {
	p.expect("__metadata__", '{')
	for p.more("__metadata__", '}') {
		key := p.text("__metadata__ key", maxHeaderBytes)
		f.metadata[key] = p.text("__metadata__ value", maxHeaderBytes)
		if len(f.metadata) > maxTexts {
			p.fail("__metadata__", "more texts", fmt.Sprintf("at most %d", maxTexts))
		}
	}
}

// readTensor reads the description that follows a tensor's name.
func (p *parser) readTensor(dataBytes int64) (t Tensor) {
	var offsets []int64
	p.expect("description", '{')
	for p.more("description", '}') {
		switch field := p.text("field", maxNameBytes); {
		case field == "dtype" && t.Type == "":
			t.Type = p.text("dtype", maxNameBytes)
			if _, known := types[t.Type]; p.err == nil && !known {
				p.fail("dtype", show(t.Type), "F64, F32, F16, BF16, F8_E5M2, F8_E4M3, I64, I32, I16, I8, U64, U32, U16, U8 and BOOL")
			}
		case field == "shape" && t.Shape == nil:
			t.Shape = p.counts("shape", maxDims)
		case field == "data_offsets" && offsets == nil:
			offsets = p.counts("data_offsets", 2)
			if p.err == nil && (len(offsets) != 2 || offsets[0] > offsets[1] || offsets[1] > dataBytes) {
				p.fail("data_offsets", fmt.Sprint(offsets), fmt.Sprintf("a beginning and an end in 0 to %d", dataBytes))
			}
		default:
			p.fail("field", show(field), "dtype, shape and data_offsets, each once")
		}
	}
	if p.err == nil && (t.Type == "" || t.Shape == nil || offsets == nil) {
		p.fail("description", "one that is not complete", "dtype, shape and data_offsets")
	}
	if p.err != nil {
		return t
	}
	t.begin, t.end = offsets[0], offsets[1]
	if size, ok := sizeOf(t); !ok || size != t.end-t.begin {
		p.fail("data_offsets", fmt.Sprintf("%d bytes for shape %v of %s", t.end-t.begin, t.Shape, t.Type), "as many as the shape takes")
	}
	return t
}

// sizeOf computes the size of a tensor's data. ok is false if that overflows.
func sizeOf(t Tensor) (int64, bool) {
	size := uint64(types[t.Type].bytes)
	for _, d := range t.Shape {
		high, low := bits.Mul64(size, uint64(d))
		if high != 0 || low > maxBytes {
			return 0, false
		}
		size = low
	}
	return int64(size), true
}

// order sorts the tensors by position, and checks that they follow each other directly and fill the
// data.
func (f *File) order(dataBytes int64) error {
	slices.SortStableFunc(f.tensors, func(a, b Tensor) int {
		if a.begin != b.begin {
			return int(min(max(a.begin-b.begin, -1), 1))
		}
		return int(min(max(a.end-b.end, -1), 1))
	})
	end := int64(0)
	for i, t := range f.tensors {
		if t.begin != end {
			return f.refuse(t, fmt.Sprintf("data_offsets that begin at %d", t.begin), fmt.Sprintf("%d, the end of the tensor before", end))
		}
		end = t.end
		f.byName[t.Name] = i
	}
	if end != dataBytes {
		return &weights.MalformedError{File: f.name, Field: "header", Got: fmt.Sprintf("tensors of %d bytes", end), Allowed: fmt.Sprintf("%d, all that the file has after its header", dataBytes)}
	}
	return nil
}
