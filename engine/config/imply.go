package config

import (
	"fmt"
	"strconv"
)

// Imply completes values that were given together: in one file, on one command line, or in one
// command. If γ is given without a rule, the rule becomes fixed. If γ is given with the rule
// cost-aware, which chooses γ itself, γ becomes a limit: gamma_max is set to it, and note says so. If
// gamma_max is also given and is below γ, Imply changes nothing, and the caller refuses γ when it sets
// the values. It matters which settings are given, not whether they differ from their defaults.
//
// all has the values, then the implied ones. note is empty if there is nothing to explain. The error
// is a *ValueError: γ 0 with the rule cost-aware is refused. Other mistakes are found when the values
// are set.
func Imply(values []Value) (all []Value, note string, err error) {
	named := map[string]string{}
	for _, v := range values {
		if s, ok := Lookup(v.Name); ok {
			named[s.Name] = v.Text // the last value counts
		}
	}
	text, ok := named["speculation.gamma"]
	if !ok {
		return values, "", nil
	}
	rule, ok := named["speculation.gamma_rule"]
	if !ok {
		return append(values[:len(values):len(values)], Value{"speculation.gamma_rule", "fixed"}), "", nil
	}
	gamma, err := strconv.Atoi(text)
	if rule != "cost-aware" || err != nil { // other mistakes are reported when the values are set
		return values, "", nil
	}
	if gamma == 0 {
		return values, "", &ValueError{Setting: "speculation.gamma", Got: text,
			Allowed: "from 1 on with the rule cost-aware, whose longest draft it is; speculation.enabled = false never drafts"}
	}
	if most, err := strconv.Atoi(named["speculation.gamma_max"]); err == nil && most < gamma {
		return values, "", nil // refused later, like any γ above gamma_max
	}
	note = fmt.Sprintf("γ %d is a ceiling: the rule cost-aware chooses from 0 to %d (gamma_max)", gamma, gamma)
	return append(values[:len(values):len(values)], Value{"speculation.gamma_max", text}), note, nil
}

// lowerGamma lowers γ to gamma_max if gamma_max was given without γ.
func (c *Config) lowerGamma(named map[string]bool) {
	if named["speculation.gamma_max"] && !named["speculation.gamma"] {
		c.Speculation.Gamma = min(c.Speculation.Gamma, c.Speculation.GammaMax)
	}
}

// imply does the work of lowerGamma and Imply for the settings that a file gives.
func (c *Config) imply(given map[string]int) (note string, err error) {
	var values []Value
	named := map[string]bool{}
	for _, s := range table {
		if given[s.Name] > 0 {
			values = append(values, Value{s.Name, s.format(c)})
			named[s.Name] = true
		}
	}
	c.lowerGamma(named)
	all, note, err := Imply(values)
	if err != nil {
		return "", err
	}
	return note, c.assignAll(all[len(values):])
}
