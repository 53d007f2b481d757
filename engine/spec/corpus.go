package spec

import "slices"

// maxCorpus is the largest number of tokens that a Corpus keeps.
const maxCorpus = 1 << 16

// Corpus holds the finished contexts of a session, each with prompt and reply. If a later context
// continues an earlier one, only the later one is kept. Proposers that copy text search the corpus for
// text that the current context lacks. The corpus is in memory only and ends with its session. When it
// is full, the older half is dropped at once.
//
// A nil *Corpus has no texts.
type Corpus struct {
	texts  [][]int32 // oldest first
	serial []int     // for each text: its number, counted from 1, among all texts that were ever added
	added  int       // texts ever added
	tokens int       // number of tokens in texts
	most   int       // the largest number of tokens that the corpus may hold
	hidden bool
}

// NewCorpus returns an empty corpus.
func NewCorpus() *Corpus { return &Corpus{most: maxCorpus} }

// Add keeps a copy of a finished context, or of its last most/2 tokens if it is longer. The copy
// replaces the texts that the context continues. Add does nothing if a kept text begins with the
// context.
func (c *Corpus) Add(context []int32) {
	if len(context) > c.most/2 {
		context = context[len(context)-c.most/2:]
	}
	for i := 0; i < len(c.texts); i++ {
		known := c.texts[i]
		if begins(known, context) {
			return
		}
		if begins(context, known) {
			c.remove(i)
			i--
		}
	}
	c.added++
	c.texts, c.serial = append(c.texts, slices.Clone(context)), append(c.serial, c.added)
	if c.tokens += len(context); c.tokens <= c.most {
		return
	}
	for c.tokens > c.most/2 {
		c.remove(0)
	}
}

// Clear drops all texts.
func (c *Corpus) Clear() { c.texts, c.serial, c.tokens = nil, nil, 0 }

// Hide hides all texts from proposers that begin a reply, until Hide(false).
func (c *Corpus) Hide(hide bool) { c.hidden = hide }

func (c *Corpus) remove(i int) {
	c.tokens -= len(c.texts[i])
	c.texts, c.serial = slices.Delete(c.texts, i, i+1), slices.Delete(c.serial, i, i+1)
}

// since returns the texts that were added after the first n; nil while the corpus is hidden.
func (c *Corpus) since(n int) [][]int32 {
	if c == nil || c.hidden {
		return nil
	}
	i, _ := slices.BinarySearch(c.serial, n+1)
	return c.texts[i:]
}

// count is the number of texts that were ever added; 0 while the corpus is hidden.
func (c *Corpus) count() int {
	if c == nil || c.hidden {
		return 0
	}
	return c.added
}

// begins reports whether text begins with start.
func begins(text, start []int32) bool {
	return len(text) >= len(start) && slices.Equal(text[:len(start)], start)
}
