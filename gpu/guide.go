package gpu

import "specula/gpu/driver"

// Guided rounds. A pass has the rows of the reply, and then those of its companion, which reads the reply
// after the negative prompt. One launch turns the reply's rows into guided rows. Nothing restores the
// reply's rows, because whoever reads a row later, such as the inspector, wants the guided one.

// Guide appends the guidance to the tape. From here on, only the first half of the rows counts.
func (l *logits) Guide(scale float32) error {
	require(l.rows%2 == 0 && l.from == l.rows, "Guide of an odd number of rows, or after one was read")
	l.rows /= 2
	l.from = l.rows
	l.owner.tape.append(guide{l.x.memory, l.x.row(l.rows), scale, l.rows * l.x.cols})
	return l.owner.usable()
}

// guide moves n scores away from those of the companion: a score s becomes v + scale·(s − v), where v is the
// companion's score.
type guide struct {
	scores, without driver.Pointer
	scale           float32 // part of the launch and not a word of the tape: it seldom changes
	n               int
}

func (o guide) launch() launch {
	return launchOf("guide_rows", strided(o.n, 0), address(o.scores), address(o.without), real(o.scale), whole(o.n))
}
