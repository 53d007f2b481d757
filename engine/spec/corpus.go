package spec

import "slices"

// maxCorpus bounds the tokens that a Corpus keeps.
const maxCorpus = 1 << 16

// Corpus is what a session wrote before: the finished contexts, prompt and reply together, that no later one continues. Proposers
// that copy from earlier text look there for what has left the context or belongs to another chat. It stays in memory and ends with
// its session. When it is full the older half is forgotten at once.
type Corpus struct {
	texts  [][]int32 // oldest first
	serial []int     // of each text, rising
	added  int       // texts so far
	tokens int
	most   int
	hidden bool
}

// NewCorpus returns an empty corpus.
func NewCorpus() *Corpus { return &Corpus{most: maxCorpus} }

// Add takes a finished context, of which it keeps a copy. One that it continues is replaced by it.
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

// Hide makes proposers that begin from now on find nothing here, until it is called with false.
func (c *Corpus) Hide(hide bool) { c.hidden = hide }

func (c *Corpus) remove(i int) {
	c.tokens -= len(c.texts[i])
	c.texts, c.serial = slices.Delete(c.texts, i, i+1), slices.Delete(c.serial, i, i+1)
}

// since returns the texts added behind the first n.
func (c *Corpus) since(n int) [][]int32 {
	if c == nil || c.hidden {
		return nil
	}
	i, _ := slices.BinarySearch(c.serial, n+1)
	return c.texts[i:]
}

// count is the number of texts ever added.
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
