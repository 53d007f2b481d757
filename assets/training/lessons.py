"""Reads our own questions and answers (text/program, text/general) and varies how they are asked.

A block of lines is one lesson: `id:`, then either `q:` lines (ways to ask) and `a:` lines (answers), or a chat in `user:` and
`assistant:` lines. A block with the id of another lesson adds to it. Blocks are separated by blank lines,
a line that begins with `#` is a comment. {key:…}, {flag:…} and so on stand for what text/placeholders.json says. That file is generated from the program
itself, so that no wrong key is taught. The escapes are \\n, \\t and \\\\.
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
    lessons: dict[str, Lesson] = {}
    for path in sorted(folder.glob("*.txt")):
        for block in re.split(r"\n\s*\n", path.read_text()):
            part = _lesson(block, known, path)
            if part.chat or part.questions:
                whole = lessons.setdefault(part.id, Lesson(part.id))
                whole.questions += part.questions
                whole.answers += part.answers
                whole.chat += part.chat
    return list(lessons.values())


def _lesson(block: str, known: dict[str, str], path: Path) -> Lesson:
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
    return lesson


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
    """Returns a question without case and punctuation. Questions for which it returns the same text count as the same question."""
    return " ".join(re.sub(r"[^\w\s+↑↓←→.,/-]", " ", question.lower()).replace(".", " ").replace(",", " ").split())


BEFORE = ["hey, ", "hi, ", "please, ", "tell me, ", "ok, ", "so ", "one question: ", "quick question: ", "and ", "um, ", "excuse me, ", "sorry, "]
AFTER = [" please", " thanks", ", please", " exactly", " again", " here", " in this program", " quickly"]


SAME = [group.split(" | ") for group in (
    "how do i | how can i | how would i | how could i | what do i do to | is there a way to",
    "which key | what key | which button | which keyboard shortcut | which key combination",
    "what is | what's | tell me what is",
    "what does | tell me what | explain what",
    "can you | could you | are you able to | would you",
    "why does | why is it that | how come that | for what reason",
    "show | display", "bigger | larger", "biggest | largest", "begin | start", "fast | quick", "wrong | incorrect", "big | large | great",
    "small | little | tiny", "raise | increase", "lower | decrease | reduce", "answer | reply", "colour | color", "colours | colors",
    "i want to | i would like to | i'd like to | i wish to | i need to",
    "do you know | have you any idea | can you tell me | any idea",
    "turn off | switch off | disable | deactivate", "turn on | switch on | enable | activate", "choose | pick | select", "chosen | picked | selected",
    "change | alter | modify | adjust", "stop | halt | end | abort", "delete | remove | erase", "often | frequently", "need | require",
    "happens | occurs", "program | app | application | tool | software", "save | store", "guess | proposal", "guesses | proposals", "guessed | proposed | drafted",
    "describe | explain | say something about", "machine | computer | pc", "GPU | graphics card | video card",
    "option | parameter", "default | standard", "automatically | by itself", "at once | in one go",
    "screen | display | terminal window", "conversation | chat | dialogue", "kept | retained", "thrown away | discarded | dropped", "meaning | sense",
    "folder | directory", "rejected | refused | turned down", "accepted | approved | let through", "checks | verifies | examines", "probability | likelihood | chance",
    "likely | probable", "see | look at | view", "good for | useful for", "purpose | aim | point",
    "main model | large model | big model | target model", "small model | little model | draft model", "sentence | phrase", "copy | duplicate", "leave | quit | exit",
)]
CHANGES = {words.lower(): [w for w in group if w != words] for group in SAME for words in group}
_WORDS = "|".join(sorted(map(re.escape, CHANGES), key=len, reverse=True))
CHANGED = re.compile(rf"(?<![\w/.-])({_WORDS})(?![\w-]|\.\w)", re.IGNORECASE)  # does not match inside --stop, /stop and stop.count


def reworded(question: str, rng: random.Random) -> str:
    """Replaces words of a question by synonyms of SAME: each word that has some, in half of the cases."""

    def other(match: re.Match) -> str:
        words = rng.choice(CHANGES[match[0].lower()]) if rng.random() < 0.5 else match[0]
        return words[0].upper() + words[1:] if match[0][0].isupper() else words

    return CHANGED.sub(other, question)


def varied(question: str, rng: random.Random) -> str:
    """Returns the question as another person may type it: with other words, case and punctuation, a word added before or after it, or a
    typing mistake."""
    text = reworded(question, rng) if rng.random() < 0.4 else question
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
