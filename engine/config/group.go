package config

// Group is a group of settings, under which help lists their flags.
type Group struct {
	Name     string
	sections []string // names of sections of config.toml; each section belongs to one group
}

// Groups returns the groups in the order in which help shows them.
func Groups() []Group {
	return []Group{
		{"models", []string{"model", "context"}},
		{"sampling", []string{"sampling", "penalties", "tokens", "guidance"}},
		{"speculation", []string{"speculation"}},
		{"form of the reply", []string{"constraint"}},
		{"device", []string{"device"}},
		{"a server", []string{"remote"}},
		{"screen", []string{"ui"}},
	}
}

// Settings returns the settings of the group, in the order of its sections.
func (g Group) Settings() []Setting {
	var list []Setting
	for _, section := range g.sections {
		for _, s := range table {
			if s.Section() == section {
				list = append(list, s)
			}
		}
	}
	return list
}
