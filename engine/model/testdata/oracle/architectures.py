"""Makes the fixtures that TestEveryArchitectureAgainstTransformers reads.

A tiny model of each family, with random weights, is made by the library transformers, saved in a
folder (NAME.zip), converted to GGUF by llama.cpp's convert_hf_to_gguf.py, and computed by transformers in
float64. Run by `make oracle`; needs torch, transformers and the source of llama.cpp:

    python architectures.py LLAMA_CPP OUT [NAME ...]

Every weight has one of four values, so that a file compresses to two bits a weight.
"""

import gzip
import json
import pathlib
import re
import shutil
import sys
import tempfile
import zipfile

import numpy as np
import torch
import transformers

VOCAB, WINDOW, SHORT, LONG = 64, 16, 10, 48

BASE = dict(
    vocab_size=VOCAB, hidden_size=32, intermediate_size=48, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2,
    max_position_embeddings=128, tie_word_embeddings=False, attention_dropout=0.0, pad_token_id=0, bos_token_id=1, eos_token_id=2,
)

TOKENS = ["<pad>", "<begin>", "<end>", *(chr(ord("@") + i) for i in range(VOCAB - 4)), "ab"]

YARN = dict(rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=32, beta_fast=2.0, beta_slow=0.25)

EXPERTS = dict(moe_intermediate_size=24, num_experts=8, num_experts_per_tok=3)

DELTA = dict(
    head_dim=16, layer_types=["linear_attention", "linear_attention", "linear_attention", "full_attention"], linear_conv_kernel_dim=4,
    linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8, linear_value_head_dim=8)
CONVOLVED = dict(conv_L_cache=3, layer_types=["conv", "conv", "full_attention", "conv"], rope_parameters=dict(rope_type="default", rope_theta=10000.0))
SCANNED = dict(layer_types=["linear_attention", "linear_attention", "full_attention", "linear_attention"], mamba_n_heads=4, mamba_d_head=16,
               mamba_n_groups=1, mamba_d_state=12, mamba_d_conv=4, mamba_expand=2)
NEMOTRON = dict(head_dim=16, mamba_num_heads=8, mamba_head_dim=8, n_groups=2, ssm_state_size=16, conv_kernel=4)
NEMOTRON_EXPERTS = dict(
    NEMOTRON, layers_block_type=["linear_attention", "moe", "full_attention", "moe", "linear_attention"], num_hidden_layers=5, n_routed_experts=6,
    num_experts_per_tok=3, moe_intermediate_size=24, moe_shared_expert_intermediate_size=40, routed_scaling_factor=2.5)
GRANITE = dict(embedding_multiplier=6.0, residual_multiplier=0.25, attention_multiplier=0.3, logits_scaling=4.0)
FALCON = dict(head_dim=16, embedding_multiplier=2.0, lm_head_multiplier=0.5, mlp_multipliers=[0.75, 0.5], key_multiplier=0.5,
              attention_out_multiplier=0.75, attention_in_multiplier=1.25, ssm_multipliers=[0.5, 0.75, 1.25, 1.5, 2.0], ssm_in_multiplier=0.75,
              ssm_out_multiplier=0.5, rope_parameters=dict(rope_type="default", rope_theta=10000.0))

def gemma4(kinds, per_layer=0, **more):
    """Gemma 4: s are layers with a window, f are full ones, whose heads are wider."""
    return dict(
        head_dim=8, global_head_dim=16, tie_word_embeddings=True, sliding_window=WINDOW, num_hidden_layers=len(kinds),
        layer_types=[dict(s="sliding_attention", f="full_attention")[k] for k in kinds], hidden_size_per_layer_input=per_layer,
        vocab_size_per_layer_input=VOCAB, final_logit_softcapping=3.0, **more)


TURNED = dict(rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5, mrope_section=[2, 1, 1]))


LATENT = dict(
    kv_lora_rank=16, qk_nope_head_dim=12, qk_rope_head_dim=8, v_head_dim=10, num_key_value_heads=4, n_routed_experts=6, num_experts_per_tok=3,
    n_shared_experts=2, moe_intermediate_size=24, first_k_dense_replace=1, n_group=1, topk_group=1, routed_scaling_factor=1.5)


def alternate(n, every):
    return ["full_attention" if (i + 1) % every == 0 else "sliding_attention" for i in range(n)]


# name: (class of transformers without Config and ForCausalLM, what differs from BASE)
MODELS = {
    "llama": ("Llama", {}),
    "llama-yarn": ("Llama", dict(rope_parameters=YARN)),
    "llama-linear": ("Llama", dict(rope_parameters=dict(rope_type="linear", rope_theta=10000.0, factor=2.0))),
    "llama-llama3": ("Llama", dict(rope_parameters=dict(
        rope_type="llama3", rope_theta=10000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32))),
    "llama-dynamic": ("Llama", dict(max_position_embeddings=32, rope_parameters=dict(rope_type="dynamic", rope_theta=10000.0, factor=2.0))),
    "qwen2": ("Qwen2", {}),
    "qwen3": ("Qwen3", dict(head_dim=16)),
    "qwen2vl": ("Qwen2VL", {}),
    "qwen3vl": ("Qwen3VL", dict(head_dim=16)),
    "gemma": ("Gemma", dict(head_dim=16, tie_word_embeddings=True, hidden_activation="gelu_pytorch_tanh")),
    "gemma2": ("Gemma2", dict(head_dim=16, tie_word_embeddings=True, query_pre_attn_scalar=16, sliding_window=WINDOW,
                              attn_logit_softcapping=5.0, final_logit_softcapping=3.0, layer_types=alternate(4, 2))),
    "gemma3": ("Gemma3Text", dict(head_dim=16, tie_word_embeddings=True, query_pre_attn_scalar=16, sliding_window=WINDOW, num_hidden_layers=7,
                              layer_types=alternate(7, 6))),
    "gemma4": ("Gemma4Text", gemma4("ssfsf", attention_k_eq_v=True, num_global_key_value_heads=1)),
    "gemma4-shared": ("Gemma4Text", gemma4("ssfsfssf", num_kv_shared_layers=3, use_double_wide_mlp=True)),
    "gemma4-embeddings": ("Gemma4Text", gemma4("ssfsf", per_layer=6, num_kv_shared_layers=2)),
    "gemma4-experts": ("Gemma4Text", gemma4("ssf", attention_k_eq_v=True, num_global_key_value_heads=1, enable_moe_block=True, num_experts=6,
                                            top_k_experts=3, moe_intermediate_size=24)),
    "phi3": ("Phi3", dict(sliding_window=None)),
    "phi3-window": ("Phi3", dict(sliding_window=WINDOW)),
    "phi3-longrope": ("Phi3", dict(
        sliding_window=None, original_max_position_embeddings=32, max_position_embeddings=128, partial_rotary_factor=0.75, head_dim=16,
        hidden_size=64, rope_parameters=dict(rope_type="longrope", rope_theta=10000.0, partial_rotary_factor=0.75,
                          original_max_position_embeddings=32,
                          short_factor=[1.0, 1.1, 1.2, 1.3, 1.4, 1.5], long_factor=[1.0, 1.5, 2.0, 3.0, 4.0, 5.0]))),
    "granite": ("Granite", dict(embedding_multiplier=6.0, residual_multiplier=0.25, attention_multiplier=0.3, logits_scaling=4.0)),
    "olmo2": ("Olmo2", {}),
    "olmo3": ("Olmo3", dict(sliding_window=WINDOW, layer_types=alternate(4, 4), rope_parameters=dict(
        full_attention=YARN, sliding_attention=dict(rope_type="default", rope_theta=10000.0)))),
    "glm4": ("Glm4", dict(head_dim=16, hidden_size=64, partial_rotary_factor=0.5, attention_bias=True)),
    "exaone4": ("Exaone4", dict(sliding_window=None, sliding_window_pattern=4, head_dim=8, layer_types=["full_attention"] * 4)),
    "exaone4-window": ("Exaone4", dict(sliding_window=WINDOW, head_dim=8, sliding_window_pattern="LLLG", layer_types=alternate(4, 4))),
    "smollm3": ("SmolLM3", dict(no_rope_layers=[1, 1, 1, 0], tie_word_embeddings=True)),
    "ernie4_5": ("Ernie4_5", dict(head_dim=16, tie_word_embeddings=True)),
    "seed_oss": ("SeedOss", dict(head_dim=16, attention_bias=True, attention_out_bias=False)),
    "mistral3": ("Ministral3", dict(head_dim=16, sliding_window=None, rope_parameters=dict(
        rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=32, beta_fast=2.0, beta_slow=0.25,
        mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.1))),
    "hunyuan-dense": ("HunYuanDenseV1", dict(
        head_dim=16, max_position_embeddings=32768, rope_parameters=dict(rope_type="dynamic", rope_theta=10000.0, alpha=2.0, factor=1.0))),
    "stablelm": ("StableLm", dict(partial_rotary_factor=0.5, use_qkv_bias=True)),
    "stablelm-parallel": ("StableLm", dict(partial_rotary_factor=0.5, use_parallel_residual=True, qk_layernorm=True)),
    "starcoder2": ("Starcoder2", dict(sliding_window=None, use_bias=True, hidden_act="gelu_pytorch_tanh", tie_word_embeddings=True)),
    "command-r": ("Cohere", dict(logit_scale=0.25, tie_word_embeddings=True, use_qk_norm=False)),
    "command-r-norms": ("Cohere", dict(logit_scale=0.25, tie_word_embeddings=True, use_qk_norm=True)),
    "cohere2": ("Cohere2", dict(logit_scale=0.25, rotary_pct=1.0, tie_word_embeddings=True, sliding_window=WINDOW, layer_types=alternate(4, 4))),
    # Mixtures of experts.
    "qwen3moe": ("Qwen3Moe", dict(head_dim=16, **EXPERTS, norm_topk_prob=True)),
    "qwen2moe": ("Qwen2Moe", dict(**EXPERTS, norm_topk_prob=False, shared_expert_intermediate_size=40)),
    "mixtral": ("Mixtral", dict(num_local_experts=6, num_experts_per_tok=2, sliding_window=None)),
    "gpt-oss": ("GptOss", dict(head_dim=16, num_local_experts=6, num_experts_per_tok=3, sliding_window=WINDOW, layer_types=alternate(4, 2),
                               rope_parameters=dict(YARN, truncate=False))),
    "granitemoe": ("GraniteMoe", dict(num_local_experts=6, num_experts_per_tok=3, embedding_multiplier=6.0, residual_multiplier=0.25,
                                      attention_multiplier=0.3, logits_scaling=4.0)),
    "ernie4_5-moe": ("Ernie4_5_Moe", dict(head_dim=16, moe_intermediate_size=24, moe_num_experts=6, moe_k=3, moe_num_shared_experts=1,
                                          moe_layer_start_index=1, moe_layer_end_index=3, moe_layer_interval=1, tie_word_embeddings=True)),
    "glm4moe": ("Glm4Moe", dict(head_dim=16, partial_rotary_factor=0.5, moe_intermediate_size=24, n_routed_experts=6, num_experts_per_tok=3,
                                n_shared_experts=2, first_k_dense_replace=1, n_group=1, topk_group=1, routed_scaling_factor=1.5,
                                norm_topk_prob=True, use_qk_norm=True, attention_bias=True)),
    "minimax-m2": ("MiniMaxM2", dict(
        head_dim=16, intermediate_size=24, rotary_dim=8, num_local_experts=6, num_experts_per_tok=3, scoring_func="sigmoid",
        rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5))),
    "qwen3vlmoe": ("Qwen3VLMoe", dict(head_dim=16, **EXPERTS)),
    # Compressed keys and values.
    "deepseek2": ("DeepseekV2", dict(**LATENT, q_lora_rank=None, topk_method="greedy", rope_parameters=dict(YARN, mscale=0.707, mscale_all_dim=0.707))),
    "deepseek2-flash": ("Glm4MoeLite", dict(**LATENT, q_lora_rank=24, mlp_layer_types=["dense"] + ["sparse"] * 3, norm_topk_prob=True)),
    "mistral4": ("Mistral4", dict(**LATENT, q_lora_rank=24, norm_topk_prob=True, rope_parameters=dict(
        YARN, original_max_position_embeddings=64, mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.1, partial_rotary_factor=0.4))),
    "qwen35": ("Qwen3_5Text", DELTA | TURNED),
    "qwen3next": ("Qwen3Next", dict(**DELTA, **EXPERTS, shared_expert_intermediate_size=40, partial_rotary_factor=0.5, rope_parameters=dict(
        rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5))),
    "qwen35moe": ("Qwen3_5MoeText", dict(**DELTA, **TURNED, **EXPERTS, shared_expert_intermediate_size=40)),
    "lfm2": ("Lfm2", dict(CONVOLVED, block_auto_adjust_ff_dim=False)),
    "lfm2moe": ("Lfm2Moe", dict(CONVOLVED, **EXPERTS, num_dense_layers=1, norm_topk_prob=True, use_expert_bias=True, tie_word_embeddings=True)),
    "granitehybrid": ("GraniteMoeHybrid", dict(SCANNED, **GRANITE, num_local_experts=0, num_experts_per_tok=0, shared_intermediate_size=48)),
    "granitehybrid-moe": ("GraniteMoeHybrid", dict(SCANNED, **GRANITE, num_local_experts=6, num_experts_per_tok=3, intermediate_size=24,
                                                   shared_intermediate_size=40)),
    "falcon-h1": ("FalconH1", dict(
        FALCON, num_hidden_layers=3, mamba_d_ssm=48, mamba_n_heads=6, mamba_d_head=8, mamba_n_groups=2, mamba_d_state=16, mamba_d_conv=4)),
    "falcon-h1-norms": ("FalconH1", dict(
        FALCON, num_hidden_layers=3, mamba_d_ssm=32, mamba_n_heads=4, mamba_d_head=8, mamba_n_groups=2, mamba_d_state=12, mamba_d_conv=2,
        mamba_rms_norm=True, mamba_norm_before_gate=False)),
    "nemotron_h": ("NemotronH", dict(
        NEMOTRON, num_hidden_layers=6, n_routed_experts=0,
        layers_block_type=["linear_attention", "mlp", "linear_attention", "full_attention", "mlp", "linear_attention"])),
    "nemotron_h_moe": ("NemotronH", NEMOTRON_EXPERTS),
    "nemotron_h_moe-narrow": ("NemotronH", dict(NEMOTRON_EXPERTS, moe_latent_size=20)),
    # Families that transformers does not have: the weights of another model, under the names of such a family.
    "internlm2": ("Llama", dict(num_hidden_layers=3)),
    "qwen": ("Qwen2", dict(num_key_value_heads=4)),
    "nemotron": ("Nemotron", dict(partial_rotary_factor=0.5, hidden_act="relu2", head_dim=8)),
}


# Models with a head of multi-token prediction: that of MODELS, and how the library calls the head's tensors.
QWEN_HEAD = dict(layer="mtp.layers.0.", fc="mtp.fc", enorm="mtp.pre_fc_norm_embedding", hnorm="mtp.pre_fc_norm_hidden", norm="mtp.norm")
GLM_HEAD = dict(layer="model.layers.4.", fc="model.layers.4.eh_proj", enorm="model.layers.4.enorm", hnorm="model.layers.4.hnorm",
                norm="model.layers.4.shared_head.norm", embedding="model.layers.4.embed_tokens", output="model.layers.4.shared_head.head")
NEMOTRON_HEAD = dict(layer="mtp.layers.0.", fc="mtp.layers.0.eh_proj", enorm="mtp.layers.0.enorm", hnorm="mtp.layers.0.hnorm",
                     norm="mtp.layers.1.final_layernorm")
HEADS = {"qwen35-mtp": ("qwen35", QWEN_HEAD), "qwen35moe-mtp": ("qwen35moe", QWEN_HEAD), "qwen3next-mtp": ("qwen3next", QWEN_HEAD),
         "glm4moe-mtp": ("glm4moe", GLM_HEAD), "nemotron_h_moe-mtp": ("nemotron_h_moe", NEMOTRON_HEAD)}


def make(name, **more):
    """Returns a tiny model with coarse random weights."""
    kind, differs = MODELS[name]
    differs = {**differs, **more}
    config = getattr(transformers, kind.removesuffix("Text") + ("TextConfig" if kind.endswith("Text") else "TextConfig" if "VL" in kind else "Config"))
    torch.manual_seed(len(name))
    if "VL" in kind:
        return vision(kind, config(**{**BASE, **differs}))
    model = getattr(transformers, kind.removesuffix("Text") + "ForCausalLM")
    if kind in ("Qwen3Next", "Gemma4Text", "GraniteMoeHybrid", "FalconH1", "NemotronH"):
        model = widened(model)
    settings = config(**{**BASE, **differs})
    settings._attn_implementation = settings._experts_implementation = "eager"
    return coarse(model(settings))


def widened(model):
    """Returns a class of the library with float64 where the library computes in float32. Float32 moves some logits by 5e-4."""
    module = sys.modules[model.__module__]
    source = pathlib.Path(module.__file__).read_text().replace("torch.float32", "torch.float64").replace(".float()", ".double()")
    exec(compile(source, module.__file__, "exec"), module.__dict__)
    return getattr(module, model.__name__)


def has_states(model):
    return any(".conv1d." in name or ".conv.conv." in name for name, _ in model.named_parameters())


def has_experts(model):
    return any(".experts." in name for name, _ in model.named_parameters())


def vision(kind, text):
    """A model that also reads pictures. Only its language part is used."""
    sections = dict(mrope_section=[2, 1, 1] if kind == "Qwen2VL" else [4, 2, 2])
    text.rope_parameters = dict(rope_type="default", rope_theta=10000.0, **sections)
    config = getattr(transformers, kind + "Config")()
    config.text_config = text
    small = dict(depth=1, embed_dim=32, hidden_size=32, num_heads=2, intermediate_size=32, out_hidden_size=32)
    for key, value in small.items():
        if hasattr(config.vision_config, key):
            setattr(config.vision_config, key, value)
    if hasattr(config.vision_config, "deepstack_visual_indexes"):
        config.vision_config.deepstack_visual_indexes = [0]
    config.tie_word_embeddings = False
    config._attn_implementation = config._experts_implementation = "eager"
    return coarse(getattr(transformers, kind + "ForConditionalGeneration")(config))


def coarse(model):
    draw = np.random.default_rng(5)
    for name, p in model.named_parameters():
        if name.endswith("lm_head.weight") and model.config.get_text_config().tie_word_embeddings:
            continue
        values = draw.choice([-0.375, -0.125, 0.125, 0.375], size=tuple(p.shape))
        if "norm" in name and name.endswith("weight"):
            kind = type(model).__name__
            around = 0.0 if "Gemma" in kind and "Gemma4" not in kind or kind == "NemotronForCausalLM" else 1.0
            values = values + around
        if name.endswith("scale"):
            values = values + 1.0
        with torch.no_grad():
            p.copy_(torch.from_numpy(values))
    for name, buffer in model.named_buffers():
        if name.endswith(("e_score_correction_bias", "layer_scalar")):
            values = draw.choice([-0.375, -0.125, 0.125, 0.375], size=tuple(buffer.shape))
            buffer.copy_(torch.from_numpy(values + (1.0 if name.endswith("layer_scalar") else 0.0)))
    return model.eval()


# Folders whose weights are of another type than F32, or in several files. All numbers are exact in half precision.
TYPES = {"qwen2": torch.bfloat16, "qwen3": torch.float16, "gemma2": torch.bfloat16}
SHARDED = ["llama-linear", "gemma"]


def save(model, folder, name=""):
    """Writes the model to folder as the library does, and a tokenizer.json with the tokens of vocabulary."""
    model.to(TYPES.get(name, torch.float32)).save_pretrained(folder, **(dict(max_shard_size="30KB") if name in SHARDED else {}))
    model.to(torch.float32)
    byte_level = dict(type="ByteLevel", add_prefix_space=False, trim_offsets=True, use_regex=True)
    (folder / "tokenizer.json").write_text(json.dumps(dict(
        version="1.0", normalizer=None, pre_tokenizer=byte_level, post_processor=None, decoder=byte_level,
        added_tokens=[dict(id=i, content=t, special=True, normalized=False) for i, t in enumerate(TOKENS[:3])],
        model=dict(type="BPE", vocab={t: i for i, t in enumerate(TOKENS)}, merges=[["a", "b"]]))))


def pack(model, name, out):
    """Writes the folder of a model as one file."""
    with tempfile.TemporaryDirectory() as scratch:
        save(model, pathlib.Path(scratch), name)
        with zipfile.ZipFile(out / f"{name}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
            for path in sorted(pathlib.Path(scratch).iterdir()):
                z.writestr(zipfile.ZipInfo(path.name), path.read_bytes(), zipfile.ZIP_DEFLATED, 9)


class Head:
    """A head of multi-token prediction: the library leaves it out of its models, but has the layer.

    The layer is the last of a model of one layer more. What is normed where is llama.cpp's (qwen35.cpp, glm4-moe.cpp).
    """

    def __init__(self, name, names, n=BASE["num_hidden_layers"], **more):
        kinds = MODELS[name][1].get("layer_types")
        self.names = names
        self.model = make(name, num_hidden_layers=n + 1, **more, **(dict(layer_types=[*kinds, "full_attention"]) if kinds else {}))
        self.config, body = self.model.config, self.model.model
        draw = np.random.default_rng(9)
        coarse = lambda *shape, around=0.0: torch.from_numpy(draw.choice([-0.375, -0.125, 0.125, 0.375], size=shape) + around)
        dim = self.config.hidden_size
        self.own = {part: coarse(dim, around=1.0) for part in ("enorm", "hnorm", "norm")} | {"fc": coarse(dim, 2 * dim)}
        self.own |= {part: coarse(VOCAB, dim) for part in ("embedding", "output") if part in names}
        self.tables = [self.own.get("embedding", self.model.get_input_embeddings().weight.detach()), self.own.get("output", self.model.lm_head.weight.detach())]

    def patch(self, folder):
        """Changes a saved model with one layer more into a model with a head, as published folders have it."""
        from safetensors.torch import load_file, save_file

        file, n = folder / "model.safetensors", BASE["num_hidden_layers"]
        tensors = {name.replace(f"model.layers.{n}.", self.names["layer"]): t for name, t in load_file(file).items()}
        tensors |= {self.names[part] + ".weight": t.to(torch.float32) for part, t in self.own.items()}
        save_file(tensors, file, metadata=dict(format="pt"))
        config = json.loads((folder / "config.json").read_text())
        config |= dict(num_hidden_layers=n, mtp_num_hidden_layers=1, num_nextn_predict_layers=1)
        if "layer_types" in config:
            config["layer_types"] = config["layer_types"][:n]
        (folder / "config.json").write_text(json.dumps(config))

    def cut(self):
        """Takes the head's layer out of the model, so that the model computes without it."""
        body = self.model.double().model
        self.layer, n = body.layers[-1], BASE["num_hidden_layers"]
        body.layers = body.layers[:n]
        body.config.num_hidden_layers = n

    def norm(self, x, part):
        body, c = self.model.model, self.config
        kind = type(body.norm_f if hasattr(body, "norm_f") else body.norm)
        made = kind(x.shape[-1], eps=c.rms_norm_eps if hasattr(c, "rms_norm_eps") else c.layer_norm_epsilon).double()
        made.weight.data = self.own[part].double()
        return made(x)

    def run(self, x, mask):
        angles = self.model.model.rotary_emb(x, torch.arange(x.shape[1])[None])
        return self.layer(x, position_embeddings=angles, attention_mask=mask)[0][None]

    def draft(self, ids, steps):
        """Drafts steps tokens after ids: the tokens, and the logits of each. Every step computes all pairs afresh."""
        body, (embedding, output) = self.model.model, [t.double() for t in self.tables]
        with torch.no_grad():
            hidden = body(torch.tensor([ids])).last_hidden_state[0]
            inputs, tokens, drafted, rows = [*hidden[:-1]], list(ids[1:]), [], []
            for _ in range(steps):
                both = torch.cat([self.norm(embedding[tokens], "enorm"), self.norm(torch.stack(inputs), "hnorm")], -1)
                x = (both @ self.own["fc"].double().T)[None]
                n = len(tokens)
                mask = torch.triu(torch.full((n, n), -torch.inf, dtype=torch.float64), 1)[None, None]
                state = self.norm(self.run(x, mask)[0], "norm")[-1]
                rows.append((output @ state).numpy())
                drafted.append(int(rows[-1].argmax()))
                inputs.append(state)
                tokens.append(drafted[-1])
        return drafted, rows


class NemotronHead(Head):
    """A head of two layers, attention and experts. As in vLLM, its last norm is RMSNorm."""

    def __init__(self, name, names):
        kinds = MODELS[name][1]["layers_block_type"]
        self.count = len(kinds)
        super().__init__(name, names, self.count, layers_block_type=[*kinds, "full_attention", "moe"])

    def patch(self, folder):
        from safetensors.torch import load_file, save_file

        file, n = folder / "model.safetensors", self.count
        own = lambda name: re.sub(r"^(backbone|model)\.layers\.(%d|%d)\." % (n, n + 1), lambda m: f"mtp.layers.{int(m[2]) - n}.", name)
        tensors = {own(name): t for name, t in load_file(file).items()}
        tensors |= {self.names[part] + ".weight": t.to(torch.float32) for part, t in self.own.items()}
        save_file(tensors, file, metadata=dict(format="pt"))
        config = json.loads((folder / "config.json").read_text())
        config |= dict(layers_block_type=config["layers_block_type"][:n], num_nextn_predict_layers=1)
        (folder / "config.json").write_text(json.dumps(config))

    def cut(self):
        body = self.model.double().model
        self.layers, body.layers = body.layers[self.count:], body.layers[:self.count]

    def run(self, x, mask):
        for layer in self.layers:
            x = layer(x, attention_mask=mask)
        return x


def convert(model, llama_cpp, folder, out, head=None):
    """Writes the model to folder, and as F32 GGUF to out."""
    sys.path.insert(0, str(llama_cpp / "gguf-py"))
    sys.path.insert(0, str(llama_cpp))
    import gguf
    from conversion import ModelBase, ModelType, get_model_architecture, get_model_class

    save(model, folder)
    if head:
        head.patch(folder)
    if "Qwen3VLMoe" in type(model).__name__:
        turn_experts(folder / "model.safetensors")
    if "GraniteMoeHybrid" in type(model).__name__:
        name_layers(folder / "config.json")
    hparams = ModelBase.load_hparams(folder, False)
    # The converter knows Mistral 4 only as the text part of a model that also reads pictures.
    kind = "Mistral3ForConditionalGeneration" if "Mistral4" in type(model).__name__ else get_model_architecture(hparams, ModelType.TEXT)
    cls = get_model_class(kind, mmproj=False)
    cls.set_vocab = lambda self: vocabulary(self.gguf_writer)
    cls.no_mtp = head is None  # transformers leaves out the layer that predicts the token after the next
    more = dict(hparams=nemotron(hparams)) if "NemotronH" in type(model).__name__ else {}
    instance = cls(folder, gguf.LlamaFileType.ALL_F32, out, use_temp_file=False, **more)
    instance = getattr(instance, "impl", instance)
    type(instance).set_vocab = cls.set_vocab
    if type(model).__name__ == "LlamaForCausalLM" and model.config.rope_parameters["rope_type"] == "dynamic":
        scale_dynamically(instance)
    if "StableLM" in cls.__name__:
        stack_norms(instance)
    if type(model).__name__ == "Glm4MoeForCausalLM" and not head:  # what some files keep of a head
        instance.gguf_writer.add_tensor(f"blk.{model.config.num_hidden_layers}.nextn.enorm.weight", np.ones(model.config.hidden_size, np.float32))
    instance.write()


def name_layers(path):
    """Names the kinds of the layers in config.json as published models do, which the converter expects."""
    config = json.loads(path.read_text())
    config["layer_types"] = ["attention" if kind == "full_attention" else "mamba" for kind in config["layer_types"]]
    path.write_text(json.dumps(config))


def turn_experts(file):
    """Transposes the matrices of experts: published models have them so."""
    from safetensors.torch import load_file, save_file

    turned = lambda name, t: t.transpose(1, 2).contiguous() if ".experts." in name else t
    save_file({name: turned(name, t) for name, t in load_file(file).items()}, file, metadata=dict(format="pt"))


def nemotron(hparams):
    """Returns the fields of config.json as published models have them: layers by letters, and of experts nothing if there are none."""
    kinds = dict(linear_attention="M", full_attention="*", mlp="-", moe="E")
    letters = "".join(kinds[kind] for kind in hparams["layers_block_type"])
    hparams = {key: value for key, value in hparams.items() if key != "layers_block_type" and ("E" in letters or key != "num_experts_per_tok")}
    return hparams | dict(hybrid_override_pattern=letters, num_hidden_layers=len(letters))


def scale_dynamically(instance):
    """Writes the scaling that the converter leaves out, and a context that needs it."""
    writer, usual = instance.gguf_writer, instance.set_gguf_parameters

    def parameters():
        usual()
        writer.add_context_length(64)
        writer.add_string("llama.rope.scaling.type", "dynamic")
        writer.add_rope_scaling_factor(2.0)
        writer.add_rope_scaling_orig_ctx_len(32)

    instance.set_gguf_parameters = parameters


def stack_norms(instance):
    """Puts the norms of a layer's heads into one tensor, which the converter forgets to do."""
    heads, usual = {}, instance.modify_tensors

    def modify(data, name, bid):
        kind, _, head = name.partition("_layernorm.norms.")
        if not head:
            yield from usual(data, name, bid)
            return
        kind = kind[-1]
        rows = heads.setdefault((bid, kind), [])
        rows.append(data)
        if len(rows) == instance.hparams["num_attention_heads" if kind == "q" else "num_key_value_heads"]:
            yield f"blk.{bid}.attn_{kind}_norm.weight", torch.stack(rows)

    instance.modify_tensors = modify


def relabel(llama_cpp, file, name):
    """Writes a llama or qwen2 model as a family with the same arithmetic, its q, k and v in one tensor."""
    import gguf

    reader, fused = gguf.GGUFReader(file), name == "qwen"
    old = reader.fields["general.architecture"].contents()
    writer = gguf.GGUFWriter(file.with_suffix(".new"), name)
    for key, field in reader.fields.items():
        if key.startswith("GGUF.") or key == "general.architecture":
            continue
        value = field.contents()
        if fused and key.endswith("feed_forward_length"):
            value *= 2
        writer.add_key_value(key.replace(old + ".", name + "."), value, field.types[0], field.types[1] if len(field.types) > 1 else None)
    tensors = {t.name: np.array(t.data) for t in reader.tensors}
    for tensor, data in tensors.items():
        if fused and ".attn_q." in tensor:
            data = np.concatenate([data, tensors[tensor.replace("_q.", "_k.")], tensors[tensor.replace("_q.", "_v.")]])
            tensor = tensor.replace("attn_q.", "attn_qkv.")
        if not (fused and (".attn_k." in tensor or ".attn_v." in tensor)):
            writer.add_tensor(tensor, data)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    file.with_suffix(".new").rename(file)


class Muse:
    """Muse Glimmer, which transformers does not have: its file with random weights, and its arithmetic in NumPy.

    Written after llama.cpp's muse-glimmer.cpp, with which the logits were compared (largest difference 1e-6).
    """

    DIM, FFN, LAYERS, HEADS, KV, HEAD, SCALE, CAP = 32, 48, 4, 4, 2, 8, 0.5, 3.0

    def __init__(self):
        draw = np.random.default_rng(5)
        coarse = lambda *shape, around=0.0: (draw.choice([-0.375, -0.125, 0.125, 0.375], size=shape) + around).astype(np.float32)
        q, kv = self.HEADS * self.HEAD, self.KV * self.HEAD
        self.w = {"token_embd": coarse(VOCAB, self.DIM), "output": coarse(VOCAB, self.DIM), "output_norm": coarse(self.DIM, around=1)}
        for i in range(self.LAYERS):
            for name, shape in dict(attn_q=(q, self.DIM), attn_k=(kv, self.DIM), attn_v=(kv, self.DIM), attn_gate=(q, self.DIM),
                                    attn_output=(self.DIM, q), ffn_gate=(self.FFN, self.DIM), ffn_up=(self.FFN, self.DIM),
                                    ffn_down=(self.DIM, self.FFN)).items():
                self.w[f"blk.{i}.{name}"] = coarse(*shape)
            for name, n in dict(attn_norm=self.DIM, ffn_norm=self.DIM, post_attention_norm=self.DIM, post_ffw_norm=self.DIM,
                                attn_q_norm=self.HEAD, attn_k_norm=self.HEAD).items():
                self.w[f"blk.{i}.{name}"] = coarse(n, around=1)

    def write(self, llama_cpp, file):
        sys.path.insert(0, str(llama_cpp / "gguf-py"))
        import gguf

        w = gguf.GGUFWriter(file, "muse-glimmer")
        for add, value in ((w.add_context_length, 128), (w.add_embedding_length, self.DIM), (w.add_block_count, self.LAYERS),
                           (w.add_feed_forward_length, self.FFN), (w.add_head_count, self.HEADS), (w.add_head_count_kv, self.KV),
                           (w.add_key_length, self.HEAD), (w.add_value_length, self.HEAD), (w.add_layer_norm_rms_eps, 1e-6),
                           (w.add_rope_freq_base, 10000.0), (w.add_rope_dimension_count, self.HEAD), (w.add_sliding_window, WINDOW),
                           (w.add_logit_scale, self.SCALE), (w.add_final_logit_softcapping, self.CAP),
                           (w.add_sliding_window_pattern, [True, True, True, False])):
            add(value)
        vocabulary(w)
        for name, data in self.w.items():
            w.add_tensor(name + ".weight", data)
        w.write_header_to_file()
        w.write_kv_data_to_file()
        w.write_tensors_to_file()
        w.close()

    def norm(self, x, name=None, eps=1e-6):
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + float(np.float32(eps)))
        return x if name is None else x * self.w[name].astype(np.float64)

    def linear(self, x, name):
        return x @ self.w[name].astype(np.float64).T

    def heads(self, x, norm, rotate):
        x = self.norm(x.reshape(len(x), -1, self.HEAD), norm)
        if rotate:
            angle = np.arange(len(x))[:, None] * 10000.0 ** (-np.arange(0, self.HEAD, 2) / self.HEAD)
            turned = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angle)[:, None]
            x = np.stack([turned.real, turned.imag], -1).reshape(x.shape)
        return x

    def compute(self, ids):
        x = self.norm(self.w["token_embd"].astype(np.float64)[ids])
        n = len(ids)
        distance = np.arange(n)[:, None] - np.arange(n)[None]
        sigmoid = lambda v: 1 / (1 + np.exp(-v))
        for i in range(self.LAYERS):
            at, near = f"blk.{i}.", i % 4 < 3
            h = self.norm(x, at + "attn_norm")
            q = self.heads(self.linear(h, at + "attn_q"), at + "attn_q_norm", near)
            k = self.heads(self.linear(h, at + "attn_k"), at + "attn_k_norm", near).repeat(self.HEADS // self.KV, 1)
            v = self.linear(h, at + "attn_v").reshape(n, self.KV, self.HEAD).repeat(self.HEADS // self.KV, 1)
            score = np.einsum("ihd,jhd->hij", q, k) / np.sqrt(self.HEAD)
            score = np.where((distance < 0) | (near & (distance >= WINDOW)), -np.inf, score)
            weight = np.exp(score - score.max(-1, keepdims=True))
            out = np.einsum("hij,jhd->ihd", weight / weight.sum(-1, keepdims=True), v).reshape(n, -1)
            out = self.linear(out * sigmoid(self.linear(h, at + "attn_gate")), at + "attn_output")
            x = x + self.norm(out, at + "post_attention_norm", 1e-8)
            h = self.norm(x, at + "ffn_norm")
            gate = self.linear(h, at + "ffn_gate")
            out = self.linear(gate * sigmoid(gate) * self.linear(h, at + "ffn_up"), at + "ffn_down")
            x = x + self.norm(out, at + "post_ffw_norm", 1e-8)
        logits = self.linear(self.norm(x, "output_norm"), "output") * self.SCALE
        return self.CAP * np.tanh(logits / self.CAP)


def vocabulary(writer):
    """Three control tokens, some letters, and one pair of letters."""
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(TOKENS)
    writer.add_token_types([3] * 3 + [1] * (VOCAB - 3))
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)


def compute(model, ids):
    """Logits of the model in float64, (tokens, vocabulary)."""
    with torch.no_grad():
        # Asked for the hidden states, the library does not leave out rows where Gemma 4 reads earlier keys.
        return model.double()(torch.tensor([ids]), output_hidden_states=True).logits[0].to(torch.float64).numpy()


def fixture(name, llama_cpp, out):
    with tempfile.TemporaryDirectory() as scratch:
        folder, file = pathlib.Path(scratch) / "model", pathlib.Path(scratch) / "model.gguf"
        folder.mkdir()
        if name == "muse-glimmer":
            model = Muse()
            model.write(llama_cpp, file)
        elif name in HEADS:
            head = (NemotronHead if name.startswith("nemotron") else Head)(*HEADS[name])
            model = head.model
            convert(model, llama_cpp, folder, file, head)
            head.cut()
        else:
            model = make(name)
            convert(model, llama_cpp, folder, file)
            # Not those saved as the family whose arithmetic they have, nor mixtures and others whose folders are not read.
            if name not in ("internlm2", "qwen") and not name.startswith("gemma4") and not has_experts(model) and not has_states(model):
                pack(model, name, out)
        if name in ("internlm2", "qwen"):
            relabel(llama_cpp, file, name)
        prompts = []
        for length in (SHORT, LONG):
            ids = np.random.default_rng(length).integers(3, VOCAB, length).tolist()
            rows = sorted({0, length // 3, length - 2, length - 1})
            logits = model.compute(ids) if name == "muse-glimmer" else compute(model, ids)
            short = lambda row: [float(f"{x:.7g}") for x in row]
            prompts.append(dict(ids=ids, rows=rows, logits=[short(logits[r]) for r in rows]))
            if name in HEADS:
                drafted, guesses = head.draft(ids, 4)
                prompts[-1] |= dict(drafted=drafted, guesses=[short(row) for row in guesses])
        with open(out / f"{name}.json", "w") as f:
            json.dump(prompts, f)
        with gzip.GzipFile(out / f"{name}.gguf.gz", "wb", 9, mtime=0) as f:
            f.write(file.read_bytes())


if __name__ == "__main__":
    llama_cpp, out, names = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:] or [*MODELS, *HEADS, "muse-glimmer"]
    for name in names:
        fixture(name, llama_cpp, out)
        print(name, (out / f"{name}.gguf.gz").stat().st_size, (out / f"{name}.json").stat().st_size)
