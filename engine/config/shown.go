package config

import (
	"reflect"

	"specula/engine/event"
)

// shown maps the full name of each setting that has a field in s to a pointer to this field. The field
// has the same type as the setting's field in Config.
func shown(s *event.Settings) map[string]any {
	return map[string]any{
		"sampling.temperature":   &s.Temperature,
		"sampling.top_k":         &s.TopK,
		"sampling.top_p":         &s.TopP,
		"sampling.min_p":         &s.MinP,
		"sampling.seed":          &s.Seed,
		"sampling.max_tokens":    &s.MaxTokens,
		"speculation.gamma":      &s.Gamma,
		"speculation.gamma_max":  &s.GammaMax,
		"speculation.gamma_rule": &s.GammaRule,
		"speculation.proposer":   &s.Proposer,
		"speculation.acceptance": &s.Acceptance,
		"speculation.enabled":    &s.Speculate,
		"remote.watch":           &s.Watch,
	}
}

// Shown returns the settings in the form of events. seed is the seed in use.
func (c Config) Shown(seed int64) event.Settings {
	var s event.Settings
	for name, at := range shown(&s) {
		setting, _ := Lookup(name)
		reflect.ValueOf(at).Elem().Set(reflect.ValueOf(setting.field(&c)).Elem())
	}
	s.Seed = seed
	s.Watch = s.Watch && c.Remote.URL != "" // without a server there is nothing to watch
	return s
}

// SetShown changes a setting, given by any of its names, in s. It changes nothing if s has no field
// for the setting or if the value does not parse.
func SetShown(s *event.Settings, name, text string) {
	setting, known := Lookup(name)
	at, has := shown(s)[setting.Name]
	if !known || !has {
		return
	}
	if v, err := setting.parse(text); err == nil {
		field := reflect.ValueOf(at).Elem()
		field.Set(reflect.ValueOf(v).Convert(field.Type()))
	}
}
