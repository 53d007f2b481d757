"""Lets the target make up questions and answer them, for the training of the draft. Each question begins like one of the training data, and
the target writes the rest.

usage: python asked.py --data DATA --model TARGET.pt --count N [--temperature 0] [--name asked] [--mix …]

The result is DATA/NAME.npz, a stream like those of prepare.py, with chats of one question each. All chats begin with the same tokens, so a
batch needs no padding. There are few public dialogues, and the made-up questions ask the same things in many other words. If the target
makes up a question that the pair is measured with, its chat is left out.
"""
import argparse
import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from lessons import normal
from model import LM, load
from prepare import examined, unseen
from samples import Decoder
from vocabulary import ASSISTANT, TEMPLATE, USER, Vocabulary

LONGEST_QUESTION, LONGEST_CHAT, TOGETHER = 40, 150, 384
QUESTION_TEMPERATURE = 0.9
HERE = Path(__file__).parent
ASSETS = HERE.parent


def beginnings(folder: Path, mix: dict[str, float], count: int, head: list[int], rng: np.random.Generator) -> list[list[int]]:
    """Returns the first two to four tokens of questions that begin a chat of the data."""
    out, total = [], sum(mix.values())
    for name, share in mix.items():
        source = np.load(folder / f"{name}.npz")
        for at in rng.choice(source["starts"], int(count * share / total)):
            first = at + len(head)
            if source["ids"][at:first].tolist() == head:
                out.append(source["ids"][first : first + rng.integers(2, 5)].tolist())
    return [out[n] for n in rng.permutation(len(out))]


class Chat:
    """One chat, which grows by one token at a time: the question, the marks of the template, and the answer."""

    def __init__(self, head: list[int], begun: list[int], between: list[int], stop: int):
        self.ids, self.who = list(head), [TEMPLATE] * len(head)
        self.next, self.between, self.stop = [(token, USER) for token in begun], between, stop
        self.asking, self.whole = True, False

    def add(self, asked: int, answered: int) -> int:
        """Adds the next token and returns it. If the next token is fixed already (by the question's beginning or by the template), it is that
        one. Otherwise it is the argument asked as long as the question lasts, and after that the argument answered."""
        if not self.next:
            if not self.asking:
                self.next = [(answered, ASSISTANT)]
            elif asked != self.stop and self.who.count(USER) < LONGEST_QUESTION:
                self.next = [(asked, USER)]
            else:
                self.asking, self.next = False, [(self.stop, USER)] + [(token, TEMPLATE) for token in self.between]
        token, speaker = self.next.pop(0)
        if not self.whole:
            self.ids.append(token)
            self.who.append(speaker)
        self.whole = self.whole or (speaker == ASSISTANT and token == self.stop)
        return token


def measured(holdout: Path) -> set[str]:
    """Returns the questions of the benchmark, the exam, the unseen visitors, and the dialogues that are left out of the training."""
    lines = (ASSETS / "prompts.txt").read_text().splitlines()
    lines += [json.loads(line)["turns"][0][1] for line in holdout.read_text().splitlines()]
    return {normal(line) for line in lines} | examined(HERE / "exam") | unseen(ASSETS / "visitors-unseen.txt")


def drawn(logits: torch.Tensor, temperature: float) -> list[int]:
    if temperature == 0:
        return logits.argmax(-1).tolist()
    return torch.multinomial(F.softmax(logits / temperature, -1), 1)[:, 0].tolist()


def asked(model: LM, head: list[int], begun: list[list[int]], between: list[int], temperature: float, stop: int) -> list[Chat]:
    """Lets the target write chats together, and returns those that were finished within LONGEST_CHAT tokens."""
    chats, decoder = [Chat(head, b, between, stop) for b in begun], Decoder(model, len(begun), LONGEST_CHAT)
    logits = decoder.read(torch.tensor(head).expand(len(begun), -1))
    while decoder.length < LONGEST_CHAT and not all(c.whole for c in chats):
        questions, answers = drawn(logits, QUESTION_TEMPERATURE), drawn(logits, temperature)
        added = [c.add(question, answer) for c, question, answer in zip(chats, questions, answers)]
        logits = decoder.read(torch.tensor(added)[:, None])
    return [c for c in chats if c.whole]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--model", type=Path, required=True)
    options.add_argument("--count", type=int, default=4000)
    options.add_argument("--temperature", type=float, default=0, help="of the answers")
    options.add_argument("--mix", default="sgd=3,tm4=2,spc=4,program=1,general=2,visitors=0.5")
    options.add_argument("--name", default="asked")
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--seed", type=int, default=7)
    chosen = options.parse_args()

    torch.set_num_threads(chosen.threads)
    torch.manual_seed(chosen.seed)
    vocabulary = Vocabulary.read(chosen.data / "vocabulary.json")
    newline = vocabulary.encode("\n")
    head = [vocabulary.im_start] + vocabulary.encode("user\n")
    between = newline + [vocabulary.im_start] + vocabulary.encode("assistant\n")
    mix = {name: float(share) for name, share in (part.split("=") for part in chosen.mix.split(","))}
    model = load(chosen.model).eval().bfloat16()
    begun = beginnings(chosen.data, mix, chosen.count, head, np.random.default_rng(chosen.seed))
    left_out = measured(chosen.data / "holdout.jsonl")
    ids, who, starts = [], [], []
    with torch.no_grad():
        for at in range(0, len(begun), TOGETHER):
            for chat in asked(model, head, begun[at : at + TOGETHER], between, chosen.temperature, vocabulary.im_end):
                if normal(vocabulary.decode([t for t, w in zip(chat.ids, chat.who) if w == USER][:-1])) in left_out:
                    continue
                starts.append(len(ids))
                ids += chat.ids + newline + [vocabulary.end_of_text]
                who += chat.who + [TEMPLATE] * 2
    print(f"{len(starts)} chats, {len(ids)} tokens")
    np.savez(chosen.data / f"{chosen.name}.npz", ids=np.array(ids, np.uint16), who=np.array(who, np.uint8), starts=np.array(starts, np.int64))


if __name__ == "__main__":
    main()
