package jinja

import (
	"fmt"
	"time"
)

// Limits of a template. Published ones have under 20 KiB and take a few thousand steps a message or less; these
// figures leave room and still end the worst of them within a second and 64 MiB.
const (
	maxSourceBytes = 256 << 10
	maxTokens      = 50_000
	maxTagTokens   = 2_000 // tokens between {{ and }} or {% and %}
	maxNesting     = 64    // brackets in an expression, statements in statements

	maxSteps    = 1_000_000
	maxDepth    = 1_500    // of evaluation, macros included
	maxText     = 4 << 20  // bytes of one text, so also of the output
	maxAlloc    = 20 << 20 // bytes of all texts and lists ever made
	maxScan     = 96 << 20 // bytes looked at by searches and comparisons
	maxDuration = 900 * time.Millisecond
)

// budget is what is left to a rendering. All counts only grow, so their sums bound memory and time whatever is freed.
type budget struct {
	steps, depth, allocBytes, scanBytes int

	now      func() time.Time
	deadline time.Time
}

func newBudget(now func() time.Time) *budget {
	return &budget{now: now, deadline: now().Add(maxDuration)}
}

// step counts one node evaluated, one iteration or one element visited.
func (b *budget) step() error {
	if b.steps++; b.steps > maxSteps {
		return fmt.Errorf("the template takes more than %d steps", maxSteps)
	}
	if b.steps%256 == 0 && b.now().After(b.deadline) {
		return fmt.Errorf("the template runs for more than %v", maxDuration)
	}
	return nil
}

// alloc counts memory before it is taken.
func (b *budget) alloc(bytes int) error {
	if bytes < 0 || bytes > maxAlloc-b.allocBytes {
		return fmt.Errorf("the template makes more than %d MiB of text and lists", maxAlloc>>20)
	}
	b.allocBytes += bytes
	return nil
}

// allocText counts a text of so many bytes before it is made.
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

// enter counts a level of nesting; leave must follow if it succeeds.
func (b *budget) enter() error {
	if b.depth++; b.depth > maxDepth {
		b.depth--
		return fmt.Errorf("the template nests more than %d levels deep, perhaps by a macro that calls itself", maxDepth)
	}
	return b.step()
}

func (b *budget) leave() { b.depth-- }
