package gpu

import "specula/gpu/driver"

// recording is what a backend remembers about all tapes with the same steps.
type recording struct {
	steps   []step
	graph   driver.Graph
	state   recordingState
	lastUse int // recordings.uses when a tape used it last
}

type recordingState int

const (
	seen     recordingState = iota // a tape came once: not captured, because many tapes never come again
	captured                       // graph replays the steps
	refused                        // the driver could not capture the steps; they are launched one by one
)

// mostRecordings is the largest number of recordings that are kept. The one unused for longest gives
// way to a new one.
const mostRecordings = 96

// recordings are the tapes that a backend saw lately, by hash, with their graphs if they were captured.
// Use them on the device's thread only.
type recordings struct {
	byHash map[uint64]*recording
	uses   int // calls of find so far
}

// find returns the recording of a tape. If there is none, it makes one, and isNew is true.
func (r *recordings) find(d device, t *tape) (found *recording, isNew bool, err error) {
	r.uses++
	h := t.hash()
	found = r.byHash[h]
	if found != nil && t.same(found.steps) {
		found.lastUse = r.uses
		return found, false, nil
	}
	if found != nil { // another tape with the same hash: replace it
		err = found.free(d)
	} else if len(r.byHash) >= mostRecordings {
		err = r.forgetOldest(d)
	}
	found = &recording{steps: append([]step(nil), t.steps...), lastUse: r.uses}
	r.byHash[h] = found
	return found, true, err
}

func (r *recordings) forgetOldest(d device) error {
	var oldest uint64
	for h, x := range r.byHash {
		if o := r.byHash[oldest]; o == nil || x.lastUse < o.lastUse {
			oldest = h
		}
	}
	err := r.byHash[oldest].free(d)
	delete(r.byHash, oldest)
	return err
}

func (r *recordings) free(d device) (err error) {
	for _, x := range r.byHash {
		if failed := x.free(d); err == nil {
			err = failed
		}
	}
	clear(r.byHash)
	return err
}

func (x *recording) free(d device) error {
	if x.state != captured {
		return nil
	}
	x.state = seen
	return d.FreeGraph(x.graph)
}
