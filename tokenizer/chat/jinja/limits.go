package jinja

import (
	"fmt"
	"time"
)

// Limits of a template. Published templates have under 20 KiB and take at most a few thousand
// steps per message. These limits leave room above that, and still end the worst template within a
// second and 64 MiB.
const (
	maxSourceBytes = 256 << 10
	maxTokens      = 50_000
	maxTagTokens   = 2_000 // tokens between {{ and }} or {% and %}
	maxNesting     = 64    // brackets in an expression; statements inside statements

	maxSteps    = 1_000_000
	maxDepth    = 1_500    // of evaluation, macros included
	maxText     = 4 << 20  // bytes of one text, so also of the output
	maxAlloc    = 20 << 20 // bytes of all texts and lists ever made
	maxScan     = 96 << 20 // bytes read by searches and comparisons
	maxDuration = 900 * time.Millisecond
)

// budget is what a rendering has used up. The counts only grow, even when memory is freed, so they
// bound memory and time.
type budget struct {
	steps, depth, allocBytes, scanBytes int

	now      func() time.Time
	deadline time.Time
}

func newBudget(now func() time.Time) *budget {
	return &budget{now: now, deadline: now().Add(maxDuration)}
}

// step counts one evaluated node, one iteration, or one visited element.
func (b *budget) step() error {
	if b.steps++; b.steps > maxSteps {
		return fmt.Errorf("the template takes more than %d steps", maxSteps)
	}
	if b.steps%256 == 0 && b.now().After(b.deadline) {
		return fmt.Errorf("the template runs for more than %v", maxDuration)
	}
	return nil
}

// alloc counts memory before it is allocated.
func (b *budget) alloc(bytes int) error {
	if bytes < 0 || bytes > maxAlloc-b.allocBytes {
		return fmt.Errorf("the template makes more than %d MiB of text and lists", maxAlloc>>20)
	}
	b.allocBytes += bytes
	return nil
}

// allocText counts a text of that many bytes before it is made.
func (b *budget) allocText(bytes int) error {
	if bytes < 0 || bytes > maxText {
		return fmt.Errorf("the template makes a text of more than %d MiB", maxText>>20)
	}
	return b.alloc(bytes + 32)
}

// scan counts bytes that are searched or compared.
func (b *budget) scan(bytes int) error {
	if b.scanBytes += bytes; b.scanBytes > maxScan {
		return fmt.Errorf("the template searches through more than %d MiB of text", maxScan>>20)
	}
	return nil
}

// enter counts a level of nesting. If it succeeds, leave must follow.
func (b *budget) enter() error {
	if b.depth++; b.depth > maxDepth {
		b.depth--
		return fmt.Errorf("the template nests more than %d levels deep, perhaps by a macro that calls itself", maxDepth)
	}
	return b.step()
}

func (b *budget) leave() { b.depth-- }
