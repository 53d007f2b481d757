package model_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"specula/engine/model"
	"specula/engine/weights"
)

// A file whose layers with states cannot be computed is refused with the field, what it says, and what
// is allowed.
func TestStatesAreRefused(t *testing.T) {
	const number, list = 4, 16 // bytes between a key and its value, or the first one of its list
	for _, c := range []struct {
		name, key string
		at        int // of the value, after the key
		value     uint32
		want      string
	}{
		{"lfm2", "lfm2.shortconv.l_cache", number, 99, `metadata "lfm2.shortconv.l_cache" is 99; allowed is 1 to 16`},
		{"granitehybrid", "granitehybrid.ssm.inner_size", number, 63, `"granitehybrid.ssm.inner_size" is 63; allowed is a multiple of the 4 heads`},
		{"granitehybrid", "granitehybrid.ssm.state_size", number, 300, `"granitehybrid.ssm.state_size" is 300; allowed is 1 to 256`},
		{"granitehybrid", "granitehybrid.attention.head_count_kv", list + 4*2, 0, `"granitehybrid.attention.head_count_kv" is 0 in layer 0; allowed is 1 to 4096`},
		{"falcon-h1", "falcon-h1.ssm.group_count", number, 4, `"falcon-h1.ssm.time_step_rank" is 6; allowed is a multiple of the 4 key heads`},
		{"falcon-h1", "falcon-h1.ssm.group_count", number, 3, `"blk.0.ssm_in.weight" has shape 166 × 32; a falcon-h1 model of these hyperparameters needs 198 rows`},
		{"nemotron_h", "nemotron_h.feed_forward_length", list + 4*3, 48, `"nemotron_h.feed_forward_length" is above 0 in layer 3; allowed is 0 there`},
	} {
		f := &fixture{name: c.name}
		data := bytes.Clone(f.data(t))
		at := bytes.Index(data, []byte(c.key))
		if at < 0 {
			t.Fatalf("%s has no %s", c.name, c.key)
		}
		binary.LittleEndian.PutUint32(data[at+len(c.key)+c.at:], c.value)
		refuses(t, data, c.want)
	}
	data := (&fixture{name: "granitehybrid"}).data(t)
	refuses(t, bytes.Replace(data, []byte("blk.0.ssm_in."), []byte("blk.0.ssm_it."), 1),
		`the tensor "blk.0.ssm_in.weight" is missing; a granitehybrid model needs it with shape 156 × 32`)
}

func refuses(t *testing.T, data []byte, want string) {
	t.Helper()
	file, err := weights.Parse("changed", data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = model.Load(context.Background(), newBackend(t, 1), file, model.Options{MaxTokens: 64}, nil); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

// The planned memory of a cache is what it takes: its states count, and so do the inputs that it keeps of the rows
// that it can take back.
func TestStatesCountInMemory(t *testing.T) {
	backend := newBackend(t, 1)
	for _, name := range []string{"lfm2", "granitehybrid", "falcon-h1", "nemotron_h", "nemotron_h_moe-narrow"} {
		f := &fixture{name: name}
		small, large := f.open(t, backend, model.Options{MaxTokens: 64, MaxRows: 2}), f.open(t, backend, model.Options{MaxTokens: 64, MaxRows: 33})
		grown := large.Config().CacheBytes - small.Config().CacheBytes
		state := small.Config().State
		if least := int64(31 * 4 * state.Width()); grown < least {
			t.Errorf("%s: a cache that can take back 33 rows has %d bytes more than one of 2 rows, want at least %d", name, grown, least)
		}
		if cache := newCache(t, small); cache.Bytes() != small.Config().CacheBytes {
			t.Errorf("%s: a cache has %d bytes, planned were %d", name, cache.Bytes(), small.Config().CacheBytes)
		}
		all := small.Config()
		if without := all.ParametersWithout(all.Layers); without < 0 || all.ParametersWithout(1) >= all.Parameters {
			t.Errorf("%s has %d parameters, %d without one layer, %d without all", name, all.Parameters, all.ParametersWithout(1), without)
		}
	}
}
