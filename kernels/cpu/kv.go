package cpu

import "fmt"

// KV holds the keys and values of one layer. Tokens come in splits of KeysPerSplit. In a split, keys are
// (Heads, KeysPerSplit/16, KeyDim, 16): a vector register holds number d of 16 keys. Values are (Heads,
// KeysPerSplit, ValueDim). The last split is shorter if tokens is not a multiple of KeysPerSplit. kept is
// the type of all numbers.
//
// The layers of a cache share their memory (NewKVs): a split of one layer comes before the same split of
// the next. So memory is used from its start on, however many tokens there is room for.
type KV struct {
	kept             KVType
	heads            int
	keyDim, valueDim int
	tokens           int  // capacity, a multiple of 16
	ring             bool // see KVShape.Ring

	// all is how many numbers the layers have for a token. beforeKeys and beforeValues are how many of them stand
	// before this layer's keys and before its values. Multiplied by the number of tokens in a split, these two
	// are offsets in the split's memory.
	all, beforeKeys, beforeValues int

	// Only the two slices of the KV's type are used. Unless the KV is a converted split, both are the
	// same slice, which the other layers of the cache share.
	keys, values           []float32
	halfKeys, halfValues   []uint16
	quantKeys, quantValues []byte // in the layout of kv_quantized.go
}

// KVType is the type in which a KV keeps its numbers.
type KVType int

// The types that attention supports.
const (
	KVF32 KVType = iota // float32, as computed
	KVF16               // rounded to half precision
	// One byte per number, and a scale in half precision per 32 numbers of one key or value. KeyDim
	// and ValueDim must be multiples of 32.
	KVQ8_0
)

// Bytes returns the memory of n numbers, for KVQ8_0 a multiple of 32.
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

// KVShape is the size of a KV.
type KVShape struct {
	Tokens, Heads    int
	KeyDim, ValueDim int // length of one key and one value of a head, at most MaxKeyDim and MaxValueDim
	// Ring: token t overwrites token t − Tokens. Tokens is a multiple of KeysPerSplit, so that the
	// keys of a split follow each other in memory.
	Ring bool
}

// RingTokens returns the size of a ring for rows that see window keys, plus spare tokens that may be
// taken back. The ring has room for whole splits: attention reads the split in which a window begins from
// the split's first key on, and masks the keys before the window.
func RingTokens(window, spare int) int { return roundUp(window+spare+KeysPerSplit-1, KeysPerSplit) }

// FirstRead returns the first token that attention reads for the row at a position.
func FirstRead(position, window int) int { return splitOf(max(0, position-window+1)) }

// NewKV allocates a KV.
func NewKV(s KVShape, kept KVType) *KV { return NewKVs([]KVShape{s}, kept)[0] }

// NewKVs allocates the KVs of several layers, which have room for the same number of tokens.
func NewKVs(shapes []KVShape, kept KVType) (layers []*KV) {
	all, tokens := 0, 0
	for _, s := range shapes {
		switch {
		case s.Ring && s.Tokens%KeysPerSplit != 0:
			panic(fmt.Sprintf("cpu: a ring of %d tokens, which are not whole splits", s.Tokens))
		case s.Tokens != shapes[0].Tokens:
			panic(fmt.Sprintf("cpu: layers with room for %d and %d tokens in one memory", shapes[0].Tokens, s.Tokens))
		case kept == KVQ8_0 && (s.KeyDim%Block != 0 || s.ValueDim%Block != 0):
			panic(fmt.Sprintf("cpu: heads of %d and %d numbers cannot be kept in blocks of %d", s.KeyDim, s.ValueDim, Block))
		}
		kv := &KV{kept: kept, heads: s.Heads, keyDim: s.KeyDim, valueDim: s.ValueDim, tokens: roundUp(s.Tokens, lanes), ring: s.Ring}
		tokens = kv.tokens
		kv.beforeKeys, kv.beforeValues = all, all+s.Heads*s.KeyDim
		all = kv.beforeValues + s.Heads*s.ValueDim
		layers = append(layers, kv)
	}
	numbers := all * tokens
	var floats []float32
	var halves []uint16
	var quants []byte
	switch kept {
	case KVF16:
		halves = make([]uint16, numbers)
	case KVQ8_0:
		quants = make([]byte, kept.Bytes(numbers))
	default:
		floats = make([]float32, numbers)
	}
	// Large pages pay as for weights: a row reads all keys and values before it.
	inLargePages(floats)
	inLargePages(halves)
	inLargePages(quants)
	for _, kv := range layers {
		kv.all = all
		kv.keys, kv.halfKeys, kv.quantKeys = floats, halves, quants
		kv.values, kv.halfValues, kv.quantValues = floats, halves, quants
	}
	return layers
}

// at returns where a token's key and value in a head begin in kv's slices. Numbers of a key are 16 apart.
func (kv *KV) at(head, token int) (key, value int) {
	if kv.ring {
		token %= kv.tokens
	}
	split := splitOf(token)
	length := min(KeysPerSplit, kv.tokens-split)
	key = split*kv.all + length*(kv.beforeKeys+head*kv.keyDim)
	value = split*kv.all + length*(kv.beforeValues+head*kv.valueDim)
	token -= split
	return key + token/lanes*lanes*kv.keyDim + token%lanes, value + token*kv.valueDim
}

// Store writes a token's keys and values, KeyDim and ValueDim numbers per head, starting at the
// given head.
func (kv *KV) Store(token, head int, keys, values []float32) {
	for ; len(keys) > 0; keys, values = keys[kv.keyDim:], values[kv.valueDim:] {
		kv.storeHead(token, head, keys[:kv.keyDim], values[:kv.valueDim])
		head++
	}
}

func (kv *KV) storeHead(token, head int, k, v []float32) {
	keyAt, valueAt := kv.at(head, token)
	switch kv.kept {
	case KVF16:
		var row [MaxKeyDim]uint16
		narrow(row[:], k)
		scatter(kv.halfKeys[keyAt:], row[:kv.keyDim])
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

// Load reads a token's key and value as they were rounded when they were stored.
func (kv *KV) Load(token int, key, value []float32) {
	for h := range kv.heads {
		keyAt, valueAt := kv.at(h, token)
		k, v := key[h*kv.keyDim:][:kv.keyDim], value[h*kv.valueDim:][:kv.valueDim]
		switch kv.kept {
		case KVF16:
			for d := range k {
				k[d] = half(kv.halfKeys[keyAt+d*lanes])
			}
			for d := range v {
				v[d] = half(kv.halfValues[valueAt+d])
			}
		case KVQ8_0:
			loadQuantizedKey(k, kv.quantKeys[quantizedAt(keyAt-token%lanes):], token%lanes)
			loadQuantizedValue(v, kv.quantValues[quantizedAt(valueAt):])
		default:
			for d := range k {
				k[d] = kv.keys[keyAt+d*lanes]
			}
			copy(v, kv.values[valueAt:])
		}
	}
}

// Copy copies the tokens from … from+n−1 of src; they become the tokens to … to+n−1. Both KVs have the
// same type and heads. to, from and n are multiples of KeysPerBlock.
func (kv *KV) Copy(to int, src *KV, from, n int) {
	for done := 0; done < n; done += KeysPerBlock {
		for h := range kv.heads {
			toKey, toValue := kv.at(h, to+done)
			key, value := src.at(h, from+done)
			copyNumbers(kv.keys, src.keys, toKey, key, KeysPerBlock*kv.keyDim)
			copyNumbers(kv.values, src.values, toValue, value, KeysPerBlock*kv.valueDim)
			copyNumbers(kv.halfKeys, src.halfKeys, toKey, key, KeysPerBlock*kv.keyDim)
			copyNumbers(kv.halfValues, src.halfValues, toValue, value, KeysPerBlock*kv.valueDim)
			copyNumbers(kv.quantKeys, src.quantKeys, quantizedAt(toKey), quantizedAt(key), quantizedAt(KeysPerBlock*kv.keyDim))
			copyNumbers(kv.quantValues, src.quantValues, quantizedAt(toValue), quantizedAt(value), quantizedAt(KeysPerBlock*kv.valueDim))
		}
	}
}

// copyNumbers copies n numbers. It does nothing for the slices of types that the KV does not have.
func copyNumbers[N any](dst, src []N, to, from, n int) {
	if dst != nil {
		copy(dst[to:to+n], src[from:from+n])
	}
}

// widen converts the keys and values of n tokens in a head from half precision to float32, and writes them
// to the beginning of to. The first of these tokens, token, is a multiple of 16.
func (kv *KV) widen(to *KV, head, token, n int) {
	keyAt, valueAt := kv.at(head, token)
	widenHalf(to.keys[:roundUp(n, lanes)*kv.keyDim], kv.halfKeys[keyAt:])
	widenHalf(to.values[:n*kv.valueDim], kv.halfValues[valueAt:])
}

// score writes factor·(q · key) for n queries and blocks·16 keys, starting at token, which is a
// multiple of 16.
func (kv *KV) score(dst []float32, q *queries, n, head, token, blocks int, factor float32) {
	at, _ := kv.at(head, token)
	for done := 0; done < n; {
		step := powerOfTwoBelow(n - done)
		some := q.from(done)
		switch kv.kept {
		case KVF16:
			scoreKeysHalf(dst[done*KeysPerSplit:], &some, kv.halfKeys[at:], step, kv.keyDim, blocks, factor)
		case KVQ8_0:
			scoreKeysQuantized(dst[done*KeysPerSplit:], &some, kv.quantKeys[quantizedAt(at):], step, kv.keyDim, blocks, factor)
		default:
			scoreKeys(dst[done*KeysPerSplit:], &some, kv.keys[at:], step, kv.keyDim, blocks, factor)
		}
		done += step
	}
}

// sum adds the weighted values of the tokens token … token+keys−1 to dst, for n queries. The weights
// lie where score writes the scores.
func (kv *KV) sum(dst *queries, weights []float32, n, head, token, keys int) {
	_, at := kv.at(head, token)
	for done := 0; done < n; {
		step := powerOfTwoBelow(n - done)
		some := dst.from(done)
		switch kv.kept {
		case KVF16:
			sumValuesHalf(&some, kv.halfValues[at:], weights[done*KeysPerSplit:], step, keys, kv.valueDim)
		case KVQ8_0:
			sumValuesQuantized(&some, kv.quantValues[quantizedAt(at):], weights[done*KeysPerSplit:], step, keys, kv.valueDim)
		default:
			sumValues(&some, kv.values[at:], weights[done*KeysPerSplit:], step, keys, kv.valueDim)
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
