"""The models of the pair: Qwen3's shape (RMSNorm, QK-norm, SwiGLU, RoPE, grouped-query attention, tied embeddings)."""
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F

ROPE_THETA = 10000.0
EPSILON = 1e-6


@dataclass(frozen=True)
class Shape:
    dim: int
    layers: int
    heads: int
    kv: int
    hd: int  # width of a head
    ffn: int
    vocab: int = 4096


TARGET = Shape(dim=256, layers=8, heads=4, kv=2, hd=64, ffn=1024)
DRAFT = Shape(dim=128, layers=2, heads=2, kv=1, hd=64, ffn=384)  # its weights in Q8_0 fit into a level-2 cache of 1 MiB
SMOKE = Shape(dim=64, layers=2, heads=2, kv=1, hd=32, ffn=128)


class RMSNorm(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.rms_norm(x, (x.shape[-1],), self.weight.to(x.dtype), EPSILON)


def rotary(length: int, hd: int) -> tuple[torch.Tensor, torch.Tensor]:
    """cos and sin of every position, each [length, hd/2]."""
    inverse = ROPE_THETA ** (-torch.arange(0, hd, 2, dtype=torch.float64) / hd)
    angle = torch.arange(length, dtype=torch.float64)[:, None] * inverse
    return angle.cos().float(), angle.sin().float()


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """RoPE over the halves of each head (NeoX); x is [batch, heads, length, hd]."""
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Causal attention; all [batch, heads, length, hd]. For short windows it is written out, because its backward pass is then faster on a
    CPU."""
    length = q.shape[-2]
    if length > 512 or q.is_cuda:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    scores = (q @ k.transpose(-1, -2)).float() * q.shape[-1] ** -0.5
    ahead = torch.ones(length, length, dtype=torch.bool, device=q.device).triu(1)
    return torch.softmax(scores.masked_fill(ahead, -1e30), -1).to(q.dtype) @ v


class Block(nn.Module):
    def __init__(self, s: Shape):
        super().__init__()
        self.shape = s
        self.attn_norm, self.ffn_norm = RMSNorm(s.dim), RMSNorm(s.dim)
        self.wq = nn.Linear(s.dim, s.heads * s.hd, bias=False)
        self.wk = nn.Linear(s.dim, s.kv * s.hd, bias=False)
        self.wv = nn.Linear(s.dim, s.kv * s.hd, bias=False)
        self.wo = nn.Linear(s.heads * s.hd, s.dim, bias=False)
        self.qn, self.kn = RMSNorm(s.hd), RMSNorm(s.hd)
        self.gate = nn.Linear(s.dim, s.ffn, bias=False)
        self.up = nn.Linear(s.dim, s.ffn, bias=False)
        self.down = nn.Linear(s.ffn, s.dim, bias=False)

    def qkv(self, y: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Returns rotated queries, rotated keys, and values of the normed rows y [batch, length, dim]; each is [batch, heads, length, hd]."""
        s, (batch, length, _) = self.shape, y.shape
        q = rotate(self.qn(self.wq(y).view(batch, length, s.heads, s.hd)).transpose(1, 2), cos, sin)
        k = rotate(self.kn(self.wk(y).view(batch, length, s.kv, s.hd)).transpose(1, 2), cos, sin)
        return q, k, self.wv(y).view(batch, length, s.kv, s.hd).transpose(1, 2)

    def rest(self, x: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        """Computes the steps after attention: adds its projection to x, and then the output of the feed-forward part."""
        x = x + self.wo(attended.transpose(1, 2).flatten(2))
        y = self.ffn_norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(self.attn_norm(x), cos, sin)
        group = self.shape.heads // self.shape.kv
        return self.rest(x, attention(q, k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)))

    def cached(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, kv: torch.Tensor, begin: int) -> torch.Tensor:
        """Does the same as forward for the rows from position begin on. kv [2, batch, heads, room, hd] holds the keys and values of all rows.
        If begin is not 0, x must have one row."""
        q, k, v = self.qkv(self.attn_norm(x), cos, sin)
        end = begin + x.shape[1]
        kv[0, :, :, begin:end], kv[1, :, :, begin:end] = k, v
        attended = F.scaled_dot_product_attention(q, kv[0, :, :, :end], kv[1, :, :, :end], is_causal=begin == 0, enable_gqa=True)
        return self.rest(x, attended)


class LM(nn.Module):
    def __init__(self, s: Shape):
        super().__init__()
        self.shape = s
        self.emb = nn.Embedding(s.vocab, s.dim)
        self.blocks = nn.ModuleList([Block(s) for _ in range(s.layers)])
        self.norm = RMSNorm(s.dim)
        for name, p in self.named_parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02 / (math.sqrt(2 * s.layers) if "wo" in name or "down" in name else 1))

    def hidden(self, ids: torch.Tensor) -> list[torch.Tensor]:
        """The residual stream before each block and after the last one, not normed; each [batch, length, dim]."""
        x = self.emb(ids)
        cos, sin = (t.to(x) for t in rotary(ids.shape[1], self.shape.hd))
        stream = [x]
        for block in self.blocks:
            stream.append(block(stream[-1], cos, sin))
        return stream

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Logits [batch, length, vocab] of ids [batch, length]."""
        return F.linear(self.norm(self.hidden(ids)[-1]), self.emb.weight)


def save(model: LM, path: Path, **notes) -> None:
    beside = path.with_suffix(".tmp")
    torch.save({"config": asdict(model.shape), "model": model.state_dict(), **notes}, beside)
    beside.replace(path)


def load(path: Path) -> LM:
    kept = torch.load(path, map_location="cpu")
    model = LM(Shape(**kept["config"]))
    model.load_state_dict({k: v.float() for k, v in kept["model"].items()})
    return model


def grown(small: LM, s: Shape) -> LM:
    """Returns a deeper model with wider feed-forward parts. At first it computes what small computes, because the new parts add nothing.

    New blocks come after the old ones. All widths other than ffn must agree."""
    large = LM(s)
    with torch.no_grad():
        large.emb.weight.copy_(small.emb.weight)
        large.norm.weight.copy_(small.norm.weight)
        for n, block in enumerate(large.blocks):
            if n >= len(small.blocks):
                block.wo.weight.zero_()
                block.down.weight.zero_()
                continue
            block.down.weight.zero_()
            for name, p in small.blocks[n].named_parameters():
                q = dict(block.named_parameters())[name]
                q[tuple(slice(0, d) for d in p.shape)] = p
    return large


def shrunk(large: LM, s: Shape) -> LM:
    """Returns a shallower model with narrower feed-forward parts, which has to be trained further. It keeps blocks at even distances, with
    the first and the last, and of each block the hidden units with the largest weights. All widths other than ffn must agree."""
    small = LM(s)
    with torch.no_grad():
        small.emb.weight.copy_(large.emb.weight)
        small.norm.weight.copy_(large.norm.weight)
        for n, block in enumerate(small.blocks):
            old = large.blocks[round(n * (len(large.blocks) - 1) / max(1, s.layers - 1))]
            heavy = old.gate.weight.norm(dim=1) * old.up.weight.norm(dim=1) * old.down.weight.norm(dim=0)
            kept = heavy.topk(s.ffn).indices.sort().values
            for name, p in block.named_parameters():
                q = dict(old.named_parameters())[name]
                p.copy_({"gate.weight": lambda: q[kept], "up.weight": lambda: q[kept], "down.weight": lambda: q[:, kept]}.get(name, lambda: q)())
    return small
