package jinja

import (
	"time"
)

// Limits of a template. Published templates have under 20 KiB and take at most a few thousand steps per
// message, far below the limits. The counts bound the memory of a rendering. The clock bounds its time: it
// is read every 256 steps.
const (
	maxSourceBytes = 256 << 10
	maxTokens      = 50_000
	maxTagTokens   = 2_000 // tokens between {{ and }} or {% and %}
	maxNesting     = 64    // brackets in an expression; statements inside statements

	maxSteps    = 1_000_000
	maxDepth    = 1_500    // nested evaluations, macros included
	maxText     = 4 << 20  // bytes of one text, so also of the output
	maxAlloc    = 20 << 20 // bytes of all texts, lists, dicts and scopes ever made, roughly
	maxScan     = 96 << 20 // bytes read by searches and comparisons
	maxDuration = 900 * time.Millisecond
)

// budget is what a rendering has used up. All counts but depth only grow, even when memory is
// freed, so they bound memory and work. depth is the current level of nesting.
type budget struct {
	steps, depth, allocBytes, scanBytes int

	now      func() time.Time
	deadline time.Time
}

// step counts one evaluated node, one iteration, or one visited element. Like alloc, allocText,
// scan and enter, it reports whether the rendering may go on; if not, r.err says why.
func (r *runner) step() bool {
	if r.steps++; r.steps > maxSteps {
		r.fail("the template takes more than %d steps", maxSteps)
	} else if r.steps%256 == 0 && r.now().After(r.deadline) {
		r.fail("the template runs for more than %v", maxDuration)
	}
	return r.err == nil
}

// alloc counts memory before it is allocated.
func (r *runner) alloc(bytes int) bool {
	if bytes < 0 || bytes > maxAlloc-r.allocBytes {
		r.fail("the template makes more than %d MiB of text and lists", maxAlloc>>20)
		return false
	}
	r.allocBytes += bytes
	return r.err == nil
}

// allocText counts a text of that many bytes before it is made.
func (r *runner) allocText(bytes int) bool {
	if bytes < 0 || bytes > maxText {
		r.fail("the template makes a text of more than %d MiB", maxText>>20)
		return false
	}
	return r.alloc(bytes + 32)
}

// scan counts bytes that are searched or compared.
func (r *runner) scan(bytes int) bool {
	if r.scanBytes += bytes; r.scanBytes > maxScan {
		r.fail("the template searches through more than %d MiB of text", maxScan>>20)
	}
	return r.err == nil
}

// enter counts a level of nesting. If it returns true, the caller calls leave, which takes the level off
// again.
func (r *runner) enter() bool {
	if r.depth >= maxDepth {
		r.fail("the template nests more than %d levels deep, perhaps by a macro that calls itself", maxDepth)
		return false
	}
	if !r.step() {
		return false
	}
	r.depth++
	return true
}

func (r *runner) leave() { r.depth-- }
