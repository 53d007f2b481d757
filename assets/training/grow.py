"""Makes a hybrid or a mixture from a model of the pair. The new model takes over all weights that fit, so that little is left to learn."""
import torch

from hybrid import Attention, Dense, DeltaNet, Hybrid, Layer, Mixture, Shape
from model import LM, Block


def gated(new: Attention, old: Block) -> None:
    """Makes gated attention that computes the same as old: each gate starts at σ(0) = ½, and the output matrix is doubled."""
    s = new.shape
    queries = new.wq.weight.view(s.heads, 2, s.hd, s.dim)
    queries[:, 0], queries[:, 1] = old.wq.weight.view(s.heads, s.hd, s.dim), 0
    new.wk.weight.copy_(old.wk.weight)
    new.wv.weight.copy_(old.wv.weight)
    new.wo.weight.copy_(2 * old.wo.weight)
    new.qn.weight.copy_(old.qn.weight)
    new.kn.weight.copy_(old.kn.weight)


def recurrent(new: DeltaNet, old: Block) -> None:
    """Takes over the matrices of queries, keys, values and output from attention. The decay has to be learned."""
    s = new.shape
    k, v = (w.weight.view(s.kv, s.hd, s.dim).repeat_interleave(s.heads // s.kv, 0).flatten(0, 1) for w in (old.wk, old.wv))
    new.qkv.weight.copy_(torch.cat([old.wq.weight, k, v]))
    new.wo.weight.copy_(old.wo.weight)


def taken(new: Dense, old: Block | Dense, units: torch.Tensor, factor: float) -> None:
    new.gate.weight.copy_(old.gate.weight[units])
    new.up.weight.copy_(old.up.weight[units])
    new.down.weight.copy_(factor * old.down.weight[:, units])


def feed(new: Dense | Mixture, old: Block | Dense) -> None:
    """Divides the hidden units of a dense network among the parts of new. In a mixture, the units with the largest weights become the expert
    that all tokens use, and the next ones the other experts. At first the expert for all tokens has the share ½, and the two others that a
    token uses have ½ each on average. So the output matrices are doubled."""
    heavy = old.gate.weight.norm(dim=1) * old.up.weight.norm(dim=1) * old.down.weight.norm(dim=0)
    order = heavy.argsort(descending=True)
    if isinstance(new, Dense):
        return taken(new, old, order[: len(new.gate.weight)].sort().values, 1)
    new.weigh.weight.zero_()
    most, parts = len(new.shared.gate.weight), len(new.parts.gate.weight)
    taken(new.shared, old, order[:most], 2)
    taken(new.parts, old, order[most : most + parts].view(-1, new.shape.experts).T.flatten(), 2)  # units of all sizes for each expert


def layer(new: Layer, old: Block) -> None:
    (gated if isinstance(new.mix, Attention) else recurrent)(new.mix, old)
    feed(new.feed, old)
    new.attn_norm.weight.copy_(old.attn_norm.weight)
    new.ffn_norm.weight.copy_(old.ffn_norm.weight)


@torch.no_grad()
def grown(old: LM, s: Shape) -> Hybrid:
    """Returns a hybrid that begins as old. Widths must agree. All experts of a mixture together may have at most as many hidden units as old has."""
    model = Hybrid(s)
    model.emb.weight.copy_(old.emb.weight)
    model.norm.weight.copy_(old.norm.weight)
    for n, block in enumerate(model.blocks):
        layer(block, old.blocks[n])
    layer(model.head.layer, old.blocks[s.layers - 1])
    model.head.norm.weight.copy_(old.norm.weight)
    return model


@torch.no_grad()
def with_experts(old: Hybrid, s: Shape) -> Hybrid:
    """Makes a mixture from a hybrid: only the dense networks are replaced."""
    model = Hybrid(s)
    model.load_state_dict({name: p for name, p in old.state_dict().items() if ".feed." not in name}, strict=False)
    for new, dense in zip([*model.blocks, model.head.layer], [*old.blocks, old.head.layer]):
        feed(new.feed, dense.feed)
    return model
