"""A list, told by the user or by the model, and questions about its items."""

import random

from .counting import numbers
from .facts import spelling_answer
from .numbers import in_words, typed
from .rows import ROWS
from .speech import Chat, chosen, exchange, first_upper, joined, listed, wording
from .tables import CITIES, COLOUR_NAMES, FOODS, NAMES, OBJECTS, ORDINALS, THINGS
from .words import ADJECTIVES, NOUNS

_MINE = (
    "my list: {l} | here is a list: {l} | here are some words: {l} | remember these: {l} | keep these in mind: {l} | i need to buy {l} | "
    "i have {l} | these are my things: {l} | i found {l} | on my list are {l} | i wrote down {l} | in my bag are {l} | we have {l} | "
    "i give you some words: {l} | there are {l} | take these: {l} | the list is {l} | today i saw {l} | i can choose between {l} | "
    "my notes say {l} | i packed {l} | the things to sort are {l} | on the table i see {l}")
_SEVERAL = ("name {n} {m} | list {n} {m} | tell me {n} {m} | give me {n} {m} | i need {n} {m} | say {n} {m} | write down {n} {m} | "
            "{n} {m}, please | can you think of {n} {m}? | which {n} {m} do you know? | do you know {n} {m}? | give me a list of {n} {m} | "
            "i want to know {n} {m} | for a game i need {n} {m} | make a list of {n} {m} | show me {n} {m} | what are {n} {m} | "
            "help me to find {n} {m} | pick {n} {m} | mention {n} {m}")
_COUNTED = "count from {a} to {b} | give me the numbers from {a} to {b} | numbers from {a} to {b} | say the numbers {a} to {b}"
_COPIED = "repeat: {text} | copy this: {text} | say: {text} | repeat these words: {text} | write: {text} | copy this list: {text}"

_WHICH = {
    "nth": "the {o} one | the {o} one, please | which [one /]was the {o}[ one/] | what was the {o} one | and the {o} one? | "
           "number {k}? | what was number {k} | "
           "which one stands in place {k} | only the {o} one | say the {o} one | tell me the {o} one [again/] | i want the {o} one | "
           "what is the {o} [one/item/entry] | what did you have in place {k}? | show me the {o} | item {k}, please | the {o} of them? | "
           "give me the {o} one | can you repeat the {o} one? | i like the {o} one. what was it? | which is {o} in the list | "
           "i take the {o} one. what is it? | i forgot the {o} one",
    "first": "which [of these/of them/one] [came/comes/was/is] first | what came first | the first one | what is at the start | "
             "which one stands at the beginning | how does the list begin? | what was the first one | who or what is first? | "
             "tell me the first one | "
             "the one at the top, please | with what does the list start | number one? | only the first one | say the first one | "
             "which [of these/of them] did come first?",
    "last": "which [of these/of them/one] [came/comes/was/is] last | what came last | the last one | what is at the end | "
            "which one stands at the end | how does the list end? | what was the last one | who or what is last? | tell me the last one | "
            "the one at the bottom, please | with what does the list end | and the last one? | only the last one | say the last one",
}
_MIDDLE = ("the middle one | which one is in the middle | what stands in the middle | the one in the middle, please | "
           "what was the middle one | who or what is in the middle? | tell me the middle one | and in the middle?")
_HOW_MANY = ("how many are there | how many are these | how many is that | how many did [i/you] name? | how long is the list | "
             "count them | what is the number of items | how many items are in the list | and how many are they? | how many things is that")
_AFTER = ("what comes [after/behind] {x} | which one [comes/came/is/stands] after {x} | what followed {x} | and after {x}? | "
          "the one after {x} | "
          "which is the next one after {x} | what stands behind {x}")
_BEFORE = ("what comes before {x} | which one [comes/came/is/stands] before {x} | and before {x}? | the one before {x} | "
           "what stands in front of {x} | which is the one before {x}")
_CONTAINS = ("is {x} in the list | is {x} one of them | did [i/you] name {x}? | does the list have {x} in it | is {x} there too | "
             "was {x} among them | do you see {x} in the list | {x} is one of them, right? | is {x} on it")
_BACKWARDS = ("now backwards | the other way round | say it backwards | in reverse order | turn the list around | "
              "now from the end to the start | "
              "list them backwards | how is it the other way round? | start with the last one | reverse it | and backwards? | "
              "from last to first")
_WITHOUT = ("leave out the {o} one | without the {o} one | all but the {o} one | list them without the {o} one | remove the {o} one | "
            "take the {o} one out | now without the {o} one | and if the {o} one is gone? | everything but the {o}, please | "
            "delete the {o} one")
_MORE = ("add {x} | add {x} to it | and {x} | put {x} on the list too | i forgot {x} | {x} too | {x} belongs to it too | one more: {x} | "
         "also {x} | {x} must be on the list as well | write {x} behind them")
SPELL = ("spell it | spell that | how do you spell it | how is that spelled | how do you spell that | letter by letter, please | "
         "which letters does it have? | i do not know how to write it, spell it. | can you spell that for me? | "
         "how do i write that? spell it. | "
         "and the spelling? | give me its letters | now spell that word | what are the letters of it")


def lists(rng: random.Random) -> Chat:
    """A list and one to four questions about it. Sometimes the user adds an item, or has an item of an answer spelled."""
    chat, items = rng.choice((_told, _told, _several, _several, _copied, _counted))(rng)
    if rng.random() < 0.2 and chat[-1][1].startswith("I see: "):
        new = rng.choice(NOUNS)
        items = items + [new]
        chat += exchange(wording(rng, _MORE, end=".", x=new), f"I see: {listed(items)}.")
    for _ in range(rng.choice((1, 1, 2, 3))):
        chat += _question(rng, items)
        if chat[-1][1].startswith("The ") and rng.random() < 0.15:
            item = chat[-1][1].rsplit(" ", 1)[-1].rstrip(".")
            if item.isalpha() and len(item) > 1:
                chat += exchange(wording(rng, SPELL), spelling_answer(item))
    return chat


def _told(rng: random.Random) -> tuple[Chat, list[str]]:
    """The user tells a list, sometimes with the first question in the same message."""
    items = _items(rng)
    if rng.random() < 0.3:
        return _question(rng, items, after=_MINE), items
    return exchange(wording(rng, _MINE, end=".", l=listed(items)), f"I see: {listed(items)}."), items


def _several(rng: random.Random) -> tuple[Chat, list[str]]:
    """The model lists some names of one kind. It takes them from the start of a fixed row, so a question always has the same answer."""
    row = rng.choice([row for row in ROWS if row.many])
    count = rng.randint(2, len(row.names))
    items = list(row.names[:count])
    return exchange(wording(rng, _SEVERAL, n=typed(rng, count), m=row.many),
                    f"{first_upper(in_words(count))} {row.many} are {listed(items)}."), items


def _copied(rng: random.Random) -> tuple[Chat, list[str]]:
    items = _items(rng)
    text = (" " if rng.random() < 0.3 and not any(" " in item for item in items) else ", ").join(items)
    return exchange(wording(rng, _COPIED, text=text), text), items


def _counted(rng: random.Random) -> tuple[Chat, list[str]]:
    start = rng.randint(1, 40)
    stop = start + rng.randint(2, 6)
    return (exchange(wording(rng, _COUNTED, a=typed(rng, start), b=typed(rng, stop)), numbers(start, stop)),
            [str(n) for n in range(start, stop + 1)])


def _items(rng: random.Random) -> list[str]:
    words = rng.choice((NOUNS, NOUNS, NOUNS, ADJECTIVES, NAMES, CITIES, COLOUR_NAMES, FOODS, OBJECTS, THINGS))
    return rng.sample(words, rng.randint(3, 6))


def _question(rng: random.Random, items: list[str], after: str = "") -> Chat:
    """One question about the items. `after` is a template of the list: the question then follows it in the same message."""
    templates, answer, fields = rng.choice((_nth, _nth, _nth, _end, _end, _end, _neighbour, _contains, _whole))(rng, items)
    if after:
        templates = chosen(rng, "<list>. <question>", list=after, question=templates).removesuffix("?") + "?"
    return exchange(wording(rng, templates, l=listed(items), **fields), answer)


Question = tuple[str, str, dict[str, str]]  # templates, answer, fields


def _nth(rng: random.Random, items: list[str]) -> Question:
    index = rng.randrange(len(items))
    ordinal = ORDINALS[index]
    return _WHICH["nth"], f"The {ordinal} one is {items[index]}.", {"o": ordinal, "k": typed(rng, index + 1)}


def _end(rng: random.Random, items: list[str]) -> Question:
    if len(items) % 2 and rng.random() < 0.2:
        return _MIDDLE, f"The middle one is {items[len(items) // 2]}.", {}
    end = rng.choice(("first", "last"))
    return _WHICH[end], f"The {end} one is {items[0 if end == 'first' else -1]}.", {}


def _neighbour(rng: random.Random, items: list[str]) -> Question:
    index = rng.randrange(len(items) - 1)
    if rng.random() < 0.6:
        return _AFTER, f"After {items[index]} comes {items[index + 1]}.", {"x": items[index]}
    return _BEFORE, f"Before {items[index + 1]} comes {items[index]}.", {"x": items[index + 1]}


def _contains(rng: random.Random, items: list[str]) -> Question:
    other = rng.choice((rng.choice(items), rng.choice(NOUNS)))
    return _CONTAINS, f"Yes, {other} is one of them." if other in items else f"No, {other} is not one of them.", {"x": other}


def _whole(rng: random.Random, items: list[str]) -> Question:
    """How many items there are, the list backwards, or the list without one item."""
    kind = rng.randrange(3)
    if kind == 0:
        return _HOW_MANY, f"There are {in_words(len(items))}.", {}
    if kind == 1:
        return _BACKWARDS, joined(items[::-1]), {}
    gone = rng.randrange(len(items))
    return _WITHOUT, joined(items[:gone] + items[gone + 1:]), {"o": ORDINALS[gone]}
