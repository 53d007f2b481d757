"""Makes the fixtures that TestAssistantsAgainstTransformers reads: drafters of Gemma 4, which read the target's keys and values.

The targets are models of architectures.py. What a drafter drafts after a text is computed by the library's own
generator of candidates, in float64. Run by `make oracle`:

    python assistants.py LLAMA_CPP OUT [TARGET ...]
"""

import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
import transformers
from transformers.generation.candidate_generator import SinglePositionMultiTokenCandidateGenerator

from architectures import BASE, LONG, SHORT, VOCAB, WINDOW, coarse, convert, gemma4, make

# target: (the drafter's layers, what differs from BASE); a drafter has the target's key and value heads
ASSISTANTS = {
    "gemma4": ("ssf", dict(attention_k_eq_v=True, num_global_key_value_heads=1)),
    "gemma4-shared": ("sfsf", {}),
    "gemma4-embeddings": ("sf", {}),
}

STEPS = 4


def sharing(c):
    """Says which layers keep their keys and values for other layers, and which read those of other layers.

    The library's own property (version 5.23) raises an error for a drafter, because all its layers read keys of others.
    For a target without shared keys it keeps none, and the drafter would have nothing to read.
    """
    n, first = c.num_hidden_layers, c.num_hidden_layers - c.num_kv_shared_layers
    modes = [None] * first + ["reuse"] * (n - first)
    for kind in set(c.layer_types[:first]):
        modes[max(i for i in range(first) if c.layer_types[i] == kind)] = "store"
    return modes


transformers.Gemma4TextConfig.kv_sharing_modes = property(sharing)


def assistant(target):
    """Returns a drafter for a target. It is narrower than the target."""
    kinds, more = ASSISTANTS[target]
    settings = gemma4(kinds, num_kv_shared_layers=len(kinds), **more)
    settings |= dict(hidden_size=24, intermediate_size=40, vocab_size_per_layer_input=0, final_logit_softcapping=None)
    text = transformers.Gemma4TextConfig(**{**BASE, **settings})
    config = transformers.Gemma4AssistantConfig(text_config=text, backbone_hidden_size=BASE["hidden_size"])
    config._attn_implementation = "eager"
    model = transformers.Gemma4AssistantForCausalLM(config)
    model.generation_config.num_assistant_tokens = STEPS
    return coarse(model)


def draft(target, drafter, ids):
    """Drafts after ids, of which the target has read all but the last: the tokens, and the logits of each."""
    with torch.no_grad():
        read = target(torch.tensor([ids[:-1]]), output_hidden_states=True, return_shared_kv_states=True)
    # The library's mask lets a drafter see two keys more than a layer of the target sees at this position.
    seen = dict(full_attention=len(ids), sliding_attention=WINDOW - 1)
    read.shared_kv_states = {kind: tuple(x[:, :, -seen[kind]:] for x in pair) for kind, pair in read.shared_kv_states.items()}
    generation = transformers.GenerationConfig(max_length=1000)
    generator = SinglePositionMultiTokenCandidateGenerator(drafter, target.get_input_embeddings(), generation)
    tokens, logits = generator.get_candidates(torch.tensor([ids]), {}, read, False, 0)
    return tokens[0, len(ids):].tolist(), logits[0].numpy()


def fixture(name, llama_cpp, out):
    target, drafter = make(name).double(), assistant(name)
    with tempfile.TemporaryDirectory() as scratch:
        folder, file = pathlib.Path(scratch) / "model", pathlib.Path(scratch) / "model.gguf"
        folder.mkdir()
        convert(drafter, llama_cpp, folder, file)
        drafter.double()
        prompts = []
        for length in (SHORT, LONG):
            ids = np.random.default_rng(length + 1).integers(3, VOCAB, length).tolist()
            drafted, rows = draft(target, drafter, ids)
            prompts.append(dict(ids=ids, drafted=drafted, guesses=[[float(f"{x:.7g}") for x in row] for row in rows]))
        with open(out / f"{name}.json", "w") as f:
            json.dump(prompts, f)
        with gzip.GzipFile(out / f"{name}.gguf.gz", "wb", 9, mtime=0) as f:
            f.write(file.read_bytes())


if __name__ == "__main__":
    llama_cpp, out, names = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    out.mkdir(exist_ok=True)
    if not names:  # each alone: of a second target in one process, the library returns no hidden states
        for name in ASSISTANTS:
            subprocess.run([sys.executable, *sys.argv, name], check=True)
    for name in names:
        fixture(name, llama_cpp, out)
        print(name, (out / f"{name}.gguf.gz").stat().st_size, (out / f"{name}.json").stat().st_size)
