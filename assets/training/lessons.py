"""Reads our own questions and answers (text/program, text/general) and varies how they are asked.

A block of lines is one lesson: `id:`, then either `q:` lines (ways to ask) and `a:` lines (answers), or a chat in `user:` and
`assistant:` lines. Blocks are separated by blank lines, `#` begins a comment. {key:…}, {flag:…} and so on stand for
what text/placeholders.json says, which is generated from the program itself, so that no wrong key is taught. Backslashes begin escapes of newline, tab and themselves.
"""
import json
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

from vocabulary import Chat


@dataclass
class Lesson:
    id: str = ""
    questions: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    chat: Chat = field(default_factory=list)


def read(folder: Path, known: dict[str, str]) -> list[Lesson]:
    lessons = []
    for path in sorted(folder.glob("*.txt")):
        for block in re.split(r"\n\s*\n", path.read_text()):
            lesson = Lesson()
            for line in block.splitlines():
                if line.startswith("#") or not line.strip():
                    continue
                kind, _, text = line.partition(":")
                text = _unescaped(_resolved(text.strip(), known, path))
                if kind == "id":
                    lesson.id = text
                elif kind == "q":
                    lesson.questions.append(text)
                elif kind == "a":
                    lesson.answers.append(text)
                elif kind in ("user", "assistant"):
                    lesson.chat.append((kind, text))
                else:
                    raise ValueError(f"{path}: {line!r}: want id, q, a, user or assistant")
            if lesson.chat or lesson.questions:
                lessons.append(lesson)
    return lessons


def placeholders(path: Path) -> dict[str, str]:
    return json.loads(path.read_text()) if path.exists() else {}


def _resolved(text: str, known: dict[str, str], path: Path) -> str:
    def one(match: re.Match) -> str:
        if match[1] not in known:
            raise ValueError(f"{path}: {match[0]} is not among the placeholders")
        return known[match[1]]

    return re.sub(r"\{([a-z]+:[^{}]+)\}", one, text)


def _unescaped(text: str) -> str:
    return re.sub(r"\\([nt\\])", lambda m: {"n": "\n", "t": "\t", "\\": "\\"}[m[1]], text)


def normal(question: str) -> str:
    """A question without case and punctuation: two that agree in it are the same question."""
    return " ".join(re.sub(r"[^\w\s+↑↓←→.,/-]", " ", question.lower()).replace(".", " ").replace(",", " ").split())


BEFORE = ["hey, ", "hi, ", "please, ", "tell me, ", "ok, ", "so ", "one question: ", "quick question: ", "and ", "um, ", "excuse me, ", "sorry, "]
AFTER = [" please", " thanks", ", please", " exactly", " again", " here", " in this program", " quickly"]


def varied(question: str, rng: random.Random) -> str:
    """The same question as another hand may type it: case, punctuation, a word before or behind, a slip."""
    text = question
    if rng.random() < 0.12:
        text = rng.choice(BEFORE) + text[:1].lower() + text[1:]
    if rng.random() < 0.08:
        text = text.rstrip("?.!") + rng.choice(AFTER) + ("?" if text.endswith("?") else "")
    if rng.random() < 0.35:
        text = text.lower()
    if rng.random() < 0.35:
        text = text.rstrip("?.!")
    elif rng.random() < 0.2:
        text = text.rstrip("?.!") + "?"
    if rng.random() < 0.3:
        text = text[:1].upper() + text[1:]
    if rng.random() < 0.08:
        text = _slip(text, rng)
    return text


def _slip(text: str, rng: random.Random) -> str:
    letters = [i for i in range(1, len(text) - 1) if text[i - 1 : i + 2].isalpha()]
    if not letters:
        return text
    at = rng.choice(letters)
    if rng.random() < 0.5:
        return text[:at] + text[at + 1 :]
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
