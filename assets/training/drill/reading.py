"""A small statement about people and things, and a question that it answers."""

import random
from collections.abc import Callable

from .speech import Chat, chosen, exchange, wording
from .tables import CITIES, COLOUR_NAMES, FOODS, NAMES, OBJECTS, PLACES
from .words import NOUNS

# (statements, questions, answer); {a} and {b} are names, {t} and {u} things, {p} a place, {c} and {d} colours, {o} and {q} cities, {f}
# and {g} foods
_PUZZLES: tuple[tuple[str, str, str], ...] = (
    ("the {t} is in the {p} | you can find the {t} in the {p} | in the {p} there is the {t} | i left the {t} in the {p}",
     "where is the {t} | where can i find the {t} | in which place is the {t} | i need the {t}. where is it? | "
     "where should i look for the {t}",
     "The {t} is in the {p}."),
    ("{a} has a {c} {t} | {a} owns a {c} {t} | the {t} of {a} is {c} | {a} bought a {c} {t}",
     "what colour is the {t} of {a} | which colour has the {t} of {a} | what is the colour of {a}'s {t}", "The {t} of {a} is {c}."),
    ("{a} has a {c} {t} and {b} has a {u} | {a} has the {t}, {b} has the {u} | the {t} belongs to {a} and the {u} to {b}",
     "who has the {t} | who is the one with the {t} | whose hands hold the {t}? | to whom should i go for the {t}?", "{a} has the {t}."),
    ("{a} is taller than {b} | compared to {b}, {a} is taller",
     "who is taller | who is the taller one | which of the two is taller | {a} or {b}, who is taller?", "{a} is taller."),
    ("{a} is taller than {b} | {b} is not as tall as {a}",
     "who is smaller | who is the smaller one | which of them is smaller | {a} or {b}, who is smaller?", "{b} is smaller."),
    ("{a} gave the {t} to {b} | {b} got the {t} from {a} | {a} handed {b} the {t}",
     "who has the {t} now | where is the {t} now, with {a} or {b}? | who is holding the {t} now | with whom is the {t} now",
     "{b} has the {t} now."),
    ("{a} lives in the {p} and {b} in the garden house | the {p} is where {a} lives, and {b} has the garden house",
     "who lives in the {p} | who is at home in the {p} | which of them lives in the {p}", "{a} lives in the {p}."),
    ("{a} is older than {b} | {b} is younger than {a} | {a} was born before {b}",
     "who is older | who is the older one | which of them is older | {a} or {b}, who is older?", "{a} is older."),
    ("{a} put the {t} into the {p} | {a} hid the {t} in the {p} | into the {p} went the {t}, and {a} did it",
     "who put the {t} into the {p} | by whom was the {t} put into the {p}? | who did it", "{a} put the {t} into the {p}."),
    ("{a} put the {t} into the {p} | {a} hid the {t} in the {p} | {a} left the {t} in the {p}",
     "where is the {t} | where did {a} leave the {t} | in which place is the {t}", "The {t} is in the {p}."),
    ("{a} lives in {o} and {b} lives in {q} | {a} is at home in {o}, {b} in {q}",
     "where does {a} live | in which city does {a} live | what is the home of {a} | which city is {a} in", "{a} lives in {o}."),
    ("{a} likes {f} and {b} likes {g} | {a} eats {f}, but {b} eats {g}",
     "what does {b} like | what should i cook for {b} | what does {b} like to eat | which food is for {b}", "{b} likes {g}."),
    ("the {t} is {c} and the {u} is {d} | there is a {c} {t} next to a {d} {u}",
     "what colour is the {u} | which colour has the {u} | and the {u}, which colour?", "The {u} is {d}."),
)
_BOTH = ("<s>. <q> | <s>, <q> | here is a fact: <s>. <q> | think of this: <s>. <q> | <s>. now the question: <q> | suppose <s>. <q> | "
         "read this and answer: <s>. <q> | if <s>, <q> | i know that <s>. <q> | <s>. can you tell me, <q>")


def reading(rng: random.Random, between: Callable[[random.Random], Chat]) -> Chat:
    """A statement and a question about it: in one message, or in two, sometimes with another exchange (between) in the middle."""
    statements, questions, reply = rng.choice(_PUZZLES)
    fields = _fields(rng)
    if rng.random() < 0.5:
        both = chosen(rng, _BOTH, s=statements, q=questions).removesuffix("?") + "?"
        return exchange(wording(rng, both, **fields), reply.format(**fields))
    statement = chosen(rng, statements)
    chat = exchange(wording(rng, statement, end=".", **fields), f"I see: {statement.replace('i left', 'you left').format(**fields)}.")
    if rng.random() < 0.3:
        chat += between(rng)
    return chat + exchange(wording(rng, questions, **fields), reply.format(**fields))


def _fields(rng: random.Random) -> dict[str, str]:
    a, b = rng.sample(NAMES, 2)
    thing, other = rng.sample(OBJECTS, 2) if rng.random() < 0.6 else rng.sample(NOUNS, 2)
    colour, second = rng.sample(COLOUR_NAMES, 2)
    city, town = rng.sample(CITIES, 2)
    food, dish = rng.sample(FOODS, 2)
    return {"a": a, "b": b, "t": thing, "u": other, "p": rng.choice(PLACES), "c": colour, "d": second, "o": city, "q": town,
            "f": food, "g": dish}
