package sample

// ranking hands out ids from the best score down. It is a heap and not a sorted list, because top-p
// usually keeps only a few of a hundred thousand ids. To sort the others would be most of the work of a
// token.
type ranking struct {
	ids    []int32 // ids[:live] is a heap; ids[live:] are the ids that nth has handed out, the best last
	live   int
	logits []float32
}

// rank starts a ranking of the ids whose weight is above 0.
func (s *Sampler) rank(weights []float64, logits []float32) ranking {
	if cap(s.ids) < len(logits) {
		s.ids = make([]int32, 0, len(logits))
	}
	ids := s.ids[:0]
	for i := range logits {
		if weights[i] > 0 {
			ids = append(ids, int32(i))
		}
	}
	r := ranking{ids: ids, live: len(ids), logits: logits}
	for i := len(ids)/2 - 1; i >= 0; i-- {
		r.sink(i)
	}
	return r
}

// nth returns the id at place i of the ranking, from 0; i < len(ids).
func (r *ranking) nth(i int) int32 {
	for len(r.ids)-r.live <= i {
		r.live--
		r.ids[0], r.ids[r.live] = r.ids[r.live], r.ids[0]
		r.sink(0)
	}
	return r.ids[len(r.ids)-1-i]
}

// allBut returns every id except the n best, in no particular order.
func (r *ranking) allBut(n int) []int32 {
	if n > 0 {
		r.nth(n - 1)
	}
	return r.ids[:len(r.ids)-n]
}

func (r *ranking) sink(i int) {
	for {
		best := i
		for child := 2*i + 1; child <= 2*i+2 && child < r.live; child++ {
			if r.better(r.ids[child], r.ids[best]) {
				best = child
			}
		}
		if best == i {
			return
		}
		r.ids[i], r.ids[best] = r.ids[best], r.ids[i]
		i = best
	}
}

func (r *ranking) better(a, b int32) bool {
	if r.logits[a] != r.logits[b] {
		return r.logits[a] > r.logits[b]
	}
	return a < b
}
