package engine

import (
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/model"
	"specula/engine/weights"
)

// describe returns the description of a loaded model for events.
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

// recipe returns the settings, by name, that write this reply again; seed is the seed in use. If auto
// gave up a proposer in this session, a new session might choose another one. Then the recipe names
// the proposer in use in place of auto.
func (r *reply) recipe(c config.Config, seed int64) map[string]string {
	c.Sampling.Seed = seed
	if chosen := r.config.Speculation.Proposer; r.auto && chosen != r.session.engine.auto(nil).Proposer {
		c.Speculation.Proposer = chosen
	}
	return c.Recipe()
}
