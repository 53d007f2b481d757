package jinja

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

func intFilter(_ *runner, v Value, args arguments) (Value, error) {
	switch v := v.(type) {
	case undefined:
		return nil, v.use()
	case int:
		return v, nil
	case bool, float64:
		f, _ := number(v)
		if math.Abs(f) < 1<<62 {
			return int(f), nil
		}
	case Text:
		s := strings.TrimFunc(v.s, IsSpace)
		if i, err := strconv.Atoi(s); err == nil {
			return i, nil
		}
		if f, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(f) < 1<<62 {
			return int(f), nil
		}
	}
	return args.get(0, "default", 0), nil
}

func floatFilter(_ *runner, v Value, args arguments) (Value, error) {
	if u, ok := v.(undefined); ok {
		return nil, u.use()
	}
	if f, ok := number(v); ok {
		return f, nil
	}
	if t, ok := v.(Text); ok {
		if f, err := strconv.ParseFloat(strings.TrimFunc(t.s, IsSpace), 64); err == nil {
			return f, nil
		}
	}
	return args.get(0, "default", 0.0), nil
}

func absFilter(_ *runner, v Value, _ arguments) (Value, error) {
	if i, ok := integer(v); ok {
		return max(i, -i), nil
	}
	if f, ok := v.(float64); ok {
		return math.Abs(f), nil
	}
	return nil, fmt.Errorf("%s has no absolute value", kind(v))
}

func roundFilter(_ *runner, v Value, args arguments) (Value, error) {
	f, ok := number(v)
	if !ok {
		return nil, fmt.Errorf("cannot round %s", kind(v))
	}
	precision, err := args.integer(0, "precision", 0)
	if err != nil {
		return nil, err
	}
	method, ok := args.get(1, "method", Literal("common")).(Text)
	round := map[string]func(float64) float64{"common": math.RoundToEven, "ceil": math.Ceil, "floor": math.Floor}[method.s]
	if !ok || round == nil || precision < 0 || precision > 15 {
		return nil, errors.New("precision must be 0 to 15 and method common, ceil or floor")
	}
	scale := math.Pow10(precision)
	return round(f*scale) / scale, nil
}

func sumFilter(r *runner, v Value, args arguments) (Value, error) {
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	sum := args.get(1, "start", 0)
	attribute := args.get(0, "attribute", nil)
	for _, item := range items {
		if attribute != nil {
			if item, err = r.item(item, attribute); err != nil {
				return nil, err
			}
		}
		if sum, err = r.add(sum, item); err != nil {
			return nil, err
		}
	}
	return sum, nil
}
