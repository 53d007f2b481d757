package config

import "strings"

// Nearest returns the candidate with the smallest edit distance to name, the first of equals,
// or "" when even that one differs in more than a third of its letters.
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

// editDistance is Levenshtein's: insertions, deletions and substitutions of bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
