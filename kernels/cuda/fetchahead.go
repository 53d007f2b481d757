package cuda

// MostFetched is how many ranges of memory a launch of attend_half_* can fetch for later launches, see
// src/fetch.h.
const MostFetched = 4

// LineBytes is how much one prefetch loads.
const LineBytes = 128

// Idle is the number of multiprocessors that fetch while attention has so many blocks. It is 0 if less than an eighth
// is idle: each of them would have so many lines to fetch that it could end after attention. The limit is a guess.
func Idle(multiprocessors, blocks int) int {
	if idle := multiprocessors - blocks; 8*idle >= multiprocessors {
		return idle
	}
	return 0
}

// FetchAhead is how many bytes of weights attention of few rows may fetch to the second-level cache for the products
// after it: as many as the memory delivers while attention computes, but at most half of the cache, so that they
// are still there when they are read. l2Bytes is the size of the cache. If the driver does not tell one of the two
// numbers, the number is 0, and so is the result.
func FetchAhead(l2Bytes, bytesPerMicrosecond int) int {
	// attentionMicroseconds is the time in which the memory would be idle. On an H200, attention of a row after 512
	// tokens took 10.1 µs by NVIDIA's profiler, with more instructions than today; a launch begins and ends in about
	// 2 µs of it.
	const attentionMicroseconds = 8
	return min(l2Bytes/2, attentionMicroseconds*bytesPerMicrosecond) / LineBytes * LineBytes
}
