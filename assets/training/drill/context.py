"""Chats whose answers stand in the chat itself: facts that the user tells and asks for later, and words of earlier turns."""

import random

from .arithmetic import arithmetic
from .counting import counting
from .facts import facts
from .personal import ASK_BACK, FACTS, NAME, Fact
from .reading import reading
from .speech import Chat, chosen, exchange, first_upper, wording

# Small talk, for instance between a fact and its question; the answers are those of text/general.
SMALL_TALK: tuple[tuple[str, str], ...] = (
    ("how are you | how are you today | how do you feel", "I am fine, thank you. How are you?"),
    ("thanks. | thank you. | many thanks. | thanks a lot.", "You are welcome!"),
    ("tell me a joke | do you know a joke", "Why did the bicycle fall over? It was two tired."),
    ("ok. | okay. | alright. | i see.", "Good. What would you like to do next?"),
    ("cool. | great. | nice. | well done.", "I am glad you like it!"), ("good morning.", "Good morning! I hope you slept well."),
    ("haha. | hahaha.", "I am glad I made you smile."),
    ("what time is it | what day is it today | will it rain today", "I cannot know that: I have no clock and no network."),
    ("hello. | hi. | hello there.", "Hello! How can I help you?"), ("are you there | "
        "are you still there", "Yes, I am here. How can I help you?"),
)


def small_talk(rng: random.Random) -> Chat:
    """One exchange that has nothing to do with the facts that the user told."""
    kind = rng.random()
    if kind < 0.4:
        question, answer = rng.choice(SMALL_TALK)
        return exchange(wording(rng, question), answer)
    return rng.choice((facts, facts, arithmetic, counting))(rng)[:2]


def tell(rng: random.Random, fact: Fact, value: str) -> Chat:
    """The user tells the fact; the model says it back."""
    return exchange(wording(rng, fact.tell, end=".", v=value), acknowledged(fact, value))


def acknowledged(fact: Fact, value: str) -> str:
    """The one answer that the model gives to a fact that the user tells."""
    if fact is NAME:
        return f"Nice to meet you, {value}!"
    return "Good to know: " + fact.told.format(v=value)


def ask(rng: random.Random, fact: Fact) -> str:
    """A question for the fact."""
    return wording(rng, chosen(rng, ASK_BACK, direct=fact.direct, clause=fact.clause, noun=fact.noun))


def asked_back(rng: random.Random, fact: Fact, value: str) -> Chat:
    """The user asks for the fact. The answer tells its value, the one that the user told last."""
    return exchange(ask(rng, fact), first_upper(fact.told.format(v=value)))


_CORRECTED = (
    "no, <tell> | sorry, <tell> | actually, <tell> | wait, <tell> | no wait, <tell> | i was wrong, <tell> | oh, that was wrong: <tell> | "
    "i made a mistake. <tell> | correction: <tell> | let me correct that: <tell> | not quite, <tell> | what i said is not true. <tell> | "
    "please forget that, <tell> | things have changed: <tell> | i must correct myself: <tell> | that is not right any more, <tell>")
_CORRECTED_SHORT = ("no, {v} | sorry, {v} | i meant {v} | i mean {v} | no, it is {v} | {v}, not {old} | not {old}, but {v} | "
                    "it is {v}, not {old} | oops, {v} | i should have said {v} | correction: {v} | wrong, {v} is right | make that {v}")


def corrected(rng: random.Random, fact: Fact, old: str, value: str, at_once: bool) -> Chat:
    """The user corrects a fact. A short form ("no, {v}") is clear only right after he told the fact (at_once)."""
    answer = "Sorry! " + acknowledged(fact, value) if fact is NAME else "I see: " + fact.told.format(v=value)
    if at_once and rng.random() < 0.4:
        return exchange(wording(rng, _CORRECTED_SHORT, end=".", v=value, old=old), answer)
    return exchange(wording(rng, chosen(rng, _CORRECTED, tell=fact.tell), end=".", v=value), answer)


def _another(rng: random.Random, fact: Fact, value: str) -> str:
    """Another value of the fact."""
    other = value
    while other == value:
        other = fact.value(rng)
    return other


def remembered(rng: random.Random) -> Chat:
    """One to three facts, corrections and small talk. Then the user asks for one or more of the facts, and sometimes for one that he has not told."""
    picked = rng.sample(FACTS, rng.choice((0, 1, 1, 2)))
    if rng.random() < 0.4 or not picked:
        picked.insert(rng.randint(0, len(picked)), NAME)
    values = {fact: fact.value(rng) for fact in picked}
    chat: Chat = []
    for fact in picked:
        chat += tell(rng, fact, values[fact])
        if rng.random() < 0.25:
            chat += small_talk(rng)
    for fact in picked:
        if rng.random() < 0.18:
            old, values[fact] = values[fact], _another(rng, fact, values[fact])
            chat += corrected(rng, fact, old, values[fact], at_once=chat[-1][1] == acknowledged(fact, old))
    for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
        chat += small_talk(rng)
    for fact in rng.sample(picked, rng.randint(1, len(picked))):
        chat += asked_back(rng, fact, values[fact])
    if rng.random() < 0.15:
        chat += not_told(rng, [f for f in FACTS + (NAME,) if f not in picked])
    return chat


def not_told(rng: random.Random, unknown: list[Fact]) -> Chat:
    """A question for a fact that the user never told. The model says so and invents nothing."""
    fact = rng.choice(unknown)
    return exchange(ask(rng, fact), f"You have not told me {fact.missing} yet.")


def first_not_told(rng: random.Random) -> Chat:
    """The user asks for a fact that he has not told. Sometimes he then tells it and asks again."""
    fact = rng.choice((NAME, *rng.sample(FACTS, 4)))
    chat = small_talk(rng) if rng.random() < 0.25 else []
    chat += not_told(rng, [fact])
    if rng.random() < 0.5:
        value = fact.value(rng)
        chat += tell(rng, fact, value)
        if rng.random() < 0.3:
            chat += small_talk(rng)
        chat += asked_back(rng, fact, value)
    return chat


_TWO = ("<name> and <other> | <name>, and <other> | <name>. <other>. | <name>; <other> | hi! <name>. <other>. | "
        "two things about me: <name>, and <other> | <name>. also, <other> | a few words about me: <name> and <other>")
_TWO_NAMES = ("my name is {n} | i am {n} | i'm {n} | hi, i am {n} | people call me {n} | you can call me {n} | call me {n} | "
              "i am called {n} | hello, my name is {n}")


def two_at_once(rng: random.Random) -> Chat:
    """Two facts in one message, then a question for one of them or for both."""
    second = rng.choice(FACTS)
    values = {NAME: NAME.value(rng), second: second.value(rng)}
    chat = exchange(wording(rng, chosen(rng, _TWO, name=_TWO_NAMES, other=second.tell), end=".", n=values[NAME], v=values[second]),
                    f"Nice to meet you, {values[NAME]}! {acknowledged(second, values[second])}")
    for _ in range(rng.choice((0, 0, 1, 2))):
        chat += small_talk(rng)
    for fact in rng.sample((NAME, second), rng.randint(1, 2)):
        chat += asked_back(rng, fact, values[fact])
    return chat


_MY_LAST = ("what did i just say | what did i say | what did i just write | repeat what i just said | what was my last message | "
            "what was the last thing i said | what did i type just now | what were my last words | which message did i send last | "
            "can you repeat what i wrote? | what have i just asked you | tell me what i just said | quote my last message | "
            "what did i ask just now | my last message, what was it? | read my last message back to me | "
            "do you still have what i just wrote? | i forgot what i just said. what was it?")
_MY_FIRST = ("what was my first question | what did i ask first | what did i say first | what was the first thing i said | "
             "my first message? | how did i start this chat | with what did i begin | what did i write at the beginning | "
             "what did i say at the start | what were my first words | which message was my first | quote my first message | "
             "tell me what i asked first | what was the very first thing i asked | how did our chat begin? what did i say? | "
             "go back to the start: what did i say? | do you know what i said first")
_YOUR_LAST = ("what did you just say | what did you say | what was your last answer | repeat your answer | what did you answer | "
              "what was the last thing you said | what did you just write | what have you just told me | quote your last answer | "
              "tell me what you just said | what was your reply | which answer did you give | what did you reply just now | "
              "your last answer, what was it? | what were your last words | i lost your answer. what did you say?")
AGAIN = ("can you say that again? | say that again | repeat that please | once more | repeat that | could you repeat that? | "
          "i did not [read/see/catch/hear/get] that | sorry, i did not [read/see/catch/understand] that | i missed that | what? | "
          "pardon? | sorry? | come again? | excuse me? | what was that? | what was it again? | tell me again | one more time | "
          "again, please | would you repeat it? | i was not looking. say it again. | that was too fast, once more | "
          "my screen was off, repeat it please | show me that again | write it again | let me read that again | "
          "i want to see your answer again | please say it a second time | what did it say again? | hm, what was the answer again?")


def what_was_said(rng: random.Random) -> Chat:
    """Questions about the chat itself. The model answers with the words of an earlier turn."""
    chat: Chat = []
    for _ in range(rng.randint(1, 3)):
        chat += small_talk(rng)
    users = [text for role, text in chat if role == "user"]
    question, answer = rng.choice(((_MY_LAST, f'You said: "{users[-1]}"'), (_MY_FIRST, f'You first said: "{users[0]}"'),
                                   (_YOUR_LAST, f'I said: "{chat[-1][1]}"'), (AGAIN, chat[-1][1]), (AGAIN, chat[-1][1])))
    return chat + exchange(wording(rng, question), answer)


def context(rng: random.Random) -> Chat:
    """One chat in which the user asks for what the chat says, or for a fact that he has not told."""
    kind = rng.random()
    if kind < 0.52:
        return remembered(rng)
    if kind < 0.66:
        return two_at_once(rng)
    if kind < 0.82:
        return what_was_said(rng)
    if kind < 0.92:
        return reading(rng, small_talk)
    return first_not_told(rng)
