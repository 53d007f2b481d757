package jinja

import (
	"errors"
	"fmt"

	"github.com/nikolalohinski/gonja/v2/nodes"
)

// getSlice is value[start:end:step].
func (r *runner) getSlice(n *nodes.GetSlice) (Value, error) {
	v, err := r.eval(n.Node)
	if err != nil {
		return nil, err
	}
	var bounds [3]*int
	for i, node := range []nodes.Node{n.Start, n.End, n.Step} {
		if node == nil {
			continue
		}
		bound, err := r.eval(node)
		if err != nil {
			return nil, err
		}
		if bound == nil {
			continue
		}
		number, ok := integer(bound)
		if !ok {
			return nil, fmt.Errorf("a slice needs integers, not %s", kind(bound))
		}
		bounds[i] = &number
	}
	step := 1
	if bounds[2] != nil {
		step = *bounds[2]
	}
	if step == 0 {
		return nil, errors.New("the step of a slice is zero")
	}
	switch v := v.(type) {
	case undefined:
		return nil, v.use()
	case *List:
		return r.sliceList(v, bounds[0], bounds[1], step)
	case Text:
		return r.sliceText(v, bounds[0], bounds[1], step)
	}
	return nil, fmt.Errorf("%s cannot be sliced", kind(v))
}

func (r *runner) sliceList(l *List, start, end *int, step int) (Value, error) {
	first, count := sliceBounds(len(l.items), start, end, step)
	if err := r.alloc(48 + 16*count); err != nil {
		return nil, err
	}
	cut := &List{items: make([]Value, count), tuple: l.tuple}
	for i := range cut.items {
		cut.items[i] = l.items[first+i*step]
	}
	return cut, nil
}

func (r *runner) sliceText(t Text, start, end *int, step int) (Value, error) {
	if err := r.scan(2 * len(t.s)); err != nil {
		return nil, err
	}
	first, count := sliceBounds(t.runes(), start, end, step)
	if step == 1 {
		return r.made(t.sliceRunes(first, first+count))
	}
	characters, err := r.iterate(t)
	if err != nil {
		return nil, err
	}
	picked := make([]Text, count)
	for i := range picked {
		picked[i] = characters[first+i*step].(Text)
	}
	return r.join(Text{}, picked)
}

// sliceBounds returns the first index of a slice and its number of elements.
func sliceBounds(length int, start, end *int, step int) (first, count int) {
	low, high := 0, length // range of a bound
	first, stop := 0, length
	if step < 0 {
		low, high = -1, length-1
		first, stop = length-1, -1
	}
	clamp := func(i int) int {
		if i < 0 {
			i += length
		}
		return min(max(i, low), high)
	}
	if start != nil {
		first = clamp(*start)
	}
	if end != nil {
		stop = clamp(*end)
	}
	distance := stop - first
	if distance == 0 || (distance > 0) != (step > 0) {
		return 0, 0
	}
	count = distance / step
	if distance%step != 0 {
		count++
	}
	return first, count
}
