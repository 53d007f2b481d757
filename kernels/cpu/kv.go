package cpu

// KV holds the keys and values of one layer, each head on its own: the keys as (Heads, tokens/16, HeadDim, 16), so that a register
// takes the same number of 16 keys, the values as (Heads, tokens, HeadDim). Numbers are float32, or half precision.
type KV struct {
	heads, headDim int
	tokens         int // capacity, a multiple of 16

	keys, values         []float32
	halfKeys, halfValues []uint16
}

// KeysPerBlock is the number of keys that lie side by side; a KV has room for whole blocks.
const KeysPerBlock = lanes

func roundUp(n, step int) int { return (n + step - 1) / step * step }

// NewKV makes room for tokens tokens.
func NewKV(tokens, heads, headDim int, half bool) *KV {
	kv := &KV{heads: heads, headDim: headDim, tokens: roundUp(tokens, lanes)}
	size := kv.tokens * heads * headDim
	if half {
		kv.halfKeys, kv.halfValues = make([]uint16, size), make([]uint16, size)
	} else {
		kv.keys, kv.values = make([]float32, size), make([]float32, size)
	}
	return kv
}

// at is where the numbers of a head of a token begin: of the key, whose numbers lie 16 apart, and of the value.
func (kv *KV) at(head, token int) (key, value int) {
	first := head * kv.tokens
	return (first+token/lanes*lanes)*kv.headDim + token%lanes, (first + token) * kv.headDim
}

// Store takes key and value of a token, (Heads·HeadDim) each.
func (kv *KV) Store(token int, key, value []float32) {
	var row [MaxHeadDim]uint16
	for h := range kv.heads {
		keyAt, valueAt := kv.at(h, token)
		k, v := key[h*kv.headDim:][:kv.headDim], value[h*kv.headDim:][:kv.headDim]
		if kv.halfKeys != nil {
			narrow(kv.halfValues[valueAt:], v)
			narrow(row[:], k)
			scatter(kv.halfKeys[keyAt:], row[:kv.headDim])
		} else {
			copy(kv.values[valueAt:], v)
			scatter(kv.keys[keyAt:], k)
		}
	}
}

func scatter[N any](dst, row []N) {
	for d, v := range row {
		dst[d*lanes] = v
	}
}

// Load gives back what Store took, rounded to what is kept.
func (kv *KV) Load(token int, key, value []float32) {
	for h := range kv.heads {
		keyAt, valueAt := kv.at(h, token)
		k, v := key[h*kv.headDim:][:kv.headDim], value[h*kv.headDim:][:kv.headDim]
		for d := range k {
			if kv.halfKeys != nil {
				k[d], v[d] = half(kv.halfKeys[keyAt+d*lanes]), half(kv.halfValues[valueAt+d])
			} else {
				k[d], v[d] = kv.keys[keyAt+d*lanes], kv.values[valueAt+d]
			}
		}
	}
}

// score writes factor·(q · key) of len(dst) keys from token on; both are multiples of 16.
func (kv *KV) score(dst, q []float32, head, token int, factor float32) {
	at, _ := kv.at(head, token)
	if kv.halfKeys != nil {
		scoreKeysHalf(dst, q, kv.halfKeys[at:], factor)
	} else {
		scoreKeys(dst, q, kv.keys[at:], factor)
	}
}

// sum writes the values of len(weights) keys from token on, weighted.
func (kv *KV) sum(dst, weights []float32, head, token int) {
	_, at := kv.at(head, token)
	if kv.halfKeys != nil {
		sumValuesHalf(dst, kv.halfValues[at:], weights, kv.headDim)
	} else {
		sumValues(dst, kv.values[at:], weights, kv.headDim)
	}
}
