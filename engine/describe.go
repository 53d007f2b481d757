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

// recipe returns the settings to write this reply again with, by their names; seed is the seed in
// use. If auto stands for another proposer than in a new session, because one was given up, the
// recipe names that proposer in place of auto.
func (r *reply) recipe(c config.Config, seed int64) map[string]string {
	c.Sampling.Seed = seed
	if chosen := r.config.Speculation.Proposer; r.auto && chosen != r.session.engine.auto(nil).Proposer {
		c.Speculation.Proposer = chosen
	}
	return c.Recipe()
}
