"""Medusa heads: residual blocks on the target's last hidden state, scored by the target's own output matrix (Cai et al. 2024, §2.1.1)."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from model import LM

HEADS = 3


class Medusa(nn.Module):
    """Where the target's output matrix tells token t+1 from the state behind token t, head i tells token t+2+i."""

    def __init__(self, target: LM):
        super().__init__()
        self.linear = nn.ModuleList([nn.Linear(target.shape.dim, target.shape.dim) for _ in range(HEADS)])
        for linear in self.linear:  # a head begins as the target's guess of the next token
            nn.init.zeros_(linear.weight)
            nn.init.zeros_(linear.bias)

    def guess(self, head: int, state: torch.Tensor) -> torch.Tensor:
        return state + F.silu(self.linear[head](state))

    def forward(self, embedded: torch.Tensor, states: torch.Tensor) -> list[torch.Tensor]:
        """Guesses i of the states behind the tokens from i+1 on, out of those behind all tokens [batch, length, dim]."""
        return [self.guess(i, states[:, : -1 - i]) for i in range(HEADS)]

    def tensors(self) -> dict[str, torch.Tensor]:
        """Under the authors' names."""
        out = {}
        for i, linear in enumerate(self.linear):
            out |= {f"{i}.0.linear.weight": linear.weight, f"{i}.0.linear.bias": linear.bias}
        return out

    def config(self) -> dict:
        return {"model_type": "medusa", "medusa_num_heads": HEADS, "medusa_num_layers": 1, "hidden_size": self.linear[0].in_features}
