package engine

import (
	"fmt"
	"slices"
	"sync"

	"specula/engine/config"
	"specula/engine/event"
)

// maxPendingChanges bounds what a user can queue between two rounds; a key held down repeats faster than slow rounds pass.
const maxPendingChanges = 256

// change is one setting the user asked for.
type change struct {
	setting config.Setting
	value   string
}

// control holds the settings in force and those waiting for the next round. Any goroutine may ask for a change;
// only the goroutine that runs the reply applies them, so a round never sees half a change.
type control struct {
	mu      sync.Mutex
	inForce config.Config
	asked   config.Config // inForce with every pending change applied
	pending []change
}

func newControl(c config.Config) *control {
	return &control{inForce: c, asked: c}
}

// ask validates a change and queues it.
func (c *control) ask(name, value string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) >= maxPendingChanges {
		return fmt.Errorf("changing %s: %d changes are already waiting for the next round", name, maxPendingChanges)
	}
	next := c.asked
	if err := next.Set(name, value); err != nil {
		return err
	}
	setting, _ := config.Lookup(name) // Set has found it
	if setting.Applies == config.NextStart {
		return fmt.Errorf("changing %s: it holds from the next start on; set it in config.toml or by --%s", setting.Name, setting.Flag)
	}
	c.asked = next
	c.pending = append(c.pending, change{setting, value})
	return nil
}

// settings are those in force once every pending change has been applied.
func (c *control) settings() config.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked.Clone()
}

// apply puts pending changes in force and returns what changed, one event for each setting that ends up different.
// Between rounds only settings that may change in mid-reply are taken; round -1, before a reply, takes all.
func (c *control) apply(round int) (config.Config, []event.SettingChanged) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.inForce.Clone()
	var waiting []change
	var names []string
	for _, p := range c.pending {
		if round >= 0 && !p.setting.Live() {
			waiting = append(waiting, p)
			continue
		}
		// Two settings that bound each other may have been asked for in an order that only holds with one that waits.
		if err := c.inForce.Set(p.setting.Name, p.value); err != nil {
			waiting = append(waiting, p)
			continue
		}
		if !slices.Contains(names, p.setting.Name) {
			names = append(names, p.setting.Name)
		}
	}
	c.pending = waiting
	var changed []event.SettingChanged
	for _, name := range names {
		from, errFrom := before.Get(name)
		to, errTo := c.inForce.Get(name)
		if errFrom == nil && errTo == nil && from != to {
			changed = append(changed, event.SettingChanged{Round: round, Name: name, From: from, To: to})
		}
	}
	return c.inForce.Clone(), changed
}
