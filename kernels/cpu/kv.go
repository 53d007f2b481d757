package cpu

import "fmt"

// KV holds the keys and values of one layer, separately for each head. Keys are (Heads, tokens/16,
// HeadDim, 16), so that a register holds the same number of 16 keys. Values are (Heads, tokens,
// HeadDim). All numbers have one of the types below.
type KV struct {
	kept           KVType
	heads, headDim int
	tokens         int // capacity, a multiple of 16

	// Only the two slices of the KV's type are used.
	keys, values           []float32
	halfKeys, halfValues   []uint16
	quantKeys, quantValues []byte // in the layout of kv_quantized.go
}

// KVType is the type in which a KV keeps its numbers.
type KVType int

// The types that attention supports.
const (
	KVF32 KVType = iota // as they are
	KVF16               // rounded to half precision
	// One byte per number, and a scale in half precision per 32 numbers of a head. The head size
	// must be a multiple of 32.
	KVQ8_0
)

// Bytes returns the memory of n numbers of a head.
func (t KVType) Bytes(n int) int {
	switch t {
	case KVF16:
		return 2 * n
	case KVQ8_0:
		return n / Block * blockBytesQ8_0
	}
	return 4 * n
}

// KeysPerBlock is the number of keys in a block. A KV has room for whole blocks.
const KeysPerBlock = lanes

func roundUp(n, step int) int { return (n + step - 1) / step * step }

// NewKV allocates room for this many tokens.
func NewKV(tokens, heads, headDim int, kept KVType) *KV {
	kv := &KV{kept: kept, heads: heads, headDim: headDim, tokens: roundUp(tokens, lanes)}
	size := kv.tokens * heads * headDim
	switch kept {
	case KVF16:
		kv.halfKeys, kv.halfValues = make([]uint16, size), make([]uint16, size)
	case KVQ8_0:
		if headDim%Block != 0 {
			panic(fmt.Sprintf("cpu: heads of %d numbers cannot be kept in blocks of %d", headDim, Block))
		}
		kv.quantKeys, kv.quantValues = make([]byte, kept.Bytes(size)), make([]byte, kept.Bytes(size))
	default:
		kv.keys, kv.values = make([]float32, size), make([]float32, size)
	}
	return kv
}

// at returns where the numbers of a token begin in a head: of its key, whose numbers are 16 apart,
// and of its value.
func (kv *KV) at(head, token int) (key, value int) {
	first := head * kv.tokens
	return (first+token/lanes*lanes)*kv.headDim + token%lanes, (first + token) * kv.headDim
}

// Store writes a token's keys and values, HeadDim numbers of each per head, starting at the given
// head.
func (kv *KV) Store(token, head int, keys, values []float32) {
	for ; len(keys) > 0; keys, values = keys[kv.headDim:], values[kv.headDim:] {
		kv.storeHead(token, head, keys[:kv.headDim], values[:kv.headDim])
		head++
	}
}

func (kv *KV) storeHead(token, head int, k, v []float32) {
	keyAt, valueAt := kv.at(head, token)
	switch kv.kept {
	case KVF16:
		var row [MaxHeadDim]uint16
		narrow(row[:], k)
		scatter(kv.halfKeys[keyAt:], row[:kv.headDim])
		narrow(kv.halfValues[valueAt:], v)
	case KVQ8_0:
		storeQuantizedKey(kv.quantKeys[quantizedAt(keyAt-token%lanes):], k, token%lanes)
		storeQuantizedValue(kv.quantValues[quantizedAt(valueAt):], v)
	default:
		scatter(kv.keys[keyAt:], k)
		copy(kv.values[valueAt:], v)
	}
}

func scatter[N any](dst, row []N) {
	for d, v := range row {
		dst[d*lanes] = v
	}
}

// Load reads a token's key and value, as rounded by the type.
func (kv *KV) Load(token int, key, value []float32) {
	for h := range kv.heads {
		keyAt, valueAt := kv.at(h, token)
		k, v := key[h*kv.headDim:][:kv.headDim], value[h*kv.headDim:][:kv.headDim]
		switch kv.kept {
		case KVF16:
			for d := range k {
				k[d], v[d] = half(kv.halfKeys[keyAt+d*lanes]), half(kv.halfValues[valueAt+d])
			}
		case KVQ8_0:
			loadQuantizedKey(k, kv.quantKeys[quantizedAt(keyAt-token%lanes):], token%lanes)
			loadQuantizedValue(v, kv.quantValues[quantizedAt(valueAt):])
		default:
			for d := range k {
				k[d], v[d] = kv.keys[keyAt+d*lanes], kv.values[valueAt+d]
			}
		}
	}
}

// widen converts n keys and values of a head in half precision, starting at token, which is a
// multiple of 16, to the beginning of a KV in float32.
func (kv *KV) widen(to *KV, head, token, n int) {
	keyAt, valueAt := kv.at(head, token)
	widenHalf(to.keys[:roundUp(n, lanes)*kv.headDim], kv.halfKeys[keyAt:])
	widenHalf(to.values[:n*kv.headDim], kv.halfValues[valueAt:])
}

// score writes factor·(q · key) of blocks·16 keys, starting at token, for n queries. token is a
// multiple of 16.
func (kv *KV) score(dst []float32, q *queries, n, head, token, blocks int, factor float32) {
	at, _ := kv.at(head, token)
	for done := 0; done < n; {
		step := powerOfTwoBelow(n - done)
		some := q.from(done)
		switch kv.kept {
		case KVF16:
			scoreKeysHalf(dst[done*KeysPerSplit:], &some, kv.halfKeys[at:], step, kv.headDim, blocks, factor)
		case KVQ8_0:
			scoreKeysQuantized(dst[done*KeysPerSplit:], &some, kv.quantKeys[quantizedAt(at):], step, kv.headDim, blocks, factor)
		default:
			scoreKeys(dst[done*KeysPerSplit:], &some, kv.keys[at:], step, kv.headDim, blocks, factor)
		}
		done += step
	}
}

// sum adds the weighted values of this many keys, starting at token, for n queries. The weights are
// laid out as score writes scores.
func (kv *KV) sum(dst *queries, weights []float32, n, head, token, keys int) {
	_, at := kv.at(head, token)
	for done := 0; done < n; {
		step := powerOfTwoBelow(n - done)
		some := dst.from(done)
		switch kv.kept {
		case KVF16:
			sumValuesHalf(&some, kv.halfValues[at:], weights[done*KeysPerSplit:], step, keys, kv.headDim)
		case KVQ8_0:
			sumValuesQuantized(&some, kv.quantValues[quantizedAt(at):], weights[done*KeysPerSplit:], step, keys, kv.headDim)
		default:
			sumValues(&some, kv.values[at:], weights[done*KeysPerSplit:], step, keys, kv.headDim)
		}
		done += step
	}
}

// powerOfTwoBelow returns the largest power of two ≤ n for which there are kernels.
func powerOfTwoBelow(n int) int {
	step := mostTogether()
	for step > n {
		step /= 2
	}
	return step
}
