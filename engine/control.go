package engine

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	"specula/engine/config"
	"specula/engine/event"
)

// change is one setting that the user has changed.
type change struct {
	setting config.Setting
	value   string
}

// control holds the settings in force and the changes that wait for the next round or reply. Any
// goroutine may ask for a change. Only the goroutine that writes the reply applies changes, so a
// round never sees half of one.
type control struct {
	mu      sync.Mutex
	inForce config.Config // used only by the goroutine that writes the reply
	asked   config.Config // inForce with every pending change applied
	asks    int           // how often the field asked was changed
	pending []change
}

func newControl(c config.Config) *control {
	return &control{inForce: c, asked: c}
}

// ask validates changes by the rules of the settings and by check, and queues them. After an error
// nothing is queued. To validate a form may take seconds; other goroutines can read and change
// settings meanwhile.
func (c *control) ask(values []config.Value, check func(from, to config.Config) error) error {
	for {
		from, asks := c.soFar()
		next, values, err := valid(from, values, check)
		if err != nil {
			return err
		}
		if c.queue(values, next, asks) {
			return nil
		}
		// Another change was queued meanwhile, so check again: two changes may each be valid alone, but
		// not together.
	}
}

// soFar returns the settings with all pending changes, and how many changes were asked for so far.
func (c *control) soFar() (config.Config, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked, c.asks
}

// valid applies changes, given as values, to the settings from. It returns the new settings, and the changes
// together with those that follow from them.
func valid(
	from config.Config, values []config.Value, check func(from, to config.Config) error,
) (config.Config, []config.Value, error) {
	next := from
	if err := next.SetAll(values...); err != nil {
		return next, nil, err
	}
	for _, v := range values {
		if s, _ := config.Lookup(v.Name); s.Applies == config.NextStart { // SetAll has checked the name
			return next, nil, fmt.Errorf("changing %s: it holds from the next start on; set it in config.toml or by --%s", s.Name, s.Flag)
		}
	}
	if err := check(from, next); err != nil {
		return next, nil, err
	}
	if lowered := next.Speculation.Gamma; lowered != from.Speculation.Gamma { // lowering gamma_max lowers gamma, too
		values = append(values[:len(values):len(values)], config.Value{Name: "speculation.gamma", Text: strconv.Itoa(lowered)})
	}
	return next, values, nil
}

// queue adds changes to the pending ones. next are the settings with these changes. If other changes were
// queued after soFar returned asks, queue does nothing and returns false.
func (c *control) queue(values []config.Value, next config.Config, asks int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asks != asks {
		return false
	}
	c.asked = next
	c.asks++
	for _, v := range values {
		setting, _ := config.Lookup(v.Name)
		// Only the last value of a setting counts. Many can come within one slow round, for example from
		// a key that is held down.
		c.pending = slices.DeleteFunc(c.pending, func(p change) bool { return p.setting.Name == setting.Name })
		c.pending = append(c.pending, change{setting, v.Text})
	}
	return true
}

// settings returns the settings with all pending changes applied.
func (c *control) settings() config.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked.Clone()
}

// apply puts pending changes into force: all of them before a reply (round −1), and between rounds only those
// of settings that may change in mid-reply. If one of these is valid only together with a change that must wait
// for the next reply, apply puts no change into force. It returns the settings in force, and an event for each
// setting with a new value. If it is called between rounds and no change is pending, it returns an empty Config
// and no events.
func (c *control) apply(round int) (config.Config, []event.SettingChanged) {
	pending := c.waiting()
	if round >= 0 && len(pending) == 0 {
		return config.Config{}, nil // in nearly every round nothing waits, and copying the settings takes time
	}
	before := c.inForce.Clone() // only this goroutine writes inForce
	var taken []change
	var values []config.Value
	for _, p := range pending {
		if round < 0 || p.setting.Live() {
			taken = append(taken, p)
			values = append(values, config.Value{Name: p.setting.Name, Text: p.value})
		}
	}
	if err := c.inForce.SetAll(values...); err != nil {
		// A change may be valid only together with one that waits for the next reply. Then all changes wait.
		return c.inForce.Clone(), nil
	}
	c.remove(taken)
	var changed []event.SettingChanged
	for _, p := range taken {
		from, errFrom := before.Get(p.setting.Name)
		to, errTo := c.inForce.Get(p.setting.Name)
		if errFrom == nil && errTo == nil && from != to {
			changed = append(changed, event.SettingChanged{Round: round, Name: p.setting.Name, From: from, To: to})
		}
	}
	return c.inForce.Clone(), changed
}

// waiting returns the changes that are not in force yet.
func (c *control) waiting() []change {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.pending)
}

// remove drops the pending changes that are in force now (taken). If the user has meanwhile asked for another
// value of such a setting, that newer change stays.
func (c *control) remove(taken []change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = slices.DeleteFunc(c.pending, func(p change) bool {
		return slices.ContainsFunc(taken, func(t change) bool { return t.setting.Name == p.setting.Name && t.value == p.value })
	})
}
