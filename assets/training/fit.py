"""Fits the last matrix of each new part of a hybrid by least squares, so that the part adds what the teacher adds in its place. It
needs no gradient, and comes before any training.

Of a delta net, the output matrix is fitted. Of a mixture, the matrices that write to the residual stream. Of the layer of MTP, join is
fitted first, the matrix that makes one vector of an embedding and a state: to what the teacher's last layer reads. The output matrices of
the layer's attention and feed-forward part follow.
"""
from typing import Iterable, Iterator

import torch

from hybrid import Dense, DeltaNet, Hybrid, Mixture
from model import LM, Block, attention, rotary

RIDGE = 1e-3  # ridge of the least squares, as a share of the mean square of the inputs
GATE = 2.0  # mean of a delta net's gates before SiLU at first: well open


def attended(old: Block, x: torch.Tensor) -> torch.Tensor:
    """What a layer of the teacher adds to its input x by attention."""
    s = old.shape
    q, k, v = old.qkv(old.attn_norm(x), *(t.to(x) for t in rotary(x.shape[1], s.hd)))
    k, v = (t.repeat_interleave(s.heads // s.kv, 1) for t in (k, v))
    return old.wo(attention(q, k, v).transpose(1, 2).flatten(2))


Part = tuple[DeltaNet | Mixture, torch.Tensor, torch.Tensor]


def new_parts(model: Hybrid, teacher: LM, stream: list[torch.Tensor]) -> Iterator[Part]:
    """Yields each part of the model that the teacher does not have, its input, and what it should add to the stream. Both come from the
    teacher's residual stream (LM.hidden). A delta net should add what the teacher's attention adds, a mixture what its dense network adds."""
    for n, (new, old) in enumerate(zip(model.blocks, teacher.blocks)):
        added = attended(old, stream[n])
        if isinstance(new.mix, DeltaNet):
            yield new.mix, old.attn_norm(stream[n]), added
        if isinstance(new.feed, Mixture):
            middle = stream[n] + added
            yield new.feed, old.ffn_norm(middle), stream[n + 1] - middle


class Squares:
    """Sums up pairs of inputs of a matrix and wanted outputs; solved returns the matrix by least squares."""

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
    """Opens the gates for inputs near the mean of x. Otherwise the net would write almost nothing at first."""
    mean = x.float().flatten(0, -2).mean(0)
    net.gate.weight += GATE * mean / mean.square().sum()


def fit_layer(model: Hybrid, texts: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]) -> None:
    """Fits the layer of MTP after join: first the output matrix of attention, then that of the feed-forward part. Each text is its tokens, the
    normed states, and the states that the head should guess, which are not normed."""
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
    """Sets the last matrix of a part. Of a mixture, these are two matrices side by side."""
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
    """Fits the model's new parts to what the teacher computes for these texts; each is a batch of tokens [batch, length]."""
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
