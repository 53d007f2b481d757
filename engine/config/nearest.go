package config

import "strings"

// Nearest returns the candidate with the smallest edit distance to name; if several are equally near, the
// first. The distance may be at most a third of the candidate's length, but one edit is always allowed. If no
// candidate is that near, or name has more than 64 bytes, Nearest returns "". name may have any case;
// candidates are lower case.
func Nearest(name string, candidates []string) string {
	if len(name) > 64 {
		return ""
	}
	best, bestDistance := "", 0
	for _, c := range candidates {
		d := editDistance(strings.ToLower(name), c)
		if d <= max(1, len(c)/3) && (best == "" || d < bestDistance) {
			best, bestDistance = c, d
		}
	}
	return best
}

// editDistance returns how many bytes must be inserted, deleted, substituted, or swapped with a
// neighbour to turn a into b.
func editDistance(a, b string) int {
	d := make([][]int, len(a)+1) // d[i][j]: distance from the first i bytes of a to the first j of b
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
