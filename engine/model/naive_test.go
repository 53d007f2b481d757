package model_test

import (
	"fmt"
	"math"
	"slices"
)

// remind keeps a copy of the residual stream.
func (m *tiny) remind(stream [][]float64) {
	var rows [][]float64
	for _, x := range stream {
		rows = append(rows, append([]float64(nil), x...))
	}
	m.streams = append(m.streams, rows)
}

// forward is the transformer in float64, token by token and without a cache. It was written from
// the papers, independently of the package.
func (m *tiny) forward(ids []int32) [][]float64 {
	stream := make([][]float64, len(ids))
	for i, id := range ids {
		stream[i] = append([]float64(nil), m.row("token_embd.weight", int(id))...)
	}
	m.streams = nil
	for l := range tinyLayers {
		m.remind(stream)
		if slices.Contains(m.without, l) {
			continue
		}
		at := func(name string) string { return fmt.Sprintf("blk.%d.%s", l, name) }
		var q, k, v [][]float64
		for position, x := range stream {
			x = m.norm(x, at("attn_norm.weight"))
			q = append(q, m.heading(m.linearMap(x, at("attn_q")), at("attn_q_norm.weight"), position))
			k = append(k, m.heading(m.linearMap(x, at("attn_k")), at("attn_k_norm.weight"), position))
			v = append(v, m.linearMap(x, at("attn_v")))
		}
		for position, x := range stream {
			plus(x, m.linearMap(m.gather(m.layer(l), q[position], k[:position+1], v), at("attn_output")))
			h := m.norm(x, at("ffn_norm.weight"))
			gate, up := m.linearMap(h, at("ffn_gate")), m.linearMap(h, at("ffn_up"))
			for i, g := range gate {
				gate[i] = g / (1 + math.Exp(-g)) * up[i]
			}
			plus(x, m.linearMap(gate, at("ffn_down")))
		}
	}
	m.remind(stream)
	output := "output"
	if m.tied {
		output = "token_embd"
	}
	var logits [][]float64
	for _, x := range stream {
		logits = append(logits, m.linearMap(m.norm(x, "output_norm.weight"), output))
	}
	return logits
}

func (m *tiny) row(name string, i int) []float64 {
	cols := m.shapes[name][1]
	return m.matrices[name][i*cols : (i+1)*cols]
}

func plus(x, y []float64) {
	for i := range x {
		x[i] += y[i]
	}
}

// linearMap multiplies with name.weight and adds name.bias if the model has one.
func (m *tiny) linearMap(x []float64, name string) []float64 {
	out := make([]float64, m.shapes[name+".weight"][0])
	for r := range out {
		for i, w := range m.row(name+".weight", r) {
			out[r] += w * x[i]
		}
	}
	if bias, ok := m.matrices[name+".bias"]; ok {
		plus(out, bias)
	}
	return out
}

func (m *tiny) norm(x []float64, name string) []float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v / math.Sqrt(sum/float64(len(x))+float64(float32(tinyEps))) * m.matrices[name][i]
	}
	return out
}

// heading applies the norm, if the model has one, and RoPE to each head.
func (m *tiny) heading(x []float64, norm string, position int) []float64 {
	var out []float64
	for ; len(x) > 0; x = x[m.headDim:] {
		head := append([]float64(nil), x[:m.headDim]...)
		if m.qkNorm {
			head = m.norm(head, norm)
		}
		out = append(out, m.rotated(head, position)...)
	}
	return out
}

func (m *tiny) rotated(head []float64, position int) []float64 {
	dim := m.headDim
	if m.ropeDim != 0 {
		dim = m.ropeDim
	}
	for i := range dim / 2 {
		angle := float64(position) * math.Pow(tinyBase, -float64(2*i)/float64(dim))
		if m.linear != 0 {
			angle /= m.linear
		}
		if m.factors {
			angle /= m.matrices["rope_freqs.weight"][i]
		}
		a, b := i, i+dim/2
		if m.arch == "llama" {
			a, b = 2*i, 2*i+1
		}
		turned := complex(head[a], head[b]) * complex(math.Cos(angle), math.Sin(angle))
		head[a], head[b] = real(turned), imag(turned)
	}
	return head
}

// gather is the attention of one token's heads over the given keys and values.
func (m *tiny) gather(size tinyLayer, q []float64, k, v [][]float64) []float64 {
	values := m.values()
	out := make([]float64, size.heads*values)
	for h := range size.heads {
		kvHead := h / (size.heads / size.kvHeads)
		mine, shared := h*m.headDim, kvHead*m.headDim
		weight := make([]float64, len(k))
		total := 0.0
		for j := range k {
			score := 0.0
			for d := range m.headDim {
				score += q[mine+d] * k[j][shared+d]
			}
			weight[j] = math.Exp(score / math.Sqrt(float64(m.headDim)))
			total += weight[j]
		}
		for j := range k {
			for d := range values {
				out[h*values+d] += weight[j] / total * v[j][kvHead*values+d]
			}
		}
	}
	return out
}
