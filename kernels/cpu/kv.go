package cpu

import "fmt"

// KV holds the keys and values of one layer, each head on its own: the keys as (Heads, tokens/16, HeadDim, 16), so that a register
// takes the same number of 16 keys, the values as (Heads, tokens, HeadDim). Numbers are of one of the types below.
type KV struct {
	kept           KVType
	heads, headDim int
	tokens         int // capacity, a multiple of 16

	// Only those of the type are there.
	keys, values           []float32
	halfKeys, halfValues   []uint16
	quantKeys, quantValues []byte // as kv_quantized.go lays them out
}

// KVType is how a KV keeps its numbers.
type KVType int

// The types there is attention over.
const (
	KVF32  KVType = iota // as they come
	KVF16                // rounded to half precision
	KVQ8_0               // a byte each, and for 32 of a head's a scale in half precision; the size of a head is a multiple of 32
)

// Bytes is the memory of a head's n numbers.
func (t KVType) Bytes(n int) int {
	switch t {
	case KVF16:
		return 2 * n
	case KVQ8_0:
		return n / Block * blockBytesQ8_0
	}
	return 4 * n
}

// KeysPerBlock is the number of keys that lie side by side; a KV has room for whole blocks.
const KeysPerBlock = lanes

func roundUp(n, step int) int { return (n + step - 1) / step * step }

// NewKV makes room for tokens tokens.
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

// at is where the numbers of a head of a token begin: of the key, whose numbers lie 16 apart, and of the value.
func (kv *KV) at(head, token int) (key, value int) {
	first := head * kv.tokens
	return (first+token/lanes*lanes)*kv.headDim + token%lanes, (first + token) * kv.headDim
}

// Store takes a token's keys and values, HeadDim numbers of each for the given head and those behind it.
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

// Load gives back a token's key and value, rounded to what is kept.
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

// score writes factor·(q · key) of blocks·16 keys from token on, for n queries; token is a multiple of 16.
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

// sum adds the weighted values of so many keys from token on, for n queries whose weights lie as score writes them.
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

// powerOfTwoBelow is the largest power of two that does not exceed n: the numbers of queries that there are kernels for.
func powerOfTwoBelow(n int) int {
	step := queriesAtOnce
	for step > n {
		step /= 2
	}
	return step
}
