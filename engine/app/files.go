package app

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"specula/assets"
	"specula/engine"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/model"
	"specula/engine/weights"
	"specula/engine/weights/random"
)

// IsModel reports whether a text is the path of a GGUF file or of a folder, or looks like one.
func IsModel(path string) bool {
	info, err := os.Stat(path)
	switch {
	case err != nil: // a missing file is reported when it is opened
		return (strings.HasSuffix(path, ".gguf") || strings.HasSuffix(path, "/")) && !strings.ContainsAny(path, " \t\n")
	case info.IsDir(): // one without a model is reported when it is opened
		return true
	}
	return strings.HasSuffix(path, ".gguf")
}

// Describe returns tables that say what a model file contains, which processor this machine has, and whether
// the file can be loaded. This verdict is the last row of the last table, so that it stays on the screen.
func Describe(ctx context.Context, path string) ([]event.Table, error) {
	f, err := model.OpenHeader(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", engine.ErrModel, err)
	}
	tables := weights.Describe(f).Tables()
	tables[0].Title = "file"
	tables[0].Rows = append(tables[0].Rows, prospects(f)...)
	slices.Reverse(tables)
	return slices.Insert(tables, len(tables)-1, processor()), nil
}

// prospects returns rows that say what Load would report about a chat with a model file. The last row
// says that the file can be loaded, or why not.
func prospects(f *weights.File) (rows [][]string) {
	ready, err := engine.Study(f)
	if err != nil {
		return [][]string{{"cannot be loaded", err.Error()}}
	}
	if !ready.Warned("template") {
		rows = append(rows, []string{"chat template", ready.Template})
	}
	if ready.Unspelled != "" {
		rows = append(rows, []string{"bytes", "no token for " + ready.Unspelled})
	}
	for _, w := range ready.Warnings {
		rows = append(rows, []string{"warning", w.About + ": " + w.Text}, []string{"", w.Do})
	}
	return append(rows, []string{"can be loaded", "yes"})
}

// processor describes the CPU as a backend.
func processor() event.Table {
	backend := host.New(0)
	defer backend.Close()
	info := backend.Info()
	return event.Table{Title: "processor", Rows: [][]string{{info.Name}, {info.Detail}}}
}

// MakeWeights writes a model file with random weights. weightType is one of random.Types.
func MakeWeights(ctx context.Context, shape, weightType, path string) error {
	return random.MakeFile(ctx, path, shape, weightType, assets.Draft())
}
