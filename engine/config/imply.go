package config

import (
	"fmt"
	"strconv"
)

// Imply completes values that were named together: in one file, on one command line, in one command. Naming γ asks for
// it, so the rule becomes fixed. If the rule cost-aware is named beside it, which chooses γ itself, γ is the longest
// draft that the rule may choose (gamma_max), and note says so. What was named decides, never whether it differs from
// the default.
func Imply(values []Value) (all []Value, note string, err error) {
	named := map[string]string{}
	for _, v := range values {
		if s, ok := Lookup(v.Name); ok {
			named[s.Name] = v.Text // the last one counts
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
	if rule != "cost-aware" || err != nil { // whoever sets the values says what is wrong with them
		return values, "", nil
	}
	if gamma == 0 {
		return values, "", &ValueError{Setting: "speculation.gamma", Got: text,
			Allowed: "from 1 on with the rule cost-aware, whose longest draft it is; speculation.enabled = false never drafts"}
	}
	if most, err := strconv.Atoi(named["speculation.gamma_max"]); err == nil && most < gamma {
		return values, "", nil // which is refused, like any γ above gamma_max
	}
	note = fmt.Sprintf("γ %d is a ceiling: the rule cost-aware chooses from 0 to %d (gamma_max)", gamma, gamma)
	return append(values[:len(values):len(values)], Value{"speculation.gamma_max", text}), note, nil
}

// lowerGamma lowers a γ that was not named to a gamma_max that was.
func (c *Config) lowerGamma(named map[string]bool) {
	if named["speculation.gamma_max"] && !named["speculation.gamma"] {
		c.Speculation.Gamma = min(c.Speculation.Gamma, c.Speculation.GammaMax)
	}
}

// imply does both for the settings that a file gives, by name and line.
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
