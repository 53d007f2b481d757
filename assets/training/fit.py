"""The last matrix of each new part by least squares, so that the part adds what the target adds in its place: no gradient, a few seconds.

It comes before any training: of a delta net the output matrix, of a mixture those that write back, of the layer of MTP the one that joins
state and embedding, which is fitted to what the target's last layer reads.
"""
from typing import Iterable, Iterator

import torch

from hybrid import Dense, DeltaNet, Hybrid, Mixture
from model import LM, Block, attention, rotary

RIDGE = 1e-3  # of the mean square of what goes in
GATE = 2.0  # a delta net's gates at first, on average: well open


def attended(old: Block, x: torch.Tensor) -> torch.Tensor:
    """What a layer of the teacher adds to its input x by attention."""
    s = old.shape
    q, k, v = old.qkv(old.attn_norm(x), *(t.to(x) for t in rotary(x.shape[1], s.hd)))
    k, v = (t.repeat_interleave(s.heads // s.kv, 1) for t in (k, v))
    return old.wo(attention(q, k, v).transpose(1, 2).flatten(2))


Part = tuple[DeltaNet | Mixture, torch.Tensor, torch.Tensor]


def new_parts(model: Hybrid, teacher: LM, stream: list[torch.Tensor]) -> Iterator[Part]:
    """Each part of the layers that the teacher has not, what goes into it by the teacher's stream (LM.hidden), and what it shall add:
    a delta net what attention adds, a mixture what the dense network adds."""
    for n, (new, old) in enumerate(zip(model.blocks, teacher.blocks)):
        added = attended(old, stream[n])
        if isinstance(new.mix, DeltaNet):
            yield new.mix, old.attn_norm(stream[n]), added
        if isinstance(new.feed, Mixture):
            middle = stream[n] + added
            yield new.feed, old.ffn_norm(middle), stream[n + 1] - middle


class Squares:
    """Collects what goes into a matrix and what should come out."""

    def __init__(self) -> None:
        self.within: torch.Tensor | float = 0.0
        self.across: torch.Tensor | float = 0.0

    def add(self, x: torch.Tensor, y: torch.Tensor) -> None:
        x, y = x.flatten(0, -2).float(), y.flatten(0, -2).float()
        with torch.autocast("cpu", enabled=False):
            self.within, self.across = self.within + x.T @ x, self.across + x.T @ y

    def solved(self) -> torch.Tensor:
        ridge = RIDGE * self.within.diagonal().mean() * torch.eye(len(self.within))
        return torch.linalg.solve(self.within + ridge, self.across).T


def open_gates(net: DeltaNet, x: torch.Tensor) -> None:
    """Lets the gates be open wherever x is near its mean; else the outputs would be next to nothing at first."""
    mean = x.float().flatten(0, -2).mean(0)
    net.gate.weight += GATE * mean / mean.square().sum()


def fit_layer(model: Hybrid, texts: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]) -> None:
    """Fits the layer of MTP behind its join: first what attention writes, then what the rest of the layer does. A text is its tokens, the
    normed states and those that the head shall guess, not normed."""
    layer = model.head.layer
    for part in (layer.mix.wo, layer.feed):
        squares = Squares()
        for ids, states, wanted in texts:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                x = model.head.join(model.head.beside(model.emb(ids)[:, 1:], states[:, :-1]))
                q, k, v, gate = layer.mix.qkvg(layer.attn_norm(x))
                read = (attention(q, k, v) * torch.sigmoid(gate)).transpose(1, 2).flatten(2)
                if part is not layer.mix.wo:
                    x = x + layer.mix.wo(read)
                    units = layer.feed.units(layer.ffn_norm(x))
                    read = torch.cat(units, -1) if isinstance(part, Mixture) else units
                squares.add(read, wanted[:, 1:] - x)
        write(part, squares.solved())


def write(part: torch.nn.Module, weight: torch.Tensor) -> None:
    """Takes over the last matrix of a part."""
    if isinstance(part, Mixture):
        parts, shared = weight.split([part.parts.down.in_features, part.shared.down.in_features], -1)
        part.parts.down.weight.copy_(parts)
        part.shared.down.weight.copy_(shared)
    elif isinstance(part, DeltaNet):
        part.wo.weight.copy_(weight)
    elif isinstance(part, Dense):
        part.down.weight.copy_(weight)
    else:
        part.weight.copy_(weight)


@torch.no_grad()
def fit(model: Hybrid, teacher: LM, texts: Iterable[torch.Tensor]) -> None:
    """Fits the model's new parts to what the teacher computes of texts [batch, length]."""
    squares: dict[DeltaNet | Mixture, Squares] = {}
    join, kept = Squares(), []
    for ids in texts:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            wanted = teacher.hidden(ids)
            for part, x, added in new_parts(model, teacher, wanted):
                if isinstance(part, DeltaNet) and not kept:
                    open_gates(part, x)
                read = part.read(x) if isinstance(part, DeltaNet) else torch.cat(part.units(x), -1)
                squares.setdefault(part, Squares()).add(read, added)
            states = teacher.norm(wanted[-1])
            join.add(model.head.beside(model.emb(ids)[:, 1:], states[:, :-1]), wanted[-2][:, 1:])
        kept.append((ids, states, wanted[-1]))
    for part, found in squares.items():
        write(part, found.solved())
    write(model.head.join, join.solved())
    fit_layer(model, kept)
