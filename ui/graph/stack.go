package graph

import "math"

// Part is a piece of a stacked column.
type Part struct {
	Kind int     // what the piece stands for, from 1; 0 is empty
	Size float64 // height in cells
}

// Cell is a character cell of a stacked column. The lowest Eighths eighths are of kind Lower, the
// rest is of kind Upper.
type Cell struct {
	Lower, Upper, Eighths int
}

// Stack returns the h cells of a column, the top one first. The parts lie one on another, from the bottom
// up. Parts above the top are cut off. A cell in which more than two parts lie shows two: the
// smallest ones are added to a part beside them.
func Stack(parts []Part, h int) []Cell {
	levels := make([]int, 8*max(h, 0)) // the kind at each eighth of a cell, from the bottom
	sum, at := 0.0, 0
	for _, p := range parts {
		if !(p.Size > 0) {
			continue
		}
		sum += p.Size
		for end := min(math.Round(8*sum), float64(len(levels))); at < int(end); at++ {
			levels[at] = p.Kind
		}
	}
	cells := make([]Cell, max(h, 0))
	for y := range cells {
		from := 8 * (h - 1 - y)
		cells[y] = cellOf([8]int(levels[from : from+8]))
	}
	return cells
}

// cellOf returns the cell whose eighths have the given kinds, from the bottom up.
func cellOf(kinds [8]int) Cell {
	type run struct{ kind, n int }
	var runs []run
	for _, k := range kinds {
		if len(runs) > 0 && runs[len(runs)-1].kind == k {
			runs[len(runs)-1].n++
		} else {
			runs = append(runs, run{k, 1})
		}
	}
	for len(runs) > 2 { // the smallest run joins the run below it, or above if it is the lowest
		least := 0
		for i := range runs {
			if runs[i].n < runs[least].n {
				least = i
			}
		}
		into := max(least-1, 0)
		if least == 0 {
			into = 1
		}
		runs[into].n += runs[least].n
		runs = append(runs[:least], runs[least+1:]...)
	}
	if len(runs) == 1 {
		return Cell{Lower: runs[0].kind, Upper: runs[0].kind, Eighths: 8}
	}
	return Cell{Lower: runs[0].kind, Upper: runs[1].kind, Eighths: runs[0].n}
}

// Rise returns the sign of a cell that is filled from below, by so many eighths of its height.
func Rise(eighths int) string {
	if eighths >= 8 {
		return "█"
	}
	return verticalEighths[max(eighths, 0)]
}
