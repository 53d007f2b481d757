"""Copying what the user wrote, exactly.

Most texts are random words, some of them invented, or sentences with unusual or exchanged
words: to answer, the model must look back at the request. Sentences from public dialogues
(spoken) have words that our own text lacks. They are needed because a token that training
never copies is copied badly.
"""

import functools
import pathlib
import random
import re

from .sentences import sentence
from .speech import Chat, exchange, first_upper, wording
from .tables import CITIES, NAMES
from .words import ADJECTIVES, ADVERBS, NOUNS, VERBS

_TEXT = pathlib.Path(__file__).resolve().parent.parent / "text"
_WHAT = "[this/the following/what follows/these words/the next words/this text/the text below/the next line]"
_COPY = (
    "repeat after me: {text} | [say/write/type/print] exactly: {text} | copy this: {text} | echo {text} | echo: {text} | repeat: {text} | "
    "repeat this: {text} | say: {text} | repeat the [sentence/text/words/line/phrase] \"{text}\" | say after me: {text} | "
    "repeat this [sentence/phrase/line/text/message]: {text} | write exactly this: {text} | type this: {text} | "
    "copy the [text/line/sentence/words/message]: {text} | repeat the following: {text} | repeat exactly what i say: {text} | "
    "say \"{text}\" | repeat \"{text}\" | copy \"{text}\" | write \"{text}\" | copy the [sentence/line/words/text] \"{text}\" | "
    "write this: {text} | just repeat: {text} | repeat [word for word/letter by letter/it word by word]: {text} | say this: {text} | "
    "copy: {text} | copy exactly: {text} | repeat these words: {text} | i say, you repeat: {text} | answer only with: {text} | "
    "reply with exactly: {text} | repeat this for me: {text} | copy this for me: {text} | write this down [for me/exactly]: {text} | "
    "write down exactly what follows: {text} | copy what comes after the colon: {text} | type exactly what i type: {text} | "
    "give me back [the same words/the same text/exactly this/what i wrote]: {text} | send this back [to me/unchanged]: {text} | "
    "your [whole/only/complete] answer [must be/should be/is]: {text} | answer with these words and nothing else: {text} | "
    "i want to read exactly this: {text} | be my echo: {text} | be a parrot: {text} | play parrot and say: {text} | "
    "nothing but these words, please: {text} | let your reply be: {text} | put this in your answer, unchanged: {text} | "
    "can i have a copy of this[, please/]? {text} | i need a copy of this [sentence/line/text]: {text} | "
    "here is a text. repeat it: {text} | "
    "this is the [sentence/line/text] to copy: {text} | do not change anything, just copy: {text} | without any change, repeat: {text} | "
    "do not answer it, only copy it: {text} | no matter what it says, repeat it: {text} | quote me: {text} | quote this: {text} | "
    "transcribe: {text} | recite: {text} | mirror my words: {text} | the same text again, please: {text} | text to repeat: {text} | "
    "how would you write this again? {text} | what i write next, you write too: {text} | listen and repeat: {text} | "
    "copy _WHAT_: {text} | repeat _WHAT_: {text} | write _WHAT_: {text} | type _WHAT_: {text} | say _WHAT_: {text} | "
    "copy _WHAT_ exactly: {text} | repeat _WHAT_ [word for word/exactly/without changes/as it is]: {text} | "
    "copy _WHAT_:\n{text} | repeat _WHAT_:\n{text} | write down _WHAT_:\n{text} | give _WHAT_ back to me:\n{text} | "
    "repeat after me:\n{text} | copy this:\n{text} | say exactly this:\n{text} | copy the line below.\n{text} | "
    "copy the words in quotes: \"{text}\" | say what stands between the quotes: \"{text}\" | "
    "write out \"{text}\" | type \"{text}\" | reply with \"{text}\" | answer \"{text}\" and nothing else | "
    "say the words \"{text}\" | repeat after me \"{text}\" | \"{text}\" - repeat that, please. | \"{text}\" is what you should say. | "
    "\"{text}\" - now you. | \"{text}\", say it exactly like that. | i would like you to say \"{text}\" | "
    "please repeat: {text} | please copy: {text} | please say: {text} | please write: {text} | "
    "please repeat \"{text}\"").replace("_WHAT_", _WHAT)
_AGAIN = (
    "say that again | again | once more | repeat that | say it again | one more time | again please | repeat it please | "
    "say it once more | and again | the same again | do it again | repeat your last answer | i want to read it again | "
    "what was it again? | i did not get that, once more | could i see it again? | a second time, please | type it again | "
    "copy it one more time | write it again | that was nice, again please | one more copy | say the same thing again | "
    "sorry, what was that? | come again? | pardon? | once again | i missed it. again please")
_NEXT = (
    "now say: {text} | and now: {text} | now repeat: {text} | and this: {text} | next: {text} | now copy this: {text} | and say: {text} | "
    "now this one: {text} | good, and this: {text} | the next one: {text} | then repeat this: {text} | do the same with this: {text} | "
    "and also: {text} | here is another: {text} | another one to copy: {text} | well done. now: {text} | the same with: {text} | "
    "fine, next text: {text} | go on with: {text} | after that, copy: {text} | now \"{text}\" | and \"{text}\" | "
    "and now this:\n{text} | next one:\n{text}")
_TIMES = ("say {word} {times} | repeat {word} {times} | write {word} {times} | type {word} {times} | the word {word}, {times} | "
          "i want to read {word} {times} | say the word {word} {times} | {word}, {times} please | give me {word} {times} | "
          "put {word} in your answer {times}")
_SYLLABLES = ("ba be bo da do du fa fe fi ga go gu ha ka ke ki lo lu ma mi mo na ne no pa pe pi ra re ro sa se "
              "so ta te ti tu va ve vo wa wi ya zo zu bra cle dri flo gra kri pla pru ska sni sto tri wex zan "
              "mur lek tol rin quo jax nim bur vel dor fen hix").split()


@functools.cache
def vocabulary() -> tuple[str, ...]:
    """The words of our own text, sorted, without those that have a capital letter after the first letter."""
    found: set[str] = set()
    for line in _lines():
        found.update(re.findall(r"\b[A-Za-z][a-z]*\b", line))
    return tuple(sorted(found))


@functools.cache
def sentences() -> tuple[str, ...]:
    """Short sentences of our own text. Some are questions, which the model must copy and not answer."""
    found = {part for line in _lines() for part in re.split(r"(?<=[.!?])\s", line)
             if len(part.split()) <= 12 and len(part) > 1 and not set(part) & set("\"\\`{}")}
    return tuple(sorted(found))


@functools.cache
def _lines() -> tuple[str, ...]:
    return tuple(line.split(": ", 1)[1].strip() for path in sorted(_TEXT.rglob("*.txt"))
                 for line in path.read_text(encoding="utf-8").splitlines()
                 if line.startswith(("q: ", "a: ", "user: ", "assistant: ")) and "```" not in line)


def invented(rng: random.Random) -> str:
    """A word made of two or three random syllables."""
    return "".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(2, 3)))


@functools.cache
def words_of(spoken: tuple[str, ...]) -> tuple[str, ...]:
    """The words of the sentences, sorted."""
    return tuple(sorted({word for line in spoken for word in re.findall(r"\b[A-Za-z]+\b", line)}))


def _random_word(rng: random.Random, spoken: tuple[str, ...]) -> str:
    if spoken and rng.random() < 0.4:
        return rng.choice(words_of(spoken))
    kind = rng.random()
    if kind < 0.3:
        return rng.choice(vocabulary())
    if kind < 0.6:
        return rng.choice(rng.choice((NOUNS, NOUNS, VERBS, ADJECTIVES, ADVERBS)))
    if kind < 0.78:
        return invented(rng)
    if kind < 0.86:
        return rng.choice(NAMES + CITIES)
    if kind < 0.93:
        return str(rng.choice((rng.randint(0, 20), rng.randint(0, 999), rng.randint(0, 99999))))
    if kind < 0.96:
        return rng.choice("abcdefghijklmnopqrstuvwxyzABCDEFGHXYZ") + str(rng.randint(0, 99))
    return rng.choice(vocabulary()).upper()


def _random_words(rng: random.Random, spoken: tuple[str, ...]) -> str:
    """One to twelve unrelated words with any case and marks."""
    words = [_random_word(rng, spoken) for _ in range(rng.randint(1, 12))]
    if rng.random() < 0.2:
        words = [words[0]] + [first_upper(w) if rng.random() < 0.3 else w for w in words[1:]]
    text = (", " if rng.random() < 0.1 else " ").join(words)
    if rng.random() < 0.4:
        text = first_upper(text)
    return text + rng.choice(("", "", "", ".", ".", "!", "?", "..."))


def _disturbed(rng: random.Random, text: str, spoken: tuple[str, ...]) -> str:
    """The sentence with up to three words exchanged for others, so that nobody can guess how it goes on. The first word is exchanged most
    often: it is hard to copy, because its token at the start of the answer differs from that after a space in the request."""
    words = text.split()
    for _ in range(rng.randint(0, 3)):
        at = 0 if rng.random() < 0.3 else rng.randrange(len(words))
        if words[at].isalpha():
            word = _random_word(rng, spoken)
            words[at] = first_upper(word) if words[at][0].isupper() else word
    return " ".join(words)


def text_to_copy(rng: random.Random, spoken: tuple[str, ...] = ()) -> str:
    """A text of one to twelve words: random words, a sentence made from a pattern, one of spoken, or one of our own text."""
    kind = rng.random()
    if kind >= 0.85:
        return rng.choice(sentences())
    if spoken and kind >= 0.6:
        text = _disturbed(rng, rng.choice(spoken), spoken)
    elif kind < 0.35:
        text = _random_words(rng, spoken)
    else:
        text = _disturbed(rng, sentence(rng), spoken)
    return " ".join(text.split()[:12])  # a city of two words may have made it longer


def _several_times(rng: random.Random) -> Chat:
    """The user wants one word written two to four times."""
    word, times = invented(rng) if rng.random() < 0.4 else rng.choice(vocabulary() + NOUNS), rng.choice((2, 3, 4))
    spoken = {2: "twice", 3: "three times", 4: "four times"}[times]
    return exchange(wording(rng, _TIMES, end=".", word=word, times=spoken), ", ".join([word] * times) + ".")


def copying(rng: random.Random, spoken: tuple[str, ...] = ()) -> Chat:
    """One request to copy, sometimes followed by up to three more: for the same text again, or for another. Rarely, a word several times."""
    if rng.random() < 0.04:
        return _several_times(rng)
    text = text_to_copy(rng, spoken)
    chat = exchange(wording(rng, _COPY, text=text), text)
    while rng.random() < 0.25 and len(chat) < 8:
        if rng.random() < 0.5:
            chat += exchange(wording(rng, _AGAIN), text)
        else:
            text = text_to_copy(rng, spoken)
            chat += exchange(wording(rng, _NEXT, text=text), text)
    return chat
