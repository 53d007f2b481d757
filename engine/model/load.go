package model

import (
	"context"
	"fmt"
	"slices"

	"specula/engine/compute"
	"specula/engine/weights"
)

// Options are the sizes of a model's buffers, and which parts of the file to load.
type Options struct {
	MaxTokens   int           // capacity of a cache; 0: the context length of the file
	MaxRows     int           // largest number of rows of a Forward, which returns logits for each; 0: 32
	PrefillRows int           // rows of one pass of Prefill; a number below MaxRows means MaxRows
	CacheType   compute.DType // type of keys and values: F32, F16 or Q8_0
	CacheBySize bool          // choose F16 or F32 by the size of a token's keys and values, and ignore CacheType
	Reserved    int64         // bytes of the backend's memory that other data needs
	Head        bool          // also load the head of MTP in the file, if there is one
}

const defaultMaxRows = 32

// Load checks the hyperparameters and tensors of a file, and whether the memory is enough. Only then it
// loads the weights. progress, which may be nil, gets the bytes of weights done. For each weight, the
// backend either uses the file's data without a copy, or makes a copy in its own layout. After a copy the
// file's bytes are released, so a file can be loaded only once. If the memory is not enough, the error
// wraps compute.ErrOutOfMemory.
func Load(ctx context.Context, backend compute.Backend, file *weights.File, o Options, progress func(done, total int64)) (*Model, error) {
	m, err := load(ctx, backend, file, o, progress)
	if err != nil {
		return nil, fmt.Errorf("loading %q: %w", file.Name(), err)
	}
	return m, nil
}

func load(ctx context.Context, backend compute.Backend, file *weights.File, o Options, progress func(done, total int64)) (*Model, error) {
	arch, err := recognise(file)
	if err != nil {
		return nil, err
	}
	return loadAs(ctx, arch, backend, file, o, progress)
}

// loadAs loads a file of this architecture.
func loadAs(ctx context.Context, arch architecture, backend compute.Backend, file *weights.File, o Options, progress func(done, total int64)) (*Model, error) {
	config, layout, err := readConfig(file, &arch)
	if err != nil {
		return nil, err
	}
	if err := config.size(file, o, layout.shapes); err != nil {
		return nil, err
	}
	m := &Model{backend: backend, arch: arch, config: config, layers: make([]layer, config.Layers)}
	m.shapeLayers(layout)
	if err := m.checkOperations(layout.windows); err != nil {
		return nil, err
	}
	if err := m.checkCache(); err != nil {
		return nil, err
	}
	tensors, err := m.bind(file)
	if err != nil {
		return nil, err
	}
	if o.Head {
		m.bindHead(file)
	}
	err = m.checkMemory(tensors, o.Reserved)
	if err != nil && m.mtp.tensors != nil {
		m.mtp = inFile{refused: fmt.Sprintf("the head in the target's file is not used: %v", err)}
		err = m.checkMemory(tensors, o.Reserved)
	}
	if err != nil {
		return nil, err
	}
	if err := m.takeHead(ctx, backend); err != nil {
		return nil, err
	}
	if m.matrices, err = tensors.take(ctx, backend, m.config.WeightBytes, progress); err != nil {
		return nil, err
	}
	if m.Output == nil {
		m.Output = m.Embedding
	}
	if err := m.placeLayers(layout.windows); err != nil {
		return nil, err
	}
	if err := m.placeConvolutions(); err != nil {
		return nil, err
	}
	if err := m.placeValueNorms(); err != nil {
		return nil, err
	}
	if err := m.checkOutputScales(file); err != nil {
		return nil, err
	}
	if err := m.placeRouterNorms(); err != nil {
		return nil, err
	}
	if m.arch.normEmbeddings {
		if m.ones, err = backend.Vector("ones", slices.Repeat([]float32{1}, m.config.Dim)); err != nil {
			return nil, err
		}
	}
	if m.config.Experts.Experts > 0 {
		if m.routing, err = backend.(compute.Mixer).Routing(m.config.PrefillRows, m.config.Experts); err != nil {
			return nil, err
		}
	}
	if err := m.allocate(); err != nil {
		return nil, err
	}
	return m, m.placeHeads(ctx)
}

// size sets the sizes that are no hyperparameters: vocabulary, cache and rows of a pass.
func (c *Config) size(file *weights.File, o Options, shapes []layerShape) error {
	const mostRows = 1 << 16
	table, found, err := file.Tensor("token_embd.weight")
	if err != nil {
		return err
	}
	if found {
		c.Vocab = table.Rows
	}
	c.MaxTokens, c.MaxRows, c.CacheType = o.MaxTokens, o.MaxRows, o.CacheType
	if c.MaxTokens == 0 {
		c.MaxTokens = c.ContextLength
	}
	if o.CacheBySize {
		c.CacheType = cacheTypeBySize(shapes)
	}
	if c.MaxRows == 0 {
		c.MaxRows = defaultMaxRows
	}
	if c.MaxTokens < 1 || c.MaxTokens > c.ContextLength {
		return fmt.Errorf("a context of %d tokens was asked for; the model allows 1 to %d; with context.length 0 it is as long as the model allows", c.MaxTokens, c.ContextLength)
	}
	c.PrefillRows = max(o.PrefillRows, c.MaxRows)
	if c.MaxRows < 1 || c.PrefillRows > mostRows {
		return fmt.Errorf("passes of %d rows and prefill by %d were asked for; allowed are 1 to %d", c.MaxRows, c.PrefillRows, mostRows)
	}
	if c.Latent.Dim > 0 {
		c.PrefillRows = max(c.MaxRows, min(c.PrefillRows, mostHeadRows/shapes[0].heads))
	}
	c.MaxRows, c.PrefillRows = min(c.MaxRows, c.MaxTokens), min(c.PrefillRows, c.MaxTokens)
	return nil
}

// bind finds and checks every tensor.
func (m *Model) bind(file *weights.File) (*binder, error) {
	b := &binder{file: file, arch: m.arch, sizes: m.config.sizes(m.arch.qkNorm, m.layers[0].shape), layers: m.config.Layers, borrowers: m.config.SharedKeys}
	b.parts = m.config.parts(0)
	for _, tensors := range []any{&m.parameters, &m.perLayerTables, &m.joints} {
		if err := b.collect(tensors, 0); err != nil {
			return nil, err
		}
	}
	for i := range m.layers {
		b.parts, b.sizes = m.config.parts(i), m.config.sizes(m.arch.qkNorm, m.layers[i].shape)
		for _, tensors := range []any{&m.layers[i], &m.layers[i].mixture, &m.layers[i].recurrent, &m.layers[i].perLayer, &m.layers[i].latent} {
			if err := b.collect(tensors, i); err != nil {
				return nil, err
			}
		}
	}
	if err := m.layByLayer(b); err != nil {
		return nil, err
	}
	m.config.FeedForwardMatrices = 3
	if m.arch.needs()["gate"] == absent {
		m.config.FeedForwardMatrices = 2
	}
	b.describe(&m.config)
	_, hasOutput, _ := file.Tensor("output.weight")
	m.config.TiedOutput = !hasOutput
	return b, b.leftover()
}

// checkOperations refuses a model that needs an operation which the backend does not have.
func (m *Model) checkOperations(w layerWindows) error {
	if _, ok := m.backend.(compute.Mixer); !ok && m.config.Experts.Experts > 0 {
		return m.lacks("a mixture of experts")
	}
	if _, ok := m.backend.(compute.ExpertScaler); !ok && m.config.Beside {
		return m.lacks("factors of experts")
	}
	_, reshapes := m.backend.(compute.Reshaper)
	if _, ok := m.backend.(compute.Mixer); m.config.Latent.Dim > 0 && !(ok && reshapes) {
		return m.lacks("compressed keys and values")
	}
	if _, ok := m.backend.(compute.Recurrent); !ok && m.config.State.Heads > 0 {
		return m.lacks("layers with a state in place of keys and values")
	}
	if _, ok := m.backend.(compute.Extra); ok {
		return nil
	}
	c, a := &m.config, &m.arch
	for _, need := range []struct {
		what string
		is   bool
	}{
		{"sliding windows", w.size > 0},
		{"capped scores", c.AttentionCap != 0 || c.LogitCap != 0},
		{"factors of embeddings, residuals or logits", c.EmbeddingScale != 0 || c.ResidualScale != 0 || c.LogitScale != 0},
		{"norms with a mean", a.layerNorm},
		{"another activation than SiLU", a.activation != compute.SiLU || a.needs()["attention_gate"] == required},
	} {
		if need.is {
			return m.lacks(need.what)
		}
	}
	return nil
}

// lacks returns an error: the model has parts that the backend cannot compute.
func (m *Model) lacks(what string) error {
	return fmt.Errorf("a %s model has %s, and %s does not compute these yet: choose --device cpu: %w",
		m.arch.name, what, m.backend.Info().Name, compute.ErrLacks)
}
