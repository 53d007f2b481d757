"""The byte-level BPE of the pair: learning it, and turning chats into token ids with it.

The split pattern is Qwen2's, so that programs use the same pre-tokenizer for the pair as for files of Qwen2 and Qwen3.
"""
import collections
import json
from pathlib import Path
from typing import Iterable

import regex

SIZE = 4096
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
SPLIT = regex.compile(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

TEMPLATE, USER, ASSISTANT = 0, 1, 2  # to whom a token belongs

Chat = list[tuple[str, str]]  # (role, text), in order


def byte_letters() -> dict[int, str]:
    """GPT-2's printable stand-in for each byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {b: chr(b) for b in printable}
    for n, b in enumerate(b for b in range(256) if b not in letters):
        letters[b] = chr(256 + n)
    return letters


LETTER = byte_letters()
BYTE = {c: b for b, c in LETTER.items()}


class Vocabulary:
    """Tokens in id order and merges in order of rank."""

    def __init__(self, tokens: list[str], merges: list[tuple[str, str]]):
        self.tokens, self.merges = tokens, merges
        self.ids = {t: i for i, t in enumerate(tokens)}
        self.rank = {m: i for i, m in enumerate(merges)}
        self.im_start, self.im_end, self.end_of_text = (self.ids[s] for s in ("<|im_start|>", "<|im_end|>", "<|endoftext|>"))
        self._words: dict[str, list[int]] = {}

    @classmethod
    def read(cls, path: Path) -> "Vocabulary":
        data = json.loads(path.read_text())
        return cls(data["vocab"], [(a, b) for a, b in data["merges"]])

    def write(self, path: Path) -> None:
        data = {"vocab": self.tokens, "merges": self.merges, "special": SPECIAL}
        path.write_text(json.dumps(data, ensure_ascii=False))

    def _word(self, word: str) -> list[int]:
        parts = [LETTER[b] for b in word.encode()]
        while len(parts) > 1:
            rank, at = min((self.rank.get(pair, len(self.rank)), i) for i, pair in enumerate(zip(parts, parts[1:])))
            if rank == len(self.rank):
                break
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return [self.ids[p] for p in parts]

    def encode(self, text: str) -> list[int]:
        out: list[int] = []
        for word in SPLIT.findall(text):
            if word not in self._words:
                self._words[word] = self._word(word)
            out += self._words[word]
        return out

    def decode(self, ids: Iterable[int]) -> str:
        tokens = (self.tokens[i] for i in ids)
        return b"".join(t.encode() if t in SPECIAL else bytes(BYTE[c] for c in t) for t in tokens).decode("utf8", "replace")

    def chat(self, turns: Chat) -> tuple[list[int], list[int]]:
        """Returns the token ids of a chat in the ChatML template, and for each whether it belongs to the template, the user or the assistant."""
        ids: list[int] = []
        who: list[int] = []
        newline = self.encode("\n")
        for role, text in turns:
            head, body = [self.im_start] + self.encode(role) + newline, self.encode(text) + [self.im_end]
            ids += head + body + newline
            who += [TEMPLATE] * len(head) + [ASSISTANT if role == "assistant" else USER] * len(body) + [TEMPLATE] * len(newline)
        return ids, who

    def prompt(self, turns: Chat) -> list[int]:
        """Returns the token ids of a chat, with the marks after which the assistant answers."""
        return self.chat(turns)[0] + [self.im_start] + self.encode("assistant\n")


def learn(texts: Iterable[str]) -> Vocabulary:
    """Merges the most frequent pair of tokens again and again, until the vocabulary has SIZE tokens or no pair occurs twice."""
    counts = collections.Counter(w for t in texts for w in SPLIT.findall(t))
    counts.update({w: 1000 for w in ("user", "assistant", "system", "\n")})
    words, weight = [[LETTER[b] for b in w.encode()] for w in counts], list(counts.values())
    pairs: collections.Counter = collections.Counter()
    places = collections.defaultdict(set)
    for i, parts in enumerate(words):
        for pair in zip(parts, parts[1:]):
            pairs[pair] += weight[i]
            places[pair].add(i)
    tokens, merges = sorted(LETTER.values(), key=ord), []
    while len(tokens) + len(SPECIAL) < SIZE:
        pair, count = max(pairs.items(), key=lambda item: (item[1], item[0]))
        if count < 2:
            break
        merges.append(pair)
        tokens.append(pair[0] + pair[1])
        for i in list(places[pair]):
            for old in zip(words[i], words[i][1:]):
                pairs[old] -= weight[i]
            words[i] = _merged(words[i], pair)
            for new in zip(words[i], words[i][1:]):
                pairs[new] += weight[i]
                places[new].add(i)
        del pairs[pair], places[pair]
    return Vocabulary(tokens + SPECIAL, merges)


def _merged(parts: list[str], pair: tuple[str, str]) -> list[str]:
    out, at = [], 0
    while at < len(parts):
        if tuple(parts[at : at + 2]) == pair:
            out.append(parts[at] + parts[at + 1])
            at += 2
        else:
            out.append(parts[at])
            at += 1
    return out
