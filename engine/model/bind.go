package model

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"specula/engine/compute"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
)

// binding joins a tensor of the file, or some of its rows, to a field of the model, whose struct tag names the
// tensor.
type binding struct {
	weight compute.Weight
	tensor string // the name in the file
	at     int    // offset of the weight in the tensor, in bytes; 0 if the weight is the whole tensor
	lookup bool   // a table: its rows are looked up, and no product uses it
	// These fields are set if the tensor interleaves the rows of two weights. The bytes
	// whole[i*every:i*every+group] are group i of this weight's rows. Until gather copies the groups to
	// weight.Data, weight.Data has the right length but other bytes.
	every, group int
	whole        []byte
	field        reflect.Value // a compute.Matrix, compute.Vector or []float32
}

// binder collects and checks all bindings of a model before the backend loads the first of them.
type binder struct {
	file      *weights.File
	arch      architecture
	sizes     map[string]int  // the numbers of rows and columns by the names in shape tags
	layers    int             // number of the model's layers, without heads
	borrowers int             // number of last layers that attend to the keys and values of earlier layers
	parts     map[string]bool // the values of the struct tag "in" whose tensors are collected
	bindings  []binding
}

// collect binds the tagged fields of the struct that target points to.
func (b *binder) collect(target any, layer int) error {
	value := reflect.ValueOf(target).Elem()
	needs := b.arch.needs()
	for i := range value.NumField() {
		tag := value.Type().Field(i).Tag
		need, isTensor := needs[tag.Get("need")]
		if tag.Get("gguf") == "" || !isTensor || need == absent || tag.Get("in") != "" && !b.parts[tag.Get("in")] {
			continue
		}
		name := b.arch.tensorName(strings.ReplaceAll(tag.Get("gguf"), "%d", fmt.Sprint(layer)))
		shape := b.shape(tag.Get("shape"))
		found, err := b.find(name, shape)
		switch {
		case err != nil:
			return err
		case found == nil && need == optional:
			continue
		case found == nil:
			name, shape = b.stored(name, shape)
			return fmt.Errorf("the tensor %s is missing; a %s model needs it with shape %s", b.file.Called(name), b.arch.name, times(shape))
		case !fits(found.weight, shape):
			return fmt.Errorf("the tensor %s has shape %s; a %s model of these hyperparameters needs %s",
				b.file.Called(name), times([]int{found.weight.Rows, found.weight.Cols}), b.arch.name, times(shape))
		}
		found.field = value.Field(i)
		if len(shape) == 3 {
			found.weight.Experts = shape[0]
		}
		b.bindings = append(b.bindings, *found)
	}
	return nil
}

// stored returns the name and shape of the tensor that files have for name. It is the fused tensor if
// name is always a part of one, otherwise name itself.
func (b *binder) stored(name string, shape []int) (string, []int) {
	layer, kind, _ := splitName(name)
	own, suffix, _ := strings.Cut(kind, ".")
	f, fused := fusions[own]
	if !fused || !f.always {
		return name, shape
	}
	rows := 0
	for _, size := range f.rows {
		rows += b.sizes[size]
	}
	return layer + f.name + "." + suffix, []int{rows, shape[len(shape)-1]}
}

// tensorName returns the name under which this architecture's files have a tensor.
func (a *architecture) tensorName(name string) string {
	name = "." + name + "."
	for usual, own := range a.named {
		name = strings.Replace(name, "."+usual+".", "."+own+".", 1)
	}
	return strings.Trim(name, ".")
}

// find returns the tensor of this name. It may be a part of another tensor: of one for all layers
// (findPart), of an interleaved one (findInterleaved), or of a fused one (findFused). The result is nil if
// the file has none of them. If the tensor has the wrong shape and no fused tensor has its rows, find
// returns the tensor all the same: collect then refuses it by its shape.
func (b *binder) find(name string, shape []int) (*binding, error) {
	if tensor, number, isPart := strings.Cut(name, ", part "); isPart {
		return b.findPart(tensor, number, shape)
	}
	if part, err := b.findInterleaved(name); part != nil || err != nil {
		return part, err
	}
	weight, found, err := b.file.Tensor(name)
	if err != nil || found && fits(weight, shape) {
		return &binding{weight: weight, tensor: name}, err
	}
	if part, err := b.findFused(name, shape); part != nil || err != nil {
		return part, err
	}
	if !found {
		return nil, nil
	}
	return &binding{weight: weight, tensor: name}, nil
}

// findFused looks for the named tensor in a fused one and returns its rows there. It returns nil if a
// tensor of this name is never fused, or if the file has no fused tensor. The tensor ffn_up may hold
// the rows of gate and up, or those of up alone; its size tells which. If ffn_up holds up alone, findFused
// returns nil, too.
func (b *binder) findFused(name string, shape []int) (*binding, error) {
	layer, kind, ok := splitName(name)
	own, suffix, _ := strings.Cut(kind, ".")
	f, fused := fusions[own]
	if !ok || !fused {
		return nil, nil
	}
	tensor := layer + f.name + "." + suffix
	weight, found, err := b.file.Tensor(tensor)
	if err != nil || !found {
		return nil, err
	}
	var before, total int
	for i, size := range f.rows {
		if i < f.part {
			before += b.sizes[size]
		}
		total += b.sizes[size]
	}
	length := &weight.Rows // the parts share the rows of a matrix, or the numbers of a vector
	if weight.Rows == 1 {
		length = &weight.Cols
	}
	if *length != total {
		if f.name == own || fusions[f.name].name == f.name { // the file's tensor may also be an unfused one
			return nil, nil
		}
		return nil, fmt.Errorf("the tensor %s has shape %s; a %s model of these hyperparameters needs %d rows, those of %s",
			b.file.Called(tensor), times([]int{weight.Rows, weight.Cols}), b.arch.name, total, strings.Join(f.rows, ", "))
	}
	each := len(weight.Data) / total
	at, rows := before*each, b.sizes[f.rows[f.part]]
	*length = rows
	weight.Name, weight.Data = fmt.Sprintf("%s, part %d", tensor, f.part), weight.Data[at:at+rows*each]
	return &binding{weight: weight, tensor: tensor, at: at}, nil
}

// interleaved names the tensor that has the rows of two tensors in groups: first some rows of tensor 0,
// then some of tensor 1, and so on. part is 0 or 1, the tensor that is meant.
type interleaved struct {
	name   string
	part   int
	groups string    // number of groups, by its name in shape tags
	rows   [2]string // rows of each part in all groups, by their names in shape tags
	in     string    // a value of the struct tag "in": which layers have the tensor
}

// halves lists the tensors that files of this architecture interleave, always or sometimes.
func (a *architecture) halves() map[string]interleaved {
	all := map[string]interleaved{
		"ffn_gate_exps.weight": {"ffn_gate_up_exps.weight", 0, "experts", [2]string{"each_ffn", "each_ffn"}, "experts"},
		"ffn_up_exps.weight":   {"ffn_gate_up_exps.weight", 1, "experts", [2]string{"each_ffn", "each_ffn"}, "experts"},
	}
	if a.queryWithGate {
		all["attn_q.weight"] = interleaved{"attn_q.weight", 0, "heads", [2]string{"queries", "queries"}, "attention"}
		all["attn_gate.weight"] = interleaved{"attn_q.weight", 1, "heads", [2]string{"queries", "queries"}, "attention"}
	}
	if a.betaWithAlpha {
		all["ssm_beta.weight"] = interleaved{"ssm_ba.weight", 0, "key_heads", [2]string{"state_heads", "state_heads"}, "delta"}
		all["ssm_alpha.weight"] = interleaved{"ssm_ba.weight", 1, "key_heads", [2]string{"state_heads", "state_heads"}, "delta"}
	}
	if a.latent {
		for i, part := range []string{"plain", "turned"} {
			queries := [2]string{"latent_plains", "latent_turneds"}
			all["attn_q_"+part+".weight"] = interleaved{"attn_q.weight", i, "heads", queries, "latent_plain"}
			all["attn_q_b_"+part+".weight"] = interleaved{"attn_q_b.weight", i, "heads", queries, "latent_query"}
		}
		for i, part := range []string{"latent", "turned"} {
			all["attn_kv_a_"+part+".weight"] = interleaved{"attn_kv_a_mqa.weight", i, "1", [2]string{"latent", "latent_turned"}, "latent"}
		}
	}
	return all
}

// findInterleaved returns a tensor that is interleaved with another in the file; nil for other tensors.
// When the tensor is loaded, gather copies its rows out of the file's tensor.
func (b *binder) findInterleaved(name string) (*binding, error) {
	layer, kind, _ := splitName(name)
	half, is := b.arch.halves()[kind]
	if !is || !b.parts[half.in] {
		return nil, nil
	}
	tensor := layer + half.name
	weight, found, err := b.file.Tensor(tensor)
	if err != nil || !found {
		return nil, err
	}
	counts := [2]int{b.sizes[half.rows[0]], b.sizes[half.rows[1]]}
	if weight.Rows != counts[0]+counts[1] {
		return nil, fmt.Errorf("the tensor %s has %d rows; a %s model of these hyperparameters needs %d, those of %s and %s",
			b.file.Called(tensor), weight.Rows, b.arch.name, counts[0]+counts[1], half.rows[0], half.rows[1])
	}
	row, groups, count := len(weight.Data)/weight.Rows, b.sizes[half.groups], counts[half.part]
	part := &binding{tensor: tensor, every: len(weight.Data) / groups, group: row * count / groups, whole: weight.Data[row*counts[0]/groups*half.part:]}
	weight.Name, weight.Rows, weight.Data = fmt.Sprintf("%s, part %d", tensor, half.part), count, weight.Data[:row*count]
	part.weight = weight
	return part, nil
}

// findPart returns a layer's rows of a tensor that has those of all layers, one after the other.
func (b *binder) findPart(tensor, number string, shape []int) (*binding, error) {
	weight, found, err := b.file.Tensor(tensor)
	if err != nil || !found {
		return nil, err
	}
	if weight.Rows != b.layers*shape[0] || weight.Cols != shape[1] {
		return nil, fmt.Errorf("the tensor %s has shape %s; a %s model of these hyperparameters needs %s",
			b.file.Called(tensor), times([]int{weight.Rows, weight.Cols}), b.arch.name, times([]int{b.layers * shape[0], shape[1]}))
	}
	layer, err := strconv.Atoi(number)
	if err != nil {
		return nil, err
	}
	each := len(weight.Data) / b.layers
	weight.Name, weight.Rows, weight.Data = tensor+", part "+number, shape[0], weight.Data[layer*each:(layer+1)*each]
	return &binding{weight: weight, tensor: tensor, at: layer * each}, nil
}

// splitName splits "blk.0.attn_q.weight" into "blk.0." and "attn_q.weight".
func splitName(name string) (layer, kind string, ok bool) {
	rest, ok := strings.CutPrefix(name, "blk.")
	number, kind, found := strings.Cut(rest, ".")
	return "blk." + number + ".", kind, ok && found
}

// shape translates the tag shape into numbers: "length", "rows,cols" or "matrices,rows,cols".
func (b *binder) shape(tag string) []int {
	var shape []int
	for name := range strings.SplitSeq(tag, ",") {
		shape = append(shape, b.sizes[name])
	}
	return shape
}

func fits(w compute.Weight, shape []int) bool {
	numbers := 1
	for _, n := range shape {
		numbers *= n
	}
	// Rows may differ from the shape: a norm with weights for each head may be stored as (heads, keyDim), and
	// the matrices of experts are stored as one matrix that has the rows of all.
	return w.Rows*w.Cols == numbers && (len(shape) == 1 || w.Cols == shape[len(shape)-1])
}

func times(shape []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", " × "), "[]")
}

// leftover refuses a file with a tensor that is bound to no field. A pass would ignore this tensor, so
// it would compute something else than the model, and nobody would notice.
func (b *binder) leftover() error {
	if name := b.unbound(""); name != "" {
		return fmt.Errorf("the tensor %s has no place in a %s model of these hyperparameters: the file is a variant that is not supported",
			name, b.arch.name)
	}
	return nil
}

// unbound names a tensor that is bound to no field and whose name begins with beginning; "" if there is
// none. Without a beginning, it leaves out tensors of heads, and unused tensors (isUnused).
func (b *binder) unbound(beginning string) string {
	bound := make(map[string]bool, len(b.bindings))
	for _, binding := range b.bindings {
		bound[binding.tensor] = true
	}
	for _, t := range b.file.Tensors() {
		if !bound[t.Name] && strings.HasPrefix(t.Name, beginning) && (beginning != "" || !b.isHead(t.Name) && !b.isUnused(t.Name)) {
			return b.file.Called(t.Name)
		}
	}
	return ""
}

// isHead reports whether a tensor belongs to a head that predicts further tokens: the layers after
// the model's (nextn_predict_layers).
func (b *binder) isHead(tensor string) bool {
	heads, _, _ := b.file.Uint(b.file.Architecture() + ".nextn_predict_layers")
	i, _, ok := numberAndKind(tensor)
	return ok && heads > 0 && i >= b.layers
}

// isUnused reports whether a tensor computes keys or values in a layer that borrows them. Files have such
// tensors because the training had them. The tables in a drafter's file that say which tokens to score are
// not used either: an Assistant scores all tokens.
func (b *binder) isUnused(tensor string) bool {
	if b.arch.borrowsAll && strings.HasPrefix(tensor, "masked_embd_") {
		return true
	}
	i, kind, ok := numberAndKind(tensor)
	return ok && i >= b.layers-b.borrowers && i < b.layers && slices.Contains([]string{"attn_k.weight", "attn_v.weight", "attn_k_norm.weight"}, kind)
}

// numberAndKind splits "blk.7.attn_q.weight" into 7 and "attn_q.weight".
func numberAndKind(tensor string) (layer int, kind string, ok bool) {
	beginning, kind, ok := splitName(tensor)
	_, err := fmt.Sscanf(beginning, "blk.%d.", &layer)
	return layer, kind, ok && err == nil
}

// describe sums up the size and type of the weights.
func (b *binder) describe(c *Config) {
	bytesOf := map[compute.DType]int64{}
	var most compute.DType
	for _, binding := range b.bindings {
		w := binding.weight
		c.Parameters += int64(w.Rows) * int64(w.Cols)
		c.WeightBytes += int64(len(w.Data))
		bytesOf[w.Type] += int64(len(w.Data))
		if bytesOf[w.Type] > bytesOf[most] {
			most = w.Type
		}
	}
	c.WeightType = gguf.TypeName(most)
}
