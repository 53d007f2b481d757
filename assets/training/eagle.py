"""An EAGLE head: one layer that guesses the target's next hidden state from the last state and the token after it (Li et al. 2024, §3.1).

Pair j is the state after token j and the embedding of token j+1. From it the head guesses the state after token j+1.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

from model import EPSILON, LM, ROPE_THETA, RMSNorm, rotary, rotate

FFN = 512
STEPS = 3  # trained steps of a draft


def later(x: torch.Tensor, n: int) -> torch.Tensor:
    """Moves the rows of x [batch, heads, length, hd] n positions later, with zeros before them."""
    return F.pad(x, (0, 0, n, 0))[..., : x.shape[-2], :]


def attend(q: torch.Tensor, keys: list[torch.Tensor], values: list[torch.Tensor]) -> torch.Tensor:
    """Attention of the pairs of step n = len(keys) − 1 of a draft; all tensors are [batch, heads, length, hd].

    keys[0] are the keys of pairs with the target's states; keys[s] are those of the pairs of step s. A pair at position j sees keys[0] up
    to position j − n, and then one key of each step from 1 to n."""
    n, length = len(keys) - 1, q.shape[-2]
    scores = (q @ keys[0].transpose(-1, -2)).float()
    scores = scores.masked_fill(torch.ones(length, length, dtype=torch.bool, device=q.device).triu(1 - n), -1e30)
    own = [(q * later(k, n - s)).sum(-1, keepdim=True).float() for s, k in enumerate(keys) if s]
    weights = torch.softmax(torch.cat([scores, *own], -1) * q.shape[-1] ** -0.5, -1).to(values[0].dtype)
    out = weights[..., :length] @ values[0]
    for s in range(1, n + 1):
        out = out + weights[..., length + s - 1, None] * later(values[s], n - s)
    return out


class Eagle(nn.Module):
    def __init__(self, target: LM):
        super().__init__()
        s = self.shape = target.shape
        self.fc = nn.Linear(2 * s.dim, s.dim, bias=False)
        self.wq = nn.Linear(s.dim, s.heads * s.hd, bias=False)
        self.wk = nn.Linear(s.dim, s.kv * s.hd, bias=False)
        self.wv = nn.Linear(s.dim, s.kv * s.hd, bias=False)
        self.wo = nn.Linear(s.heads * s.hd, s.dim, bias=False)
        self.norm = RMSNorm(s.dim)
        self.gate = nn.Linear(s.dim, FFN, bias=False)
        self.up = nn.Linear(s.dim, FFN, bias=False)
        self.down = nn.Linear(FFN, s.dim, bias=False)
        for name, p in self.named_parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.002 if name in ("wo.weight", "down.weight") else 0.02)
        with torch.no_grad():  # at first it passes on a tenth of the state: that gives scores near 0, and wrong ones are unlearned fast
            self.fc.weight[:, s.dim :] += 0.1 * torch.eye(s.dim)

    def pairs(self, embedded: torch.Tensor, states: torch.Tensor, keys: list[torch.Tensor], values: list[torch.Tensor]) -> torch.Tensor:
        """Returns the state that the head guesses from each pair. embedded and states are [batch, length, dim]. It appends the pairs' keys and
        values to those of the earlier steps."""
        s, (batch, length, _) = self.shape, embedded.shape
        cos, sin = (t.to(states) for t in rotary(length, s.hd))
        x = self.fc(torch.cat([embedded, states], -1))
        q, k, v = (w(x).view(batch, length, -1, s.hd).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        keys.append(rotate(k, cos, sin).repeat_interleave(s.heads // s.kv, 1))
        values.append(v.repeat_interleave(s.heads // s.kv, 1))
        x = x + self.wo(attend(rotate(q, cos, sin), keys, values).transpose(1, 2).flatten(2))
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))

    def forward(self, embedded: torch.Tensor, states: torch.Tensor) -> list[torch.Tensor]:
        """Returns one tensor for each step i of a draft: its guesses of the states after the tokens from i+1 on. The state that a guess of step
        i is made from is i guesses after the last state of the target. embedded and states are those of all tokens, [batch, length, dim]."""
        keys: list[torch.Tensor] = []
        values: list[torch.Tensor] = []
        embedded, states, out = embedded[:, 1:], states[:, :-1], []
        for i in range(STEPS):
            states = self.pairs(embedded, states, keys, values)
            out.append(states[:, i:])
            states = F.pad(states, (0, 0, 1, 0))[:, :-1]  # pair j reads the state that pair j−1 has made
        return out

    def tensors(self) -> dict[str, torch.Tensor]:
        """Returns the tensors by their names in the authors' files."""
        names = {
            "self_attn.q_proj": self.wq, "self_attn.k_proj": self.wk, "self_attn.v_proj": self.wv, "self_attn.o_proj": self.wo,
            "post_attention_layernorm": self.norm, "mlp.gate_proj": self.gate, "mlp.up_proj": self.up, "mlp.down_proj": self.down,
        }  # fmt: skip
        return {"fc.weight": self.fc.weight} | {f"layers.0.{name}.weight": m.weight for name, m in names.items()}

    def restore(self, tensors: dict[str, torch.Tensor]) -> None:
        """Takes over the tensors of a file."""
        with torch.no_grad():
            for name, weight in self.tensors().items():
                weight.copy_(tensors[name])

    def config(self) -> dict:
        s = self.shape
        return {
            "model_type": "llama", "num_hidden_layers": 1, "hidden_size": s.dim, "intermediate_size": FFN, "num_attention_heads": s.heads,
            "num_key_value_heads": s.kv, "head_dim": s.hd, "vocab_size": s.vocab, "hidden_act": "silu", "rms_norm_eps": EPSILON,
            "rope_theta": ROPE_THETA, "bias": False,
        }  # fmt: skip
