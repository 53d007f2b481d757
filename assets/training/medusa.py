"""Medusa heads: residual blocks on the target's last hidden state, scored by an output matrix that they share (Cai et al. 2024, §2.1.1)."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from model import LM

HEADS = 3


class Medusa(nn.Module):
    """From the state after token t, the target's output matrix predicts token t+1, and head i predicts token t+2+i.

    The heads share an output matrix of their own: the target's times a small square one, turn, which is trained. With the target's matrix
    alone a head could hardly predict another token than the target, because what it adds to the state (SiLU) is hardly ever negative. The
    file has the product of both matrices."""

    def __init__(self, target: LM):
        super().__init__()
        self.target = [target]  # in a list, so that torch does not count its weights as those of the heads
        self.turn = nn.Linear(target.shape.dim, target.shape.dim, bias=False)
        nn.init.eye_(self.turn.weight)
        self.turn.weight.data *= 0.1  # small, for scores near 0: wrong ones are unlearned fast
        self.linear = nn.ModuleList([nn.Linear(target.shape.dim, target.shape.dim) for _ in range(HEADS)])
        for linear in self.linear:
            nn.init.zeros_(linear.weight)
            nn.init.zeros_(linear.bias)

    def guess(self, head: int, state: torch.Tensor) -> torch.Tensor:
        return self.turn(state + F.silu(self.linear[head](state)))

    def forward(self, embedded: torch.Tensor, states: torch.Tensor) -> list[torch.Tensor]:
        """Returns one tensor for each head i: its guesses of the states after the tokens from i+1 on. states has the target's states after all
        tokens, [batch, length, dim]."""
        return [self.guess(i, states[:, : -1 - i]) for i in range(HEADS)]

    def tensors(self) -> dict[str, torch.Tensor]:
        """Returns the tensors by their names in the authors' files. The shared output matrix has the name that vLLM reads."""
        out = {"lm_head.weight": self.target[0].emb.weight @ self.turn.weight}
        for i, linear in enumerate(self.linear):
            out |= {f"{i}.0.linear.weight": linear.weight, f"{i}.0.linear.bias": linear.bias}
        return out

    def restore(self, tensors: dict[str, torch.Tensor]) -> None:
        """Takes over the tensors of a file. turn is found from the product by least squares: the target's matrix has far more rows than columns,
        so only one turn fits."""
        with torch.no_grad():
            self.turn.weight.copy_(torch.linalg.lstsq(self.target[0].emb.weight, tensors["lm_head.weight"].float()).solution)
            for i, linear in enumerate(self.linear):
                linear.weight.copy_(tensors[f"{i}.0.linear.weight"])
                linear.bias.copy_(tensors[f"{i}.0.linear.bias"])

    def config(self) -> dict:
        return {"model_type": "medusa", "medusa_num_heads": HEADS, "medusa_num_layers": 1, "hidden_size": self.linear[0].in_features}
