"""Medusa heads: residual blocks on the target's last hidden state, scored by an output matrix that they share (Cai et al. 2024, §2.1.1)."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from model import LM

HEADS = 3


class Medusa(nn.Module):
    """Where the target's output matrix tells token t+1 from the state behind token t, head i tells token t+2+i.

    What is added to the state is hardly ever negative, so that a head could not say anything else than the target by the target's own
    matrix: theirs is that matrix times a small one, which is what is trained. The file has the product."""

    def __init__(self, target: LM):
        super().__init__()
        self.target = [target]  # in a list it is no part of the heads
        self.turn = nn.Linear(target.shape.dim, target.shape.dim, bias=False)
        nn.init.eye_(self.turn.weight)
        self.turn.weight.data *= 0.1  # faint scores are soon unlearned
        self.linear = nn.ModuleList([nn.Linear(target.shape.dim, target.shape.dim) for _ in range(HEADS)])
        for linear in self.linear:
            nn.init.zeros_(linear.weight)
            nn.init.zeros_(linear.bias)

    def guess(self, head: int, state: torch.Tensor) -> torch.Tensor:
        return self.turn(state + F.silu(self.linear[head](state)))

    def forward(self, embedded: torch.Tensor, states: torch.Tensor) -> list[torch.Tensor]:
        """Guesses i of the states behind the tokens from i+1 on, out of those behind all tokens [batch, length, dim]."""
        return [self.guess(i, states[:, : -1 - i]) for i in range(HEADS)]

    def tensors(self) -> dict[str, torch.Tensor]:
        """Under the authors' names, and vLLM's of an output matrix for all."""
        out = {"lm_head.weight": self.target[0].emb.weight @ self.turn.weight}
        for i, linear in enumerate(self.linear):
            out |= {f"{i}.0.linear.weight": linear.weight, f"{i}.0.linear.bias": linear.bias}
        return out

    def restore(self, tensors: dict[str, torch.Tensor]) -> None:
        """Goes on from a file's tensors. What the target's matrix was multiplied by follows from the product, for it has far more rows than
        columns."""
        with torch.no_grad():
            self.turn.weight.copy_(torch.linalg.lstsq(self.target[0].emb.weight, tensors["lm_head.weight"].float()).solution)
            for i, linear in enumerate(self.linear):
                linear.weight.copy_(tensors[f"{i}.0.linear.weight"])
                linear.bias.copy_(tensors[f"{i}.0.linear.bias"])

    def config(self) -> dict:
        return {"model_type": "medusa", "medusa_num_heads": HEADS, "medusa_num_layers": 1, "hidden_size": self.linear[0].in_features}
