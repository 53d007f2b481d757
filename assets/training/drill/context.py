"""Facts that the user tells and asks back some turns later."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from .arithmetic import arithmetic
from .copying import invented
from .counting import counting
from .facts import facts
from .speech import Chat, article, exchange, first_upper, wording
from .tables import (CITIES, COLOUR_NAMES, DAYS, FOODS, JOBS, MONTHS, NAMES, OBJECTS, PET_NAMES, PLACES,
                     ANIMALS)


@dataclass(frozen=True)
class Fact:
    """One thing a user tells: {v} is its value."""

    tell: str                                # templates
    ask: str                                 # templates
    told: str                                # the sentence in the second person, without "Good to know: "
    missing: str                             # what the model says that it was not told
    value: Callable[[random.Random], str]


def _name(rng: random.Random) -> str:
    return first_upper(invented(rng)) if rng.random() < 0.2 else rng.choice(NAMES)


def _city(rng: random.Random) -> str:
    return first_upper(invented(rng)) if rng.random() < 0.1 else rng.choice(CITIES)


_LIKE = "my favourite {k} is {{v}} | i like {{v}} best, it is my favourite {k} | the {k} i like most is {{v}} | {{v}} is my favourite {k}"
_LIKE_ASK = ("what is my favourite {k} | which {k} do i like best | do you remember my favourite {k} | "
             "tell me my favourite {k} | what's my favourite {k} | my favourite {k}")


def _favourite(kind: str, value: Callable[[random.Random], str]) -> Fact:
    return Fact(_LIKE.format(k=kind), _LIKE_ASK.format(k=kind), f"your favourite {kind} is {{v}}.",
                f"your favourite {kind}", value)


NAME = Fact("my name is {v} | i am {v} | i'm {v} | call me {v} | you can call me {v} | hi, i am {v} | hello, my name is {v} | "
            "people call me {v}",
            "what is my name | do you remember my name | who am i | tell me my name | what am i called | do you know my "
            "name | whats my name | what's my name again | can you tell me my name | how am i called | say my name",
            "your name is {v}.", "your name", _name)

FACTS: tuple[Fact, ...] = (
    _favourite("colour", lambda rng: rng.choice(COLOUR_NAMES)),
    _favourite("animal", lambda rng: "the " + rng.choice(list(ANIMALS))),
    _favourite("food", lambda rng: rng.choice(FOODS)),
    _favourite("number", lambda rng: str(rng.randint(0, 99))),
    _favourite("day", lambda rng: rng.choice(DAYS)),
    Fact("i live in {v} | my home is in {v} | i have a flat in {v} and live there | my city is {v}",
         "where do i live | which city do i live in | do you remember where i live | what is my city | where is my home",
         "you live in {v}.", "where you live", _city),
    Fact("i am {v} years old | my age is {v} | i am {v} | i turned {v} this year",
         "how old am i | what is my age | do you remember my age | tell me how old i am | my age",
         "you are {v} years old.", "your age", lambda rng: str(rng.randint(6, 95))),
    Fact("i am {v} | i work as {v} | my job is {v} | i work as {v} in a small town",
         "what is my job | what do i do for work | what do i work as | do you remember my job | tell me my job",
         "you work as {v}.", "your job", lambda rng: article(rng.choice(JOBS))),
    Fact("my dog is called {v} | i have a dog called {v} | the name of my dog is {v} | my dog's name is {v}",
         "what is my dog called | what is the name of my dog | how is my dog called | name of my dog",
         "your dog is called {v}.", "the name of your dog", lambda rng: rng.choice(PET_NAMES)),
    Fact("my cat is called {v} | i have a cat called {v} | the name of my cat is {v} | my cat's name is {v}",
         "what is my cat called | what is the name of my cat | how is my cat called | name of my cat",
         "your cat is called {v}.", "the name of your cat", lambda rng: rng.choice(PET_NAMES)),
    Fact("my brother is called {v} | my brother's name is {v} | i have a brother, he is called {v}",
         "what is my brother called | what is the name of my brother | who is my brother",
         "your brother is called {v}.", "the name of your brother", _name),
    Fact("my sister is called {v} | my sister's name is {v} | i have a sister, she is called {v}",
         "what is my sister called | what is the name of my sister | who is my sister",
         "your sister is called {v}.", "the name of your sister", _name),
    Fact("my birthday is in {v} | i was born in {v} | i have my birthday in {v}",
         "when is my birthday | in which month is my birthday | which month was i born in",
         "your birthday is in {v}.", "when your birthday is", lambda rng: rng.choice(MONTHS)),
    Fact("my car is {v} | i have a {v} car | the colour of my car is {v}",
         "what colour is my car | which colour has my car | the colour of my car",
         "your car is {v}.", "the colour of your car", lambda rng: rng.choice(COLOUR_NAMES)),
    Fact("the secret word is {v} | remember the word {v} | the password of the game is {v} | keep this word in mind: {v}",
         "what is the secret word | which word did i tell you | what was the word | tell me the word",
         "the word is {v}.", "a word", lambda rng: invented(rng)),
    Fact("remember the number {v} | keep the number {v} in mind | the code of the game is {v} | my lucky number is {v}",
         "what is the number | which number did i tell you | what was the number | tell me the number",
         "the number is {v}.", "a number", lambda rng: str(rng.randint(10, 9999))),
)

# Small talk between a fact and its question; the answers are those of text/general.
SMALL_TALK: tuple[tuple[str, str], ...] = (
    ("how are you?", "I am fine, thank you. How are you?"), ("thanks", "You are welcome!"),
    ("tell me a joke", "Why did the bicycle fall over? It was two tired."),
    ("ok", "Good. What would you like to do next?"), ("cool", "I am glad you like it!"),
    ("good morning", "Good morning! I hope you slept well."), ("haha", "I am glad I made you smile."),
    ("nice", "I am glad you like it!"),
    ("what time is it", "I cannot know that: I have no clock and no network."),
    ("hello", "Hello! How can I help you?"), ("are you there?", "Yes, I am here. How can I help you?"),
)


def small_talk(rng: random.Random) -> Chat:
    """One exchange that has nothing to do with the facts told."""
    kind = rng.random()
    if kind < 0.4:
        return exchange(*rng.choice(SMALL_TALK))
    return rng.choice((facts, facts, arithmetic, counting))(rng)[:2]


def tell(rng: random.Random, fact: Fact, value: str) -> Chat:
    """The user tells the fact; the model says it back."""
    return exchange(wording(rng, fact.tell, end=".", v=value), acknowledged(fact, value))


def acknowledged(fact: Fact, value: str) -> str:
    """The canonical answer to a fact told."""
    if fact is NAME:
        return f"Nice to meet you, {value}!"
    return "Good to know: " + fact.told.format(v=value)


def asked_back(rng: random.Random, fact: Fact, value: str) -> Chat:
    """The user asks for the fact; the answer is what was told last."""
    return exchange(wording(rng, fact.ask), first_upper(fact.told.format(v=value)))


def remembered(rng: random.Random) -> Chat:
    """One to three facts, zero to three turns of small talk, corrections, then one to three questions."""
    picked = rng.sample(FACTS, rng.choice((0, 1, 1, 2)))
    if rng.random() < 0.5 or not picked:
        picked.insert(rng.randint(0, len(picked)), NAME)
    values = {fact: fact.value(rng) for fact in picked}
    chat: Chat = []
    for fact in picked:
        chat += tell(rng, fact, values[fact])
        if rng.random() < 0.25:
            chat += small_talk(rng)
    for fact in picked:
        if rng.random() < 0.18:
            values[fact] = fact.value(rng)
            first = rng.choice([w.strip() for w in fact.tell.split("|")][:1]).format(v=values[fact])
            start = rng.choice(("no, ", "sorry, ", "actually, ", "wait, ", "no wait, ", "i was wrong, "))
            chat += exchange(start + first, "Sorry! " + acknowledged(fact, values[fact]) if fact is NAME
                             else "I see: " + fact.told.format(v=values[fact]))
    for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
        chat += small_talk(rng)
    for fact in rng.sample(picked, rng.randint(1, len(picked))):
        chat += asked_back(rng, fact, values[fact])
    if rng.random() < 0.15:
        chat += not_told(rng, [f for f in FACTS + (NAME,) if f not in picked])
    return chat


def not_told(rng: random.Random, unknown: list[Fact]) -> Chat:
    """A question for a fact that was never told: say so instead of inventing one."""
    fact = rng.choice(unknown)
    return exchange(wording(rng, fact.ask), f"You have not told me {fact.missing} yet.")


def two_at_once(rng: random.Random) -> Chat:
    """Two facts in one message, then one question (or both)."""
    first, second = NAME, rng.choice(FACTS)
    values = {first: first.value(rng), second: second.value(rng)}
    lead = [w.strip() for w in second.tell.split("|")][0].format(v=values[second])
    chat = exchange(wording(rng, "my name is {v} and {s} | i am {v} and {s} | hi, i am {v}. {s}", end=".",
                            v=values[first], s=lead),
                    f"Nice to meet you, {values[first]}! {acknowledged(second, values[second])}")
    for _ in range(rng.choice((0, 0, 1, 2))):
        chat += small_talk(rng)
    for fact in rng.sample((first, second), rng.randint(1, 2)):
        chat += asked_back(rng, fact, values[fact])
    return chat


def what_was_said(rng: random.Random) -> Chat:
    """Questions about the chat itself: the words of an earlier turn are copied."""
    chat: Chat = []
    for _ in range(rng.randint(1, 3)):
        chat += small_talk(rng)
    users = [text for role, text in chat if role == "user"]
    kind = rng.randrange(4)
    if kind == 0:
        return chat + exchange(wording(rng, "what did i just say | what did i say | what did i just write | repeat what i "
                                       "just said | what was my last message"), f'You said: "{users[-1]}"')
    if kind == 1:
        return chat + exchange(wording(rng, "what was my first question | what did i ask first | what did i say first | "
                                       "what was the first thing i said | my first message?"), f'You first said: "{users[0]}"')
    if kind == 2:
        return chat + exchange(wording(rng, "what did you just say | what did you say | what was your last answer | repeat "
                                       "your answer | what did you answer"), f'I said: "{chat[-1][1]}"')
    return chat + exchange(wording(rng, "can you say that again | say that again | repeat that please | once more | repeat "
                                   "that | please say that again"), chat[-1][1])


def reading(rng: random.Random) -> Chat:
    """A small statement and a question about it, in one message or two."""
    a, b = rng.sample(NAMES, 2)
    thing, place, colour = rng.choice(OBJECTS), rng.choice(PLACES), rng.choice(COLOUR_NAMES)
    statement, question, answer = rng.choice((
        (f"the {thing} is in the {place}", f"where is the {thing}", f"The {thing} is in the {place}."),
        (f"{a} has a {colour} {thing}", f"what colour is the {thing} of {a}", f"The {thing} of {a} is {colour}."),
        (f"{a} has a {colour} {thing}", f"who has the {thing}", f"{a} has the {thing}."),
        (f"{a} is taller than {b}", "who is taller", f"{a} is taller."),
        (f"{a} is taller than {b}", "who is smaller", f"{b} is smaller."),
        (f"{a} gave the {thing} to {b}", f"who has the {thing} now", f"{b} has the {thing} now."),
        (f"{a} lives in the {place} and {b} in the garden house", f"who lives in the {place}", f"{a} lives in the {place}."),
        (f"{a} is older than {b}", "who is older", f"{a} is older."),
        (f"{a} put the {thing} into the {place}", f"who put the {thing} into the {place}",
         f"{a} put the {thing} into the {place}."),
        (f"{a} put the {thing} into the {place}", f"where is the {thing}", f"The {thing} is in the {place}."),
    ))
    if rng.random() < 0.5:
        return exchange(wording(rng, "{s}. {q}?" if rng.random() < 0.7 else "{s}, {q}?", s=statement, q=question), answer)
    chat = exchange(wording(rng, "{s}", end=".", s=statement), f"I see: {statement}.")
    if rng.random() < 0.3:
        chat += small_talk(rng)
    return chat + exchange(wording(rng, "{q}", q=question), answer)


def context(rng: random.Random) -> Chat:
    """One chat that can only be answered from its earlier turns."""
    kind = rng.random()
    if kind < 0.52:
        return remembered(rng)
    if kind < 0.66:
        return two_at_once(rng)
    if kind < 0.84:
        return what_was_said(rng)
    if kind < 0.95:
        return reading(rng)
    return not_told(rng, list(FACTS) + [NAME])
