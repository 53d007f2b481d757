"""A model of Qwen3.5's kind: gated delta nets between layers of gated attention, with or without experts, and one layer of MTP.

Delta nets: Yang et al. 2024, Gated Delta Networks, §3; MTP: DeepSeek-AI 2024, DeepSeek-V3 Technical Report, §2.2.
"""
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F

from eagle import attend
from model import RMSNorm, attention, rotary, rotate

KERNEL = 4  # tokens that a convolution sees
CHUNK = 64  # tokens whose updates of a state are computed at once; the result does not depend on it
STEPS = 3  # trained steps of a draft


@dataclass(frozen=True)
class Shape:
    dim: int
    layers: int
    heads: int  # of a layer of attention, and of a delta net
    kv: int
    hd: int
    ffn: int  # of the dense network, or of the expert that every token goes through
    every: int = 2  # of so many layers, the last one has attention and the others are delta nets
    experts: int = 0
    used: int = 2  # experts of a token
    expert: int = 64  # width of one expert
    vocab: int = 4096

    def attends(self, n: int) -> bool:
        return n % self.every == self.every - 1


HYBRID = Shape(dim=256, layers=8, heads=4, kv=2, hd=64, ffn=1024)
MIXTURE = Shape(dim=256, layers=8, heads=4, kv=2, hd=64, ffn=512, experts=8)
SMOKE = Shape(dim=64, layers=2, heads=2, kv=1, hd=32, ffn=128)
SMOKE_MIXTURE = Shape(dim=64, layers=2, heads=2, kv=1, hd=32, ffn=32, experts=3, expert=32)


def linear(columns: int, rows: int) -> nn.Linear:
    made = nn.Linear(columns, rows, bias=False)
    nn.init.normal_(made.weight, std=0.02)
    return made


class Dense(nn.Module):
    def __init__(self, dim: int, ffn: int):
        super().__init__()
        self.gate, self.up, self.down = linear(dim, ffn), linear(dim, ffn), linear(ffn, dim)

    def units(self, x: torch.Tensor) -> torch.Tensor:
        return F.silu(self.gate(x)) * self.up(x)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(self.units(x))


class Mixture(nn.Module):
    """A mixture of experts: each token uses a few of them, and one more that all tokens use. All experts are computed for each token, as one
    wide network, and those that the token does not use get the factor 0. In training this is faster than sorting the tokens."""

    def __init__(self, s: Shape):
        super().__init__()
        self.shape, self.uneven = s, torch.zeros(())
        self.router, self.weigh = linear(s.dim, s.experts), linear(s.dim, 1)
        self.shared, self.parts = Dense(s.dim, s.ffn), Dense(s.dim, s.experts * s.expert)
        nn.init.normal_(self.router.weight, std=s.dim**-0.5)

    def units(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns the hidden units of the experts, and those of the expert that all tokens use. Each is multiplied by its expert's share."""
        s, chances = self.shape, F.softmax(self.router(x).float(), -1)
        best = chances.topk(s.used, -1)
        share = torch.zeros_like(chances).scatter(-1, best.indices, best.values / best.values.sum(-1, keepdim=True))
        self.uneven = s.experts * ((share > 0).float().flatten(0, -2).mean(0) / s.used * chances.flatten(0, -2).mean(0)).sum()
        units = (self.parts.units(x).unflatten(-1, (s.experts, s.expert)) * share[..., None].to(x.dtype)).flatten(-2)
        return units, torch.sigmoid(self.weigh(x)) * self.shared.units(x)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        own, shared = self.units(x)
        return self.parts.down(own) + self.shared.down(shared)


class Attention(nn.Module):
    def __init__(self, s: Shape):
        super().__init__()
        self.shape = s
        self.wq = linear(s.dim, 2 * s.heads * s.hd)  # for each head the rows of its query, then those of its gate
        self.wk, self.wv, self.wo = linear(s.dim, s.kv * s.hd), linear(s.dim, s.kv * s.hd), linear(s.heads * s.hd, s.dim)
        self.qn, self.kn = RMSNorm(s.hd), RMSNorm(s.hd)

    def qkvg(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Returns rotated queries, rotated keys, values and gates of x [batch, length, dim]; each is [batch, heads, length, hd]."""
        s, (batch, length, _) = self.shape, x.shape
        cos, sin = (t.to(x) for t in rotary(length, s.hd))
        q, gate = self.wq(x).view(batch, length, s.heads, 2 * s.hd).transpose(1, 2).chunk(2, -1)
        k, v = (w(x).view(batch, length, s.kv, s.hd).transpose(1, 2) for w in (self.wk, self.wv))
        k, v = (t.repeat_interleave(s.heads // s.kv, 1) for t in (rotate(self.kn(k), cos, sin), v))
        return rotate(self.qn(q), cos, sin), k, v, gate

    def out(self, attended: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
        return self.wo((attended * torch.sigmoid(gate)).transpose(1, 2).flatten(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v, gate = self.qkvg(x)
        return self.out(attention(q, k, v), gate)


def delta_rule(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, decay: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    """Returns what q reads from the state [hd, hd] of a head after each token's update. q, k and v are [batch, heads, length, hd]. decay is the
    logarithm of the factor by which the state fades before an update, beta the strength of the update; both are [batch, heads, length].

    The updates of a chunk depend on each other. They are the solution of a triangular system of equations."""
    length = q.shape[2]
    rest = -length % CHUNK
    q, k, v = (F.pad(t, (0, 0, 0, rest)).unflatten(2, (-1, CHUNK)) for t in (q, k, v))
    decay, beta = (F.pad(t, (0, rest)).unflatten(2, (-1, CHUNK)) for t in (decay, beta))
    since = decay.cumsum(-1)
    between = (since[..., :, None] - since[..., None, :]).tril().exp().tril()
    system = torch.eye(CHUNK) + (beta[..., None] * (k @ k.transpose(-1, -2)) * between).tril(-1)
    right = torch.cat([beta[..., None] * v, (beta * since.exp())[..., None] * k], -1)
    written, read = torch.linalg.solve_triangular(system, right, upper=False, unitriangular=True).chunk(2, -1)
    own = (q @ k.transpose(-1, -2)) * between
    state, out = torch.zeros(*q.shape[:2], k.shape[-1], v.shape[-1]), []
    for n in range(q.shape[2]):
        new = written[:, :, n] - read[:, :, n] @ state
        out.append((q[:, :, n] * since[:, :, n, :, None].exp()) @ state + own[:, :, n] @ new)
        end = since[:, :, n, -1:, None]
        state = state * end.exp() + (k[:, :, n] * (end - since[:, :, n, :, None]).exp()).transpose(-1, -2) @ new
    return torch.cat(out, 2)[:, :, :length]


class DeltaNet(nn.Module):
    def __init__(self, s: Shape):
        super().__init__()
        self.shape = s
        width = s.heads * s.hd
        self.qkv, self.gate, self.wo = linear(s.dim, 3 * width), linear(s.dim, width), linear(width, s.dim)
        self.alpha, self.beta = linear(s.dim, s.heads), linear(s.dim, s.heads)
        self.convolution = nn.Parameter(torch.zeros(3 * width, 1, KERNEL))
        steps = torch.logspace(0, -3, s.heads) / 2  # how fast each head forgets before training
        self.rate, self.shift = nn.Parameter(torch.zeros(s.heads)), nn.Parameter(steps.expm1().log())
        self.norm = RMSNorm(s.hd)
        with torch.no_grad():
            self.convolution[..., -1] = 1  # at first only the token itself counts

    def read(self, x: torch.Tensor) -> torch.Tensor:
        """Returns what the heads read from their states, normed and gated."""
        s, (batch, length, _) = self.shape, x.shape
        mixed, gate, alpha, beta = (w(x).float() for w in (self.qkv, self.gate, self.alpha, self.beta))
        with torch.autocast("cpu", enabled=False):
            mixed = F.silu(F.conv1d(F.pad(mixed.transpose(1, 2), (KERNEL - 1, 0)), self.convolution, groups=mixed.shape[-1]).transpose(1, 2))
            q, k, v = (t.view(batch, length, s.heads, s.hd).transpose(1, 2) for t in mixed.chunk(3, -1))
            q, k = (t * (t.square().sum(-1, keepdim=True) + 1e-6).rsqrt() for t in (q, k))
            decay = -self.rate.exp() * F.softplus(alpha + self.shift)
            out = delta_rule(q * s.hd**-0.5, k, v, decay.transpose(1, 2), torch.sigmoid(beta).transpose(1, 2))
            return self.norm(out).transpose(1, 2).flatten(2) * F.silu(gate)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.wo(self.read(x))


class Layer(nn.Module):
    def __init__(self, s: Shape, attends: bool):
        super().__init__()
        self.attn_norm, self.ffn_norm = RMSNorm(s.dim), RMSNorm(s.dim)
        self.mix = Attention(s) if attends else DeltaNet(s)
        self.feed = Mixture(s) if s.experts else Dense(s.dim, s.ffn)

    def rest(self, x: torch.Tensor, mixed: torch.Tensor) -> torch.Tensor:
        x = x + mixed
        return x + self.feed(self.ffn_norm(x))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.rest(x, self.mix(self.attn_norm(x)))


class Head(nn.Module):
    """The layer of MTP. Pair j is the normed state after token j, and token j+1. From it the head guesses the normed state after token j+1."""

    def __init__(self, s: Shape):
        super().__init__()
        self.enorm, self.hnorm, self.norm = RMSNorm(s.dim), RMSNorm(s.dim), RMSNorm(s.dim)
        self.join, self.layer = linear(2 * s.dim, s.dim), Layer(s, True)
        with torch.no_grad():
            self.join.weight += 0.5 * torch.eye(s.dim).repeat(1, 2)

    def beside(self, embedded: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        """Returns the input of join: normed embedding and normed state side by side."""
        return torch.cat([self.enorm(embedded), self.hnorm(states)], -1)

    def pairs(self, embedded: torch.Tensor, states: torch.Tensor, keys: list[torch.Tensor], values: list[torch.Tensor]) -> torch.Tensor:
        """Returns the state that the head guesses from each pair. embedded and states are [batch, length, dim]. It appends the pairs' keys and
        values to those of the earlier steps."""
        x = self.join(self.beside(embedded, states))
        mix = self.layer.mix
        q, k, v, gate = mix.qkvg(self.layer.attn_norm(x))
        keys.append(k)
        values.append(v)
        return self.norm(self.layer.rest(x, mix.out(attend(q, keys, values), gate)))

    def forward(self, embedded: torch.Tensor, states: torch.Tensor, steps: int = STEPS) -> list[torch.Tensor]:
        """Returns one tensor for each step i of a draft: its guesses of the states after the tokens from i+1 on. The state that a guess of step
        i is made from is i guesses after the last state of the model itself."""
        keys: list[torch.Tensor] = []
        values: list[torch.Tensor] = []
        embedded, states, out = embedded[:, 1:], states[:, :-1], []
        for i in range(steps):
            states = self.pairs(embedded, states, keys, values)
            out.append(states[:, i:])
            states = F.pad(states, (0, 0, 1, 0))[:, :-1]  # pair j reads the state that pair j−1 has made
        return out


class Hybrid(nn.Module):
    def __init__(self, s: Shape):
        super().__init__()
        self.shape = s
        self.emb = nn.Embedding(s.vocab, s.dim)
        nn.init.normal_(self.emb.weight, std=0.02)
        self.blocks = nn.ModuleList([Layer(s, s.attends(n)) for n in range(s.layers)])
        self.norm, self.head = RMSNorm(s.dim), Head(s)

    def hidden(self, ids: torch.Tensor) -> list[torch.Tensor]:
        """The residual stream before each layer and after the last one, not normed; each [batch, length, dim]."""
        stream = [self.emb(ids)]
        for block in self.blocks:
            stream.append(block(stream[-1]))
        return stream

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Logits [batch, length, vocab] of ids [batch, length]."""
        return F.linear(self.norm(self.hidden(ids)[-1]), self.emb.weight)

    def uneven(self) -> torch.Tensor:
        """Returns how unevenly the tokens of the last batch chose experts, summed over all mixtures. Each adds 1 if the choice is even."""
        return sum((m.uneven for m in self.modules() if isinstance(m, Mixture)), torch.zeros(()))


def save(model: Hybrid, path: Path) -> None:
    beside = path.with_suffix(".tmp")
    torch.save({"config": asdict(model.shape), "model": model.state_dict()}, beside)
    beside.replace(path)


def load(path: Path) -> Hybrid:
    kept = torch.load(path, map_location="cpu")
    model = Hybrid(Shape(**kept["config"]))
    model.load_state_dict(kept["model"])
    return model
