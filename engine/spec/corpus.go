package spec

import "slices"

// maxCorpus is the largest number of tokens that a Corpus keeps.
const maxCorpus = 1 << 16

// Corpus holds what a session wrote before: finished contexts, each with prompt and reply. When a
// later context continues an earlier one, only the later one is kept. Proposers that copy earlier
// text search the corpus for text that has left the context or belongs to another chat. The corpus
// stays in memory and ends with its session. When it is full, the older half is forgotten at once.
//
// A nil *Corpus has no texts.
type Corpus struct {
	texts  [][]int32 // oldest first
	serial []int     // (len(texts)), the number of each text, rising
	added  int       // number of texts that were ever added
	tokens int
	most   int // tokens
	hidden bool
}

// NewCorpus returns an empty corpus.
func NewCorpus() *Corpus { return &Corpus{most: maxCorpus} }

// Add keeps a copy of a finished context; of a longer one than maxCorpus/2 tokens, only the last
// maxCorpus/2. The copy replaces the texts that the context continues. Add does nothing if a text
// already begins with the context.
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

// Clear forgets everything.
func (c *Corpus) Clear() { c.texts, c.serial, c.tokens = nil, nil, 0 }

// Hide(true) hides all texts from proposers that begin a reply from now on, until Hide(false).
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
