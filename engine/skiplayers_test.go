package engine

import (
	"strings"
	"testing"

	"specula/engine/model"
)

func TestLayersThatCannotBeSkippedAreRefused(t *testing.T) {
	for _, tt := range []struct {
		setting string
		layers  int
		says    string
	}{
		{"4", 4, "layers from 0 to 3"}, {"3-1", 4, "layers from 0 to 3"}, {"0-3", 4, "and not all"}, {"x", 4, "layers from 0 to 3"},
		{"0", 1, "at least one has to stay"}, {"1", 1, "at least one has to stay"},
		{"4-6", 8, "layer 5 has to stay"},
	} {
		if got, err := skippedLayers([]string{tt.setting}, model.Config{Layers: tt.layers, Lenders: []int{5}}); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s of %d layers: %v, %v, want an error that says %q", tt.setting, tt.layers, got, err, tt.says)
		}
	}
}
