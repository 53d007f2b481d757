"""Computes what both models of the pair write, by a float32 forward pass of its own: the reference of the program's tests.

usage: python reference.py --target target.gguf --draft draft.gguf --out reference.json

The files are those in the program. gguf-py turns their Q8_0 weights into float32. Then they are rounded to F16, because the tests that
use this reference compute with weights in F16.
"""
import argparse
import json
from pathlib import Path

import torch

from model import LM
from restore import restored, vocabulary

TOKENS = 48
PROMPTS = [
    "hello", "who are you?", "What is speculative decoding?", "why was a token rejected?", "how do i change gamma", "tell me a joke",
    "What is the capital of France?", "tell me a story about a dragon", "write hello world in go", "I want to book a table for two in San Jose",
    "count to ten", "my day was bad", "how does temperature affect acceptance?", "what does the bonus token mean", "define boat",
    "Naïve café — 日本語 🙂 test 1234567", "repeat after me: the quick brown fox", "  leading spaces\n\nand newlines\t tabs",
    "for (int i = 0; i < 10; i++) { x += i; }", "thank you and goodbye",
]  # fmt: skip


def rounded(model: LM) -> LM:
    """Rounds the matrices of a model to the values that a file in F16 can hold."""
    for p in model.parameters():
        if p.dim() == 2:
            p.data = p.data.half().float()
    return model.eval()


def continuation(model: LM, ids: list[int], stop: int) -> dict:
    """The greedy continuation of a prompt, how far the best logit of each token was above the second best, and every 16th logit after the
    prompt."""
    greedy, gaps, first = [], [], None
    while len(greedy) < TOKENS and stop not in greedy:
        logits = model(torch.tensor([ids + greedy]))[0, -1]
        first = logits if first is None else first
        (best, second), token = logits.topk(2).values.tolist(), int(logits.argmax())
        greedy.append(token)
        gaps.append(round(best - second, 5))
    return {"greedy": greedy, "top1_minus_top2": gaps, "first_logits": [round(x, 5) for x in first[::16].tolist()]}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("target", "draft", "out"):
        options.add_argument(f"--{name}", type=Path, required=True)
    chosen = options.parse_args()
    torch.set_num_threads(1)
    words, cases = vocabulary(chosen.target), []
    with torch.no_grad():
        models = {"target": rounded(restored(chosen.target)), "draft": rounded(restored(chosen.draft))}
        for prompt in PROMPTS:
            ids = words.prompt([("user", prompt)])
            case = {"prompt": prompt, "ids": ids, "text_ids": words.encode(prompt)}
            case |= {name: continuation(model, ids, words.im_end) for name, model in models.items()}
            case["text"] = words.decode(case["target"]["greedy"])
            cases.append(case)
    note = "prompt ids through the ChatML template; greedy continuation and logits by a float32 forward over the Q8_0 weights, widened and rounded to F16"
    template = "for each message <|im_start|>role\\ncontent<|im_end|>\\n, then <|im_start|>assistant\\n"
    chosen.out.write_text(json.dumps({"note": note, "template": template, "cases": cases}, ensure_ascii=False, indent=0))


if __name__ == "__main__":
    main()
