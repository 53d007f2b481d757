package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"specula/engine/config"
	"specula/engine/model"
)

// skippedLayers reads the setting speculation.skip_layers for a target: numbers and ranges, as in
// "3", "5-8" or "3,5-8". It returns each layer once, in ascending order. For an empty setting it
// returns layers in the middle, or none if the target has too few. It refuses a layer that does not
// exist, one whose keys and values others need, and a setting that skips all layers.
func skippedLayers(setting []string, target model.Config) ([]int, error) {
	if len(setting) == 0 {
		return target.MiddleLayers(), nil
	}
	layers := target.Layers
	refuse := func(got string) error {
		if layers < 2 { // with one layer, any choice skips all or none
			return &config.ValueError{Setting: "speculation.skip_layers", Got: strconv.Quote(got), Why: fmt.Errorf(
				"the target has %d layer, and at least one has to stay: set it to [], and choose another proposer than skip", layers)}
		}
		return &config.ValueError{Setting: "speculation.skip_layers", Got: strconv.Quote(got),
			Allowed: fmt.Sprintf("layers from 0 to %d, as in \"2\" or \"2-4\", and not all: the target has %d", layers-1, layers)}
	}
	var out []int
	for _, text := range setting {
		for part := range strings.SplitSeq(text, ",") {
			from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
			if !isRange {
				to = from
			}
			first, err1 := strconv.Atoi(from)
			last, err2 := strconv.Atoi(to)
			if err1 != nil || err2 != nil || first < 0 || last < first || last >= layers {
				return nil, refuse(part)
			}
			for i := first; i <= last; i++ {
				if slices.Contains(target.Lenders, i) {
					return nil, &config.ValueError{Setting: "speculation.skip_layers", Got: strconv.Quote(part),
						Why: fmt.Errorf("layer %d has to stay: later layers attend to its keys and values", i)}
				}
				out = append(out, i)
			}
		}
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) == layers {
		return nil, refuse(strings.Join(setting, ","))
	}
	return out, nil
}
