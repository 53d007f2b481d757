package ref

// MatchDraws judges the draft tokens ids by what the target draws itself in each of its rows p, one more than
// there are tokens. A token is accepted iff the target drew it, and all before it, too. The first draw that
// differs follows, or the draw in the last row. The uniforms are numbered by the place in the reply, not by
// round, and masses lie in the order of ids. So neither the draft nor its distributions q change the text; q
// is only shown.
func MatchDraws(p, q []WeightRow, ids []int32, round Round) Rejection {
	n := int(round.Drafts)
	out := Rejection{P: make([]float32, n), Q: make([]float32, n)}
	place := round
	place.Round = 0
	differs := false
	for i := range n + 1 {
		total := p[i].Total()
		if !differs {
			out.Accepted, out.Commit, out.Chance = i, p[i].DrawByID(place, TargetDraw, int(round.Written)+i), 0
			if out.Commit >= 0 {
				out.Chance = p[i].Chance(out.Commit, total)
			}
			differs = i == n || out.Commit < 0 || int32(out.Commit) != ids[i]
		}
		if i < n {
			if total > 0 {
				out.P[i] = p[i].Chance(int(ids[i]), total)
			}
			if d := draftOf(q, i, ids[i], round); d.total > 0 {
				out.Q[i] = quotient(d.mass(int(ids[i])), d.total)
			}
		}
	}
	return out
}
