package model

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"specula/engine/compute"
)

// Latent is the size of compressed keys and values (multi-head latent attention). For each token, a
// cache has Dim numbers that stand for the keys and values of all heads, and Turned numbers, which RoPE
// rotates. A head's key is K·c, with a matrix K of the head and the Dim numbers c, followed by the Turned
// numbers. To multiply one query by Kᵀ is less work than to multiply all keys by K, and gives the same scores:
// q·(K·c) = (Kᵀ·q)·c. So all heads attend to the same key, as in multi-query attention. The output of attention
// is compressed, too; a second matrix of the head makes a value of it. Source: DeepSeek-AI, DeepSeek-V2, 2024, §2.1.
type Latent struct {
	Dim      int // 0: keys and values are not compressed
	Turned   int // numbers of a key that are rotated
	Plain    int // numbers of a key that are not rotated, before compression
	Value    int // numbers of a head's value
	QueryDim int // numbers of the compressed query; 0: queries are not compressed
}

// latentEps is the epsilon of the norms of compressed queries, keys and values, in all models.
const latentEps = 1e-6

// mostHeadRows bounds the heads of all rows in a pass over a prompt. For the backend each head is a row, and
// a launch on a GPU has at most 65535 rows.
const mostHeadRows = 1 << 15

// latent holds the weights of attention over compressed keys and values. In the file, QueryPlain and
// QueryTurned are one tensor, and so are QueryPlainB and QueryTurnedB: for each head first the rows whose
// products RoPE leaves as they are, then those whose products it rotates. KeyLatent and KeyTurned are one
// tensor, too. findInterleaved separates them.
type latent struct {
	QueryShort      compute.Matrix `gguf:"blk.%d.attn_q_a.weight" shape:"latent_query,dim" in:"latent_query"`
	QueryShortNorm  compute.Vector `gguf:"blk.%d.attn_q_a_norm.weight" shape:"latent_query" in:"latent_query"`
	QueryPlainB     compute.Matrix `gguf:"blk.%d.attn_q_b_plain.weight" shape:"latent_plains,latent_query" in:"latent_query"`
	QueryTurnedB    compute.Matrix `gguf:"blk.%d.attn_q_b_turned.weight" shape:"latent_turneds,latent_query" in:"latent_query"`
	QueryPlain      compute.Matrix `gguf:"blk.%d.attn_q_plain.weight" shape:"latent_plains,dim" in:"latent_plain"`
	QueryTurned     compute.Matrix `gguf:"blk.%d.attn_q_turned.weight" shape:"latent_turneds,dim" in:"latent_plain"`
	KeyLatent       compute.Matrix `gguf:"blk.%d.attn_kv_a_latent.weight" shape:"latent,dim" in:"latent"`
	KeyTurned       compute.Matrix `gguf:"blk.%d.attn_kv_a_turned.weight" shape:"latent_turned,dim" in:"latent"`
	KeyLatentNorm   compute.Vector `gguf:"blk.%d.attn_kv_a_norm.weight" shape:"latent" in:"latent"`
	QueryToLatent   compute.Matrix `gguf:"blk.%d.attn_k_b.weight" shape:"heads,latent,latent_plain" in:"latent"`
	ValueFromLatent compute.Matrix `gguf:"blk.%d.attn_v_b.weight" shape:"heads,latent_value,latent" in:"latent"`
}

// addSizes adds the numbers for the names in the shape tags.
func (n Latent) addSizes(sizes map[string]int, s layerShape) {
	if n.Dim == 0 {
		return
	}
	for name, size := range map[string]int{
		"latent": n.Dim, "latent_turned": n.Turned, "latent_plain": n.Plain, "latent_value": n.Value, "latent_query": n.QueryDim,
		"latent_plains": s.heads * n.Plain, "latent_turneds": s.heads * n.Turned, "answers": s.heads * n.Value,
	} {
		sizes[name] = size
	}
}

// readLatent reads the sizes of compressed keys and values, and how scores are scaled.
func (m *metadata) readLatent(a *architecture, c *Config) {
	if !a.latent {
		return
	}
	n := &c.Latent
	n.Dim = m.count("attention.kv_lora_rank", 0, maxValueDim)
	n.Turned = c.RopeDim
	whole := m.count("attention.key_length_mla", 0, mostWide)
	n.Plain, n.Value = whole-n.Turned, m.count("attention.value_length_mla", 0, mostWide)
	n.QueryDim = m.optionalCount("attention.q_lora_rank", mostWide)
	value := m.count("attention.value_length", c.HeadDim, maxValueDim)
	switch {
	case n.Plain < 1:
		m.fail(m.key("attention.key_length_mla"), whole, fmt.Sprintf("more than the %d numbers that are rotated", n.Turned))
	case c.HeadDim != n.Dim+n.Turned:
		m.fail(m.key("attention.key_length"), c.HeadDim, fmt.Sprintf("%d, the compressed numbers and those that are rotated", n.Dim+n.Turned))
	case value != n.Dim:
		m.fail(m.key("attention.value_length"), value, fmt.Sprintf("%d, the compressed numbers", n.Dim))
	}
	c.AttentionScale = 1 / math.Sqrt(float64(whole))
	// In other families the next key lowers YaRN's factor of cosine and sine (yarnMagnitude). Here cosine and
	// sine have no factor; instead the scores are multiplied by (1 + 0.1·x·ln Factor)² for the model's number
	// x. These files have 0.1·x under the key.
	if tenth, found := m.maybe("rope.scaling.yarn_log_multiplier", 0, 100); found && c.Scaling.Type == "yarn" {
		grown := 1 + tenth*math.Log(c.Scaling.Factor)
		c.AttentionScale *= grown * grown
		c.Scaling.Magnitude = 1
	}
	// In some files queries grow after the original context. A pass over compressed keys does not compute
	// this, so the context ends where the growth would begin.
	if growth, _ := m.maybe("attention.temperature_scale", 0, 100); growth > 0 {
		c.ContextLength = min(c.ContextLength, max(1, c.Scaling.Original))
	}
}

// checkLatent refuses layers with compressed keys and values whose heads differ from layer to layer:
// all layers share their activations (latentSizes). It also refuses more than one key head in a layer.
func (m *metadata) checkLatent(c *Config, shapes []layerShape) {
	if c.Latent.Dim == 0 {
		return
	}
	for i, s := range shapes {
		if s.kvHeads != 1 {
			m.fail(m.key("attention.head_count_kv"), fmt.Sprintf("%d in layer %d", s.kvHeads, i), "1: all heads have the same compressed key")
		}
		if s.heads != shapes[0].heads {
			m.fail(m.key("attention.head_count"), fmt.Sprintf("%d in layer %d", s.heads, i), fmt.Sprintf("%d, as in layer 0", shapes[0].heads))
		}
	}
}

// latentHeads is the number of heads, the same in all layers (checkLatent).
func (m *Model) latentHeads() int { return m.layers[0].shape.heads }

// latentSizes lists the activations of attention over compressed keys and values.
func (m *Model) latentSizes() []size {
	c, a, rows := &m.config.Latent, &m.activations, m.config.PrefillRows
	if c.Dim == 0 {
		return nil
	}
	heads := m.latentHeads()
	all := []size{
		{&a.queryPlain, rows, heads * c.Plain}, {&a.queryTurned, rows, heads * c.Turned}, {&a.keyTurned, rows, c.Turned},
		{&a.headProducts, rows * heads, c.Dim}, {&a.headQueries, rows * heads, c.Dim}, {&a.headValues, rows * heads, c.Value}, {&a.mixed, rows, heads * c.Value},
		{&a.chosenHeads, rows * heads, heads},
	}
	if c.QueryDim > 0 {
		all = append(all, size{&a.queryShort, rows, c.QueryDim})
	}
	return all
}

// headRouter is the router by which each head chooses one of as many matrices as there are heads.
func (m *Model) headRouter() compute.Router {
	return compute.Router{Experts: m.latentHeads(), Used: 1, Normed: true, Scale: 1}
}

// headScores are the scores of one row's heads: head i chooses matrix i. data may be nil.
func (m *Model) headScores(data []byte) compute.Weight {
	return compute.Weight{Name: "choice of heads", Type: compute.F32, Rows: m.latentHeads(), Cols: m.latentHeads(), Data: data}
}

// choiceBytes is the memory that placeHeads takes from a backend with its own memory.
func (m *Model) choiceBytes(b planner) float64 {
	if m.config.Latent.Dim == 0 {
		return 0
	}
	return float64(b.RoutingBytes(m.config.PrefillRows*m.latentHeads(), m.headRouter()) + b.MatrixBytes(m.headScores(nil)))
}

// placeHeads makes headChoice, by which each head gets its own matrix. For the backend, the heads of a
// row are rows, and their matrices are experts. placeHeads fills chosenHeads with scores that choose
// matrix i for head i.
func (m *Model) placeHeads(ctx context.Context) error {
	if m.config.Latent.Dim == 0 {
		return nil
	}
	heads, rows := m.latentHeads(), m.config.PrefillRows
	var err error
	if m.headChoice, err = m.backend.(compute.Mixer).Routing(rows*heads, m.headRouter()); err != nil {
		return err
	}
	diagonal, ids := make([]byte, 0, float32Bytes*heads*heads), make([]int32, rows*heads)
	for i := range heads * heads {
		score := float32(0)
		if i/heads == i%heads {
			score = 1
		}
		diagonal = binary.LittleEndian.AppendUint32(diagonal, math.Float32bits(score))
	}
	for i := range ids {
		ids[i] = int32(i % heads)
	}
	scores, err := m.backend.Matrix(ctx, m.headScores(diagonal))
	if err != nil {
		return err
	}
	return m.backend.Embed(m.activations.chosenHeads, scores, ids)
}

// chooseHeads lets the router choose each head's matrix, for all rows of a pass.
func (m *Model) chooseHeads(p *pass) {
	if m.headChoice != nil && p.err == nil {
		p.err = p.mixer().Route(m.headChoice, m.activations.chosenHeads, p.rows*m.latentHeads(), nil)
	}
}

// gatherLatent runs the attention block of layer i after its first norm, whose output is x. It takes the
// place of gather (forward.go) in models with compressed keys and values.
func (m *Model) gatherLatent(p *pass, i int, x compute.Buffer) {
	l, a, b, c := &m.layers[i], &m.activations, m.layers[i].buffers, &m.config.Latent
	plain, turned := l.QueryPlain, l.QueryTurned
	p.project(b.value, x, l.KeyLatent, nil)
	p.project(a.keyTurned, x, l.KeyTurned, nil)
	if l.QueryShort != nil {
		p.project(a.queryShort, x, l.QueryShort, nil)
		p.normBy(latentEps, a.queryShort, a.queryShort, l.QueryShortNorm, nil)
		x, plain, turned = a.queryShort, l.QueryPlainB, l.QueryTurnedB
	}
	p.project(a.queryPlain, x, plain, nil)
	p.project(a.queryTurned, x, turned, nil)
	p.normBy(latentEps, b.value, b.value, l.KeyLatentNorm, nil)
	p.copy(b.key, a.keyTurned, compute.Block{})
	p.copy(b.key, b.value, compute.Block{Col: c.Turned})
	p.multiplyHeads(a.headQueries, a.headProducts, p.reshape(a.queryPlain, c.Plain), l.QueryToLatent)
	query := p.reshape(b.query, c.Turned+c.Dim)
	p.copyHeads(query, p.reshape(a.queryTurned, c.Turned), compute.Block{})
	p.copyHeads(query, a.headQueries, compute.Block{Col: c.Turned})
	p.reshape(b.query, c.Turned+c.Dim) // a row of query is a whole row of the pass again, no longer a head
	p.rotate(l)
	s := &l.shape
	p.attend(b.attended, b.query, b.key, b.value, compute.Attention{Layer: l.keysOf, Heads: s.heads, HeadDim: s.keyDim, Scale: float32(s.attentionScale)})
	p.multiplyHeads(p.reshape(a.mixed, c.Value), a.headValues, p.reshape(b.attended, c.Dim), l.ValueFromLatent)
	p.reshape(a.mixed, c.Value) // a row of mixed is a whole row of the pass again, no longer a head
	p.project(a.output, a.mixed, l.Mix, l.MixBias)
	p.contribute(nil)
}

// reshape returns the heads of x as rows of their own.
func (p *pass) reshape(x compute.Buffer, head int) compute.Buffer {
	return p.Backend.(compute.Reshaper).Reshape(x, head)
}

// multiplyHeads multiplies each row of x, which is a head, by the matrix of that head. The products are
// written to the buffer slots in the order of computing, and from there to dst in the order of x.
func (p *pass) multiplyHeads(dst, slots, x compute.Buffer, w compute.Matrix) {
	if p.err == nil {
		p.err = p.ctx.Err()
	}
	if p.err == nil {
		p.err = p.mixer().MatMulExperts(slots, x, p.model.headChoice, w, false)
	}
	if p.err == nil {
		p.err = p.mixer().Mix(dst, slots, p.model.headChoice)
	}
}

// copyHeads copies x to a block of dst. Both have a row for each head of each row of the pass.
func (p *pass) copyHeads(dst, x compute.Buffer, b compute.Block) {
	if p.err == nil {
		p.err = p.Copy(dst, x, p.rows*p.model.latentHeads(), b)
	}
}
