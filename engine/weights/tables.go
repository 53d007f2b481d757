package weights

import (
	"fmt"
	"slices"
	"strings"

	"specula/engine/event"
)

// Tables returns one table about the whole file, then tables of its types, metadata and tensors. In the
// first table, facts that the file does not give have no row; nor has the number of parts if it is 1.
func (r Report) Tables() []event.Table {
	file := [][]string{
		{"file", r.Name}, {"parts", moreThanOne(r.Parts)}, {"format", r.Format}, {"architecture", r.Architecture}, {"name", r.ModelName},
		{"size", fmt.Sprintf("%d bytes, %d of them after the last tensor", r.FileBytes, r.SpareBytes)},
		{"parameters", fmt.Sprint(r.Parameters)}, {"context", tokens(r.ContextLength)},
		{"tokenizer", r.Tokenizer}, {"vocabulary", tokens(r.VocabSize)}, {"template", "SHA-256 " + r.TemplateHash},
		{"cannot be computed", strings.Join(r.Unsupported, ", ")},
	}
	file = slices.DeleteFunc(file, func(row []string) bool { return row[1] == "" || row[1] == "SHA-256 " })
	types, metadata, tensors := event.Table{Title: "types"}, event.Table{Title: "metadata"}, event.Table{Title: "tensors"}
	for _, t := range r.ByType {
		types.Rows = append(types.Rows, []string{t.Type, fmt.Sprintf("%d tensors", t.Tensors), fmt.Sprintf("%d bytes", t.Bytes)})
	}
	for _, m := range r.Metadata {
		metadata.Rows = append(metadata.Rows, []string{m.Key, m.Type, m.Value})
	}
	for _, t := range r.Tensors {
		tensors.Rows = append(tensors.Rows, []string{t.Name, t.Type, fmt.Sprint(t.Shape), fmt.Sprintf("%d bytes", t.Bytes)})
	}
	return []event.Table{{Rows: file}, types, metadata, tensors}
}

// moreThanOne formats a number of parts; one gives "".
func moreThanOne(parts int) string {
	if parts < 2 {
		return ""
	}
	return fmt.Sprint(parts)
}

// tokens formats a number of tokens. 0 gives "": the file does not say it.
func tokens(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d tokens", n)
}
