package emulator_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"specula/kernels/cuda/testbench/emulator"
)

// plantedBug is one slip in a source: old, which is there exactly once, becomes bad. With the
// slip, the tests of this package must fail on the simulator, and with emulator set also on the
// emulator.
type plantedBug struct {
	name, file, old, bad, test string
	emulator                   bool
}

const attention = "TestAttention|TestRowCounts"

var plantedBugs = []plantedBug{
	{"no barrier after the queries", "attend_half.cu",
		"load_queries<key_dim, columns>((half_bits *)query, q, s);\n    __syncthreads();",
		"load_queries<key_dim, columns>((half_bits *)query, q, s);",
		attention, true},
	{"no barrier after the weights", "attend_half.cu",
		"gridDim.x, s);\n    __syncthreads();\n    sum_values", "gridDim.x, s);\n    sum_values",
		attention, true},
	{"weights overwrite scores without a warp barrier", "attend_half.cu", "__syncwarp();  // the weights",
		"// the weights",
		attention, false},
	{"a row does not see itself", "attention.h", "first_position + row + 1}", "first_position + row}",
		attention, true},
	{"a row sees the next one", "attention.h", "first_position + row + 1}", "first_position + row + 2}",
		attention, true},
	{"values after the end are not masked", "attend_half.cu", "    auto keep = ",
		"    n = 8;\n    auto keep = ", attention, true},
	{"splits begin at the pass", "attention.h", "s.start = blockIdx.x * keys_per_split;",
		"s.start = s.first_position % 16 + blockIdx.x * keys_per_split;",
		attention, true},
	{"many columns take their chunks backwards", "attend_half.cu",
		"multiply_chunk(sum, own.low[c], own.high[c], load_vector(weight + chunk * c));",
		"{ int b = tiles > 1 ? chunks - 1 - c : c; if (chunk * b < s.keys) multiply_chunk(sum, own.low[b], own.high[b], load_vector(weight + chunk * b)); }",
		attention, true},
	{"columns of score overlap", "attend_half.cu", "keys_per_split + 16;", "keys_per_split - 16;",
		attention, true},
	{"queries are not aligned to 16 bytes", "attend_half.cu", "padded_dim(head_dim) + 32; }",
		"padded_dim(head_dim) + 36; }", attention, false},
	{"the place of a draft step is forgotten", "attention.h", "s.first_position = *length + ahead;",
		"s.first_position = *length;", attention, true},
	{"key heads are shared in turns", "attention.h", "kv_head * sharing + all - row * sharing",
		"(all - row * sharing) * (sharing - 1) + kv_head", attention, true},
	{"weights are summed before they are rounded", "attend_half.cu", "sum += from_half(p);",
		"sum += exp_falling(v[i] - largest);",
		attention, true},
	{"the last block but one combines the splits", "attend_half.cu", "gridDim.x * gridDim.z, before)", "gridDim.x * gridDim.z - 1, before)", "TestWindows", true},
	{"the last head leaves out the zeros after it", "attend_half.cu", "if (end == numbers) end", "if (false) end", "TestWindows", true},
	{"every row of an operand sees the keys of the first", "attend_half.cu", "s.seen = first_seen + s.row;", "s.seen = first_seen;", "TestWindows", true},
	{"splits are combined backwards", "combine.h",
		"s.splits, from + i, s.head_dim);",
		"s.splits, own - 1 - from - i, s.head_dim);", attention, true},
	{"every split of the grid is combined", "combine.h",
		"return (seen + keys_per_split - 1) / keys_per_split;", "return splits;",
		attention, true},
	{"a grid of one split multiplies by the inverse", "combine.h", "values[j] = divide_rn(values[j], sum);",
		"values[j] = s.splits > 1 ? divide_rn(values[j], sum) : values[j] * divide_rn(1.0f, sum);", "TestRowCounts", true},
	{"a grid too small is not noticed", "combine.h", "if (own > s.splits) return;", "",
		"TestTooSmallGrid", false},
	{"the end of a key is not zeroed", "cache.cu", "d < key_dim ? to_half(k[head * key_dim + d]) : 0",
		"to_half(k[head * key_dim + d])", attention, true},
	{"no barrier before the values", "attend_float.cu", "value_dim));\n    __syncthreads();",
		"value_dim));", attention, true},
	{"a norm adds eps too late", "norm.h", "sqrt_rn(divide_rn(squares, (float)n) + eps)",
		"sqrt_rn(divide_rn(squares, (float)n)) + eps", "TestNorms", true},
	{"the sum of a group that has one warp is not fused", "norm.cu",
		"own = fma_rn(v, v, own);", "own += v * v;", "TestNorms", true},
	{"the squares of a tile are added one after the other", "norm.h",
		"for (int o = tile_rows / 2; o > 0; o /= 2) sum +=", "for (int o = 1; o < tile_rows; o *= 2) sum +=", "TestNorms", true},
	{"all rows stand at the first's position", "rope.cu", "*length + ahead + (int)blockIdx.y;",
		"*length + ahead;", "TestRope", true},
	{"the heads are read while they are written", "heads.h", "room[d] = x[i]; });\n        __syncwarp();",
		"room[d] = x[i]; });", "TestHeads", false},
	{"the rotated heads are stored too early", "heads.h", "angles.sin[i]);\n    }\n    __syncwarp();",
		"angles.sin[i]);\n    }", "TestHeads", true},
	{"an expert is chosen twice", "experts.cu", "key < before) && key > best", "key <= before) && key > best", "TestExperts", true},
	{"a bias for the choice becomes part of the share", "experts.cu", "float own = share.of(scores[id_of(before)]);",
		"float own = share.of(scores[id_of(before)]) + (bias ? bias[id_of(before)] : 0.0f);", "TestExperts", true},
	{"experts are ranked by their shares", "experts.cu", "bias ? share.of(scores[e]) + bias[e] : scores[e]",
		"share.of(scores[e]) + (bias ? bias[e] : 0.0f)", "TestExperts", true},
	{"groups are numbered before all choices are counted", "experts.cu", "    __syncthreads();\n    if (warp_id() == 0) {  // numbers",
		"    if (warp_id() == 0) {  // numbers", "TestExperts", true},
	{"a block groups before the others have chosen", "experts.cu", "if (last_to_arrive(arrived, gridDim.x, before))",
		"if (last_to_arrive(arrived, gridDim.x, before) || blockIdx.x == gridDim.x - 1)", "TestExperts", true},
	{"the last group of an expert is not filled up", "experts.cu", "n % group_rows != 0; n++)", "false; n++)", "TestExperts", true},
	{"experts are mixed with the share of the next rank", "experts.cu", "cols + k] * shares[rank];", "cols + k] * shares[(rank + 1) % used];",
		"TestExperts", true},
	{"the state is written as it is at the end of a pass", "recurrence.h", "first + i == final", "first + i == in.end() - 1", "TestRecurrences", true},
	{"the state is written a token too late", "recurrence.h", "in.m > l.kept ? in.end() - l.kept : in.position;", "in.m > l.kept ? in.end() - l.kept + 1 : in.position + 1;",
		"TestRecurrences", true},
	{"a state begins with what its memory holds", "recurrence.h", "if (fresh || i / 4", "if (i / 4", "TestRecurrences", true},
	{"tokens that are computed again take the decay for the strength", "recurrence.h", "earlier(token)[width + heads + head]", "earlier(token)[width + head]",
		"TestRecurrences", true},
	{"a ring has room for what is read alone", "recurrence.h", "rows(2 * kept)", "rows(kept)", "TestRecurrences", true},
	{"a long pass stores an input too many", "recurrence.h", "m < most ? 0 : m - most;", "m < most ? 0 : m - most - 1;", "TestRecurrences", true},
	{"a convolution sees tokens before the text", "recurrence.h", "token >= usual_kernel - 1", "true", "TestRecurrences", true},
	{"grouped heads take turns", "recurrence.h", "grouped ? head * key_heads / heads : head % key_heads", "grouped ? head % key_heads : head * key_heads / heads",
		"TestRecurrences", true},
	{"tokens are prepared where others are computed", "recurrence.h", "prepare<chunks, delta>({room + turn * tokens_numbers}", "prepare<chunks, delta>({room}",
		"TestRecurrences", true},
	{"a turn begins before its tokens are prepared", "recurrence.h", "            }\n        }\n        __syncthreads();", "            }\n        }", "TestRecurrences", true},
	{"the product of query and key is not normed", "recurrence.h", "qk = qk * by_q * by_k;", "qk = qk * by_q;", "TestRecurrences", true},
	{"a token reads the state before itself", "recurrence.h", "fma_rn(tokens.product(i), change, decay * column_sum(read))", "decay * column_sum(read)",
		"TestRecurrences", true},
	{"a column beyond the values belongs to the next head", "recurrence.h", "state.g == 0 && state.column < h.columns", "state.g == 0", "TestRecurrences", true},
	{"a short convolution stores inputs without their gates", "recurrence.cu", "in.later(row)[k] = gated(row);", "in.later(row)[k] = x[(size_t)row * 3 * width + 2 * width + k];",
		"TestShortConvolutions", true},
	{"all groups of a norm have the weights of the first", "norm.cu", ", w + (size_t)(blockIdx.x % groups) * n, n, eps", ", w, n, eps", "TestNorms", true},
	{"a sink takes no weight", "combine.h", "s.sinks ? exp_rn(s.sinks[head] - largest) : 0.0f", "0.0f", "TestWindows", true},
	{"a sink may overflow", "combine.h", "float largest = s.sinks ? s.sinks[head] : -infinity();", "float largest = -infinity();", "TestWindows", true},
	{"values are rotated, too", "heads.h", "rotated = kind != Kind::value && position < capacity;", "rotated = true;", "TestHeads", true},
	{"a key is read before attention stores it", "attend_half.cu", "turn < Ahead<head_dim, tiles>::keys && (own < first || own >= first + 16)",
		"turn < Ahead<head_dim, tiles>::keys", "TestFreshRows", true},
	{"attention stores no key in the last place of a split", "attend_half.cu", "f.k && key < keys_per_split ?", "f.k && key < keys_per_split - 1 ?", "TestFreshRows", true},
	{"extra blocks attend, too", "attend_half.cu", "if ((int)blockIdx.y >= by.kv_heads) return fetch_ahead(fetched, by.kv_heads);",
		"if ((int)blockIdx.y >= by.kv_heads) fetch_ahead(fetched, by.kv_heads);", "TestFetchAhead", true},
	{"extra blocks count as arrived", "attend_half.cu", "gridDim.x * gridDim.z, before)", "gridDim.x * gridDim.z * (gridDim.y / by.kv_heads), before)", "TestFetchAhead", true},
	{"a line too many is fetched", "fetch.h", "(ranges[i].bytes + line_bytes - 1) / line_bytes", "ranges[i].bytes / line_bytes + 1", "TestFetchAhead", true},
	{"a range is fetched from the second line on", "fetch.h", "line -= lines;", "line -= lines - 1;", "TestEveryLineIsFetchedOnce", false},
	{"extra blocks fetch the same lines", "fetch.h", "((int)blockIdx.y - first) * each + blockIdx.z * gridDim.x", "((int)blockIdx.y - first) * each + blockIdx.z",
		"TestEveryLineIsFetchedOnce", false},
	{"columns without a query read one", "attend_half.cu", "s.nearest(8 * n + g) * query_stride", "(8 * n + g) * query_stride", "TestFreshRows", false},
	{"attention reads the query of the head before", "attend_half.cu", "(size_t)(kv_head * sharing + i) * head_dim", "(size_t)(kv_head * sharing + i - (i > 0)) * head_dim", "TestFreshRows", true},
	{"a warp prepares its first head twice", "attend_half.cu", "if (i >= warps) load_fresh", "if (false) load_fresh", "TestFreshRows", true},
	{"a lane has the next pair's angle", "heads.h", "angles.cos[i], angles.sin[i]);\n            return;", "angles.cos[i], angles.sin[0]);\n            return;", "TestHeads", true},
	{"a lane of three numbers has a pair of its own", "heads.h", "if (numbers % 2 == 0 && h.neox", "if (h.neox", "TestFreshRows", true},
	{"a factor is that of the split before", "combine.h", "full_warp, f, lane_id() - lane + i)", "full_warp, f, lane_id() - lane + (i > 0 ? i - 1 : 0))", "TestWindows", true},
	{"a head takes the factors of its neighbour", "combine.h", "full_warp, f, lane_id() - lane + i)", "full_warp, f, (lane_id() - lane + 8 + i) % 32)", "TestWindows", true},
	{"a row adds the splits of the last row", "combine.h", "if (n + i >= count) continue;", "", "TestManySplits", true},
	{"the largest score is sought in eight splits", "combine.h", "n = at_once + lane; n < count;", "n = at_once + lane; n < 0;", "TestManySplits", true},
	{"splits before the window are combined, too", "combine.h", "return window && keys > window ?", "return window && keys > window && keys < 0 ?", "TestManySplits", true},
	{"weights far below the largest overflow", "gpu.h", "x < -103.97208f ? 0.0f : power", "power", "TestScoresAtTheEdges", true},
	{"heads of values lie as far apart as those of keys", "attend_half.cu", "s.kv_head * value_dim * capacity", "s.kv_head * key_dim * capacity", "TestUnlikeAttention", true},
	{"queries are as long as values", "attend_half.cu", "load_queries<key_dim, columns>", "load_queries<value_dim, columns>", "TestUnlikeAttention", true},
}

// Every planted bug is caught. Each needs a compiler run and a test run per machine, so this test
// does not run every time.
func TestPlantedBugsAreCaught(t *testing.T) {
	if os.Getenv("PLANTED") == "" {
		t.Skip("minutes of compiling: set PLANTED=1")
	}
	for _, bug := range plantedBugs {
		t.Run(bug.name, func(t *testing.T) {
			sources := slip(t, bug)
			if bug.emulator && !testOn(t, bug.test, "emulator", emulatorVariable, planEmulator(t, sources)) {
				t.Error("on the emulator: not caught")
			}
			if !testOn(t, bug.test, "simulator", ptxVariable, planSimulator(t, sources)) {
				t.Error("on the simulator: not caught")
			}
		})
	}
}

// slipped is the source with the bug.
func (b plantedBug) slipped(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../src", b.file))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), b.old); n != 1 {
		t.Fatalf("%s has %d places for this bug, want 1", b.file, n)
	}
	return strings.Replace(string(text), b.old, b.bad, 1)
}

// Checks, without running them, that the list of bugs still matches the sources.
func TestPlantedBugsHaveAPlace(t *testing.T) {
	for _, bug := range plantedBugs {
		t.Run(bug.name, func(t *testing.T) { bug.slipped(t) })
	}
}

// slip copies the sources, with the bug, to a folder.
func slip(t *testing.T, bug plantedBug) string {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, "src"), os.DirFS("../../src")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(root, "testbench/emulator/machine"), os.DirFS("machine")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "src", bug.file)
	if err := os.WriteFile(path, []byte(bug.slipped(t)), 0o644); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "src")
}

func planEmulator(t *testing.T, sources string) string {
	t.Helper()
	var slipped []string
	for _, k := range layerKernels {
		slipped = append(slipped, filepath.Join(sources, filepath.Base(k)))
	}
	out := filepath.Join(t.TempDir(), "kernels")
	if err := emulator.Build(out, slipped); errors.Is(err, emulator.ErrNoCompiler) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	return out
}

// planSimulator makes PTX the way the script build does.
func planSimulator(t *testing.T, sources string) string {
	t.Helper()
	script, err := os.ReadFile("../../build")
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Dir(sources)
	out := filepath.Join(root, "ptx")
	if err := errors.Join(os.Mkdir(out, 0o755),
		os.WriteFile(filepath.Join(root, "build"), script, 0o755)); err != nil {
		t.Fatal(err)
	}
	all, _ := filepath.Glob(filepath.Join(sources, "*.cu"))
	for _, source := range all {
		if slices.Contains(layerKernels, filepath.Join("../../src", filepath.Base(source))) {
			continue
		}
		if err := os.Remove(source); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := exec.Command(filepath.Join(root, "build")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if made, _ := filepath.Glob(filepath.Join(out, "*.ptx")); len(made) == 0 {
		t.Skip("there is no clang to make PTX")
	}
	return out
}

// testOn runs tests of this package on one machine, in a process of its own, with other kernels.
// It reports whether they fail.
func testOn(t *testing.T, tests, machine, variable, value string) (failed bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "-test.run=^("+tests+")")
	c.Env = append(os.Environ(), "PLANTED=", variable+"="+value, machineVariable+"="+machine)
	text, err := c.CombinedOutput()
	t.Logf("%.600s", text)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return err != nil
}
