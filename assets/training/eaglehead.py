"""Turns an EAGLE head of the teacher into a layer of MTP, as the beginning of its training: both have the same task."""
import torch

from eagle import Eagle
from hybrid import Dense, Head, Mixture


def rms(x: torch.Tensor) -> torch.Tensor:
    return x.float().square().mean().sqrt()


def fed(feed: Dense | Mixture, old: Eagle) -> None:
    """Copies the hidden units that write most, as many as there is room for, into the dense network or the expert for all tokens. That
    expert begins with a weight of one half, so what it writes counts double. The other units and experts add nothing at first."""
    dense, factor = (feed, 1) if isinstance(feed, Dense) else (feed.shared, 2)
    heavy = old.gate.weight.norm(dim=1) * old.up.weight.norm(dim=1) * old.down.weight.norm(dim=0)
    units = heavy.argsort(descending=True)[: len(dense.gate.weight)].sort().values
    dense.down.weight.zero_()
    dense.gate.weight[: len(units)], dense.up.weight[: len(units)] = old.gate.weight[units], old.up.weight[units]
    dense.down.weight[:, : len(units)] = factor * old.down.weight[:, units]
    if isinstance(feed, Mixture):
        feed.weigh.weight.zero_()
        feed.parts.down.weight.zero_()


@torch.no_grad()
def begin_as(head: Head, old: Eagle, embedded: torch.Tensor, states: torch.Tensor) -> None:
    """Copies the EAGLE head. A layer of MTP norms its inputs, queries and keys, and an EAGLE head does not. Therefore each norm gets the mean
    size of what it norms, measured on embedded and states [batch, length, dim], so that it changes little on average."""
    mix, layer = head.layer.mix, head.layer
    s, (embedded, states) = mix.shape, (embedded[:, 1:], states[:, :-1])
    x = old.fc(torch.cat([embedded, states], -1))
    for norm, read in ((head.enorm, embedded), (head.hnorm, states), (layer.attn_norm, x)):
        norm.weight.fill_(rms(read))
    head.join.weight.copy_(old.fc.weight)
    queries = mix.wq.weight.view(s.heads, 2, s.hd, s.dim)
    queries[:, 0], queries[:, 1] = old.wq.weight.view(s.heads, s.hd, s.dim), 0
    mix.wk.weight.copy_(old.wk.weight)
    mix.wv.weight.copy_(old.wv.weight)
    mix.wo.weight.copy_(2 * old.wo.weight)
    mix.qn.weight.fill_(rms(old.wq(x)))
    mix.kn.weight.fill_(rms(old.wk(x)))
    layer.ffn_norm.weight.copy_(old.norm.weight)
    fed(layer.feed, old)
    head.norm.weight.fill_(rms(states))
