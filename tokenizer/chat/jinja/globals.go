package jinja

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// globals are the functions that templates may call.
func (r *runner) globals() map[string]Value {
	return map[string]Value{
		"range":           function(r.rangeOf),
		"namespace":       function(r.newNamespace),
		"dict":            function(r.newDict),
		"raise_exception": function(r.raise),
		"strftime_now":    function(r.strftimeNow),
	}
}

func (r *runner) rangeOf(args arguments) (Value, error) {
	bounds := make([]int, len(args.positional))
	for i := range bounds {
		var err error
		if bounds[i], err = args.integer(i, "of range", 0); err != nil {
			return nil, err
		}
	}
	start, stop, step := 0, 0, 1
	switch len(bounds) {
	case 1:
		stop = bounds[0]
	case 2:
		start, stop = bounds[0], bounds[1]
	case 3:
		start, stop, step = bounds[0], bounds[1], bounds[2]
	default:
		return nil, errors.New("range takes one to three integers")
	}
	if step == 0 {
		return nil, errors.New("the step of range is zero")
	}
	if max(magnitude(start), magnitude(stop), magnitude(step)) > 1<<40 {
		return nil, r.alloc(-1)
	}
	count := 0
	if distance := stop - start; distance != 0 && (distance > 0) == (step > 0) {
		count = distance / step
		if distance%step != 0 {
			count++
		}
	}
	if count > maxSteps {
		return nil, fmt.Errorf("range of %d numbers; at most %d are allowed", count, maxSteps)
	}
	if err := r.alloc(48 + 16*count); err != nil {
		return nil, err
	}
	list := &List{items: make([]Value, count)}
	for i := range list.items {
		list.items[i] = start + i*step
	}
	return list, nil
}

func (r *runner) newNamespace(args arguments) (Value, error) {
	ns := &namespace{attributes: map[string]Value{}}
	for name, v := range args.named {
		ns.attributes[name] = v
	}
	return ns, r.alloc(64 + 64*len(args.named))
}

func (r *runner) newDict(args arguments) (Value, error) {
	d := &Dict{}
	for _, name := range slices.Sorted(maps.Keys(args.named)) {
		d.Set(Literal(name), args.named[name])
	}
	return d, r.alloc(64 + 128*len(args.named))
}

func (r *runner) raise(args arguments) (Value, error) {
	message, err := r.str(args.get(0, "message", Text{}))
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("the template refuses this conversation: %.300s", message.s)
}

// strftimeNow formats the time as C's strftime does.
func (r *runner) strftimeNow(args arguments) (Value, error) {
	format, err := args.text(0, "format")
	if err != nil {
		return nil, err
	}
	if len(format.s) > 256 {
		return nil, errors.New("the format of a time is too long")
	}
	now := r.now()
	var out strings.Builder
	for i := 0; i < len(format.s); i++ {
		if format.s[i] != '%' || i+1 == len(format.s) {
			out.WriteByte(format.s[i])
			continue
		}
		i++
		text, ok := strftime(now, format.s[i])
		if !ok {
			return nil, fmt.Errorf("%%%c in the format of a time is not supported", format.s[i])
		}
		out.WriteString(text)
	}
	if format.runs != nil {
		return Data(out.String()), nil
	}
	return Literal(out.String()), nil
}

func strftime(t time.Time, directive byte) (string, bool) {
	switch directive {
	case '%':
		return "%", true
	case 'j':
		return fmt.Sprintf("%03d", t.YearDay()), true
	}
	layout, ok := map[byte]string{
		'Y': "2006", 'y': "06", 'm': "01", 'B': "January", 'b': "Jan", 'h': "Jan", 'd': "02", 'e': "_2", 'A': "Monday", 'a': "Mon",
		'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'F': "2006-01-02", 'T': "15:04:05", 'D': "01/02/06", 'Z': "MST", 'z': "-0700",
	}[directive]
	return t.Format(layout), ok
}
