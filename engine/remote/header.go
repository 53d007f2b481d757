package remote

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
)

const (
	mostHeaderFile = 64 << 10 // bytes
	// A part of a header's value is kept out of messages if it has at least shortSecret bytes. A shorter part
	// is no secret, and might occur in ordinary words.
	shortSecret = 8
)

// readHeaders reads the file of Options.Headers. Errors give the number of a line, not its text, which may be secret.
func readHeaders(path string) (http.Header, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the headers of remote.headers: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostHeaderFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the headers of remote.headers: %w", err)
	case len(text) > mostHeaderFile:
		return nil, fmt.Errorf("remote.headers: %s is longer than %d bytes", path, mostHeaderFile)
	}
	headers := http.Header{}
	for i, line := range strings.Split(string(text), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if !ok || !isHeaderName(name) || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			return nil, fmt.Errorf("remote.headers: line %d of %s is not of the form NAME: VALUE", i+1, path)
		}
		if slices.Contains(fixedHeaders(), http.CanonicalHeaderKey(name)) {
			return nil, fmt.Errorf("remote.headers: line %d of %s: %s cannot be set, because it follows from the address and the body of a request; leave the line out", i+1, path, http.CanonicalHeaderKey(name))
		}
		headers.Add(name, value)
	}
	return headers, nil
}

// fixedHeaders are the headers that net/http does not take from a request's list of headers, but would leave out silently.
func fixedHeaders() []string {
	return []string{"Host", "Content-Length", "Transfer-Encoding", "Trailer"}
}

// isHeaderName reports whether a name has only letters, digits, - and _. No header in use has another character.
func isHeaderName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_')
	})
}

// hidden replaces the key and the values of our headers in a text of the server: some servers repeat them.
func (s *Server) hidden(text string) string {
	if s.options.Key != "" {
		text = strings.ReplaceAll(text, s.options.Key, "[key]")
	}
	for _, values := range s.headers {
		for _, v := range values {
			for _, part := range strings.FieldsFunc(v, endsSecret) { // a server that got «Bearer KEY» may repeat only KEY
				if len(part) >= shortSecret {
					text = strings.ReplaceAll(text, part, "[header]")
				}
			}
		}
	}
	return text
}

// endsSecret reports whether c ends a part of a header's value, as in «Basic KEY» and «session=KEY; user=NAME».
func endsSecret(c rune) bool { return strings.ContainsRune(" \t;,=\"", c) }
