package engine

import (
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/model"
	"specula/engine/weights"
)

// describe tells what a loaded model is.
func describe(s Source, file *weights.File, m *model.Model) event.Model {
	c := m.Config()
	path := s.Path
	if path == "" {
		path = "embedded"
	}
	name := file.ModelName()
	if name == "" {
		name = file.Name()
	}
	return event.Model{
		Name: name, Path: path, Architecture: c.Architecture, WeightType: c.WeightType,
		Parameters: c.Parameters, WeightBytes: c.WeightBytes, CacheBytes: c.CacheBytes,
		Layers: c.Layers, VocabSize: c.Vocab, ContextLength: c.MaxTokens,
	}
}

// recipe is what a reply is written with; seed is the one really used. A proposer that the setting auto stands for only since
// another one failed is named.
func (r *reply) recipe(c config.Config, seed int64) map[string]string {
	c.Sampling.Seed = seed
	if chosen := r.config.Speculation.Proposer; r.auto && chosen != r.session.engine.auto(nil).Proposer {
		c.Speculation.Proposer = chosen
	}
	return c.Recipe()
}
