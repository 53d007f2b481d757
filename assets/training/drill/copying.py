"""Copying what the user wrote, letter by letter.

About half of the texts are random words, some of them invented, so that the only way to
answer is to look back at the request.
"""

import functools
import pathlib
import random
import re

from .speech import Chat, exchange, first_upper, wording
from .tables import CITIES, COLOUR_NAMES, FOODS, JOBS, NAMES, OBJECTS, PLACES, THINGS

_TEXT = pathlib.Path(__file__).resolve().parent.parent / "text"
_COPY = ("repeat after me: {text} | say exactly: {text} | copy this: {text} | echo {text} | repeat: {text} | "
         "repeat this: {text} | say: {text} | please repeat the sentence \"{text}\" | please repeat: {text} | "
         "can you repeat this: {text} | can you say: {text} | repeat this sentence: {text} | echo: {text} | "
         "write exactly this: {text} | type this: {text} | say after me: {text} | copy the text: {text} | "
         "repeat the following: {text} | repeat exactly what i say: {text} | say \"{text}\" | repeat \"{text}\" | "
         "copy the sentence \"{text}\" | please say exactly this: {text} | write this: {text} | "
         "just repeat: {text} | repeat word for word: {text} | could you repeat after me: {text} | "
         "say this: {text} | copy: {text} | please copy exactly: {text} | repeat these words: {text} | "
         "i say, you repeat: {text} | answer only with: {text} | reply with exactly: {text}")
_AGAIN = ("say that again | again | once more | repeat that | say it again | one more time | again please | "
          "can you say that again | can you repeat that | repeat it please | please say it once more")
_NEXT = ("now say: {text} | and now: {text} | now repeat: {text} | and this: {text} | next: {text} | "
         "now copy this: {text} | and say: {text} | now this one: {text}")
_SYLLABLES = ("ba be bo da do du fa fe fi ga go gu ha ka ke ki lo lu ma mi mo na ne no pa pe pi ra re ro sa se "
              "so ta te ti tu va ve vo wa wi ya zo zu bra cle dri flo gra kri pla pru ska sni sto tri wex zan "
              "mur lek tol rin quo jax nim bur vel dor fen hix").split()


@functools.cache
def vocabulary() -> tuple[str, ...]:
    """Every word of our own text (lower and upper case), sorted."""
    found: set[str] = set()
    for line in _lines():
        found.update(re.findall(r"\b[A-Za-z][a-z]*\b", line))
    return tuple(sorted(found))


@functools.cache
def sentences() -> tuple[str, ...]:
    """Short questions and answers of our own text; asked to copy them, the model must not answer them."""
    found = {part for line in _lines() for part in re.split(r"(?<=[.!?])\s", line)
             if len(part.split()) <= 12 and len(part) > 1 and not set(part) & set("\"\\`{}")}
    return tuple(sorted(found))


@functools.cache
def _lines() -> tuple[str, ...]:
    return tuple(line.split(": ", 1)[1].strip() for path in sorted(_TEXT.rglob("*.txt"))
                 for line in path.read_text(encoding="utf-8").splitlines()
                 if line.startswith(("q: ", "a: ", "user: ", "assistant: ")) and "```" not in line)


def invented(rng: random.Random) -> str:
    """A word that does not exist."""
    return "".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(2, 3)))


def _random_word(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.58:
        return rng.choice(vocabulary())
    if kind < 0.78:
        return invented(rng)
    if kind < 0.86:
        return rng.choice(NAMES + CITIES)
    if kind < 0.93:
        return str(rng.choice((rng.randint(0, 20), rng.randint(0, 999), rng.randint(0, 99999))))
    if kind < 0.96:
        return rng.choice("abcdefghijklmnopqrstuvwxyzABCDEFGHXYZ") + str(rng.randint(0, 99))
    return rng.choice(vocabulary()).upper()


def _random_words(rng: random.Random) -> str:
    """One to twelve unrelated words with any case and marks."""
    words = [_random_word(rng) for _ in range(rng.randint(1, 12))]
    if rng.random() < 0.2:
        words = [words[0]] + [first_upper(w) if rng.random() < 0.3 else w for w in words[1:]]
    text = (", " if rng.random() < 0.1 else " ").join(words)
    if rng.random() < 0.4:
        text = first_upper(text)
    return text + rng.choice(("", "", "", ".", ".", "!", "?", "..."))


_PATTERNS = (
    "The {colour} {job} has {n} {things} in the {place}.", "{name} and {name2} live in {city}.",
    "My {object} is in the {place}.", "{name} eats {food} with {n} {jobs}.", "Is {name} the {job} from {city}?",
    "{n} {colour} {things} fell into the {place}!", "Please bring {n} {things} to {name}.",
    "I like {food}, but {name} likes {food2}.", "The {object} is {colour} and the {object2} is not.",
    "{name} said: the {job} is late.", "we need {n} {things} and a {object}", "{food}, {food2}, {colour}, {city}",
    "A {job} never forgets a {object}.", "Who put the {object} into the {place}?", "Call {name} at {n}{n}{n} 42.",
    "Tomorrow {name} will fly from {city} to {city2}.", "{name} is {n} years old.", "Hello {name}, welcome to {city}!",
    "no {things}, no {food}", "The {place} of {name} smells like {food}.", "{name}, {name2} and the {colour} {object}",
)


def _sentence(rng: random.Random) -> str:
    job = rng.choice(JOBS)
    return rng.choice(_PATTERNS).format(
        colour=rng.choice(COLOUR_NAMES), job=job, jobs=rng.choice(JOBS) + "s", n=rng.randint(2, 99),
        things=rng.choice(THINGS), place=rng.choice(PLACES), name=rng.choice(NAMES), name2=rng.choice(NAMES),
        city=rng.choice(CITIES), city2=rng.choice(CITIES), food=rng.choice(FOODS), food2=rng.choice(FOODS),
        object=rng.choice(OBJECTS), object2=rng.choice(OBJECTS))


def text_to_copy(rng: random.Random) -> str:
    """A text of one to twelve words: half random words, a quarter patterns, a quarter our own sentences."""
    kind = rng.random()
    if kind >= 0.75:
        return rng.choice(sentences())
    text = _random_words(rng) if kind < 0.5 else _sentence(rng)
    return " ".join(text.split()[:12])  # some cities have two words


def copying(rng: random.Random) -> Chat:
    """One request to copy, sometimes with a second one that builds on it."""
    text = text_to_copy(rng)
    if rng.random() < 0.04:
        word, times = invented(rng) if rng.random() < 0.4 else rng.choice(vocabulary()), rng.choice((2, 3, 4))
        spoken = {2: "twice", 3: "three times", 4: "four times"}[times]
        return exchange(wording(rng, "say {word} {times} | repeat {word} {times} | write {word} {times}",
                                end=".", word=word, times=spoken), ", ".join([word] * times) + ".")
    chat = exchange(wording(rng, _COPY, text=text), text)
    while rng.random() < 0.25 and len(chat) < 8:
        if rng.random() < 0.5:
            chat += exchange(wording(rng, _AGAIN), text)
        else:
            text = text_to_copy(rng)
            chat += exchange(wording(rng, _NEXT, text=text), text)
    return chat
