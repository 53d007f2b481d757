"""Sums, differences and products as small stories: who has how many of what, and how many are left."""

import random

from .numbers import counted, typed
from .speech import Chat, chosen, exchange, wording
from .tables import NAMES, THINGS

_MINE = ("i have {h} {t} and <did>. [how many/how many {t}] do i have[/ now]? | if i have {h} {t} and <did>, how many do i have? | "
         "i have {h} {t}. i <did>. how many {t} do i have now? | there are {h} {t} in my bag. then i <did>. how many {t} do i have? | "
         "say i own {h} {t} and <did>. how many is that? | this morning i had {h} {t}. later i <did>. how many do i have now? | "
         "i had {h} {t}, then i <did>. what do i have now? | how many {t} do i have if i start with {h} and <did>? | "
         "a small riddle: i have {h} {t}, i <did>. how many {t} are mine now? | {h} {t} are mine. i <did>. how many {t} do i have? | "
         "on my table are {h} {t}. i <did>. count my {t} | suppose that i have {h} {t} and <did>. how many {t} will i have?")
_THEIRS = ("{p} has {h} {t} and <does>. how many {t} does {p} have[/ now]? | {p} has {h} {t}. {p} <does>. how many are there now? | "
           "if {p} has {h} {t} and <does>, how many {t} does {p} have? | {p} owns {h} {t}, then {p} <does>. how many {t} has {p}? | "
           "how many {t} does {p} have, if {p} had {h} and <does>? | "
           "in the morning {p} has {h} {t}. later {p} <does>. how many {t} has {p} now? | "
           "a riddle about {p}: {p} has {h} {t} and <does>. how many {t} does {p} have in the end?")
_THERE = {
    True: ("there are {h} {t} in a box. i put {c} more into it. how many {t} are in the box? | {h} {t} lie on the table, and {c} more "
           "come. how many are there? | in one hand {h} {t}, in the other {c}. how many {t} in all? | {h} {t} and {c} more {t}, "
           "how many {t} is that? | a shop has {h} {t} and gets {c} more. how many {t} are there now? | {h} old {t} and {c} new ones. "
           "how many {t} are there together?"),
    False: ("there are {h} {t} in a box. i take {c} out. how many {t} are left? | "
            "of {h} {t} on the table, {c} are gone. how many are left? | "
            "{h} {t} were here, {c} fell down. how many {t} are still here? | a shop has {h} {t} and sells {c}. how many {t} are left? | "
            "from {h} {t} someone takes {c}. how many remain? | {c} of {h} {t} are broken. how many {t} are whole?"),
}
_EACH = ("{a} boxes with {b} {t} each. how many {t} are there? | there are {a} bags, and in each bag are {b} {t}. how many {t} in all? | "
         "{a} children have {b} {t} each. how many {t} do they have together? | how many {t} are in {a} boxes if each box holds {b}? | "
         "on {a} shelves there are {b} {t} each, so how many {t}? | every day i find {b} {t}. how many {t} are there after {a} days? | "
         "i see {a} rows of {t}, with {b} in each row. how many {t} are there?")
_HAVE = ("i have {h} {t} | there are {h} {t} in my bag and they are mine | i own {h} {t} | {h} {t} are in my pocket, all mine | "
         "i bought {h} {t} and have them here | my friend gave me {h} {t}, so now i have {h} | in my room i have {h} {t}")
_HOW_MANY = ("how many {t} do i have | how many do i have | how many {t} are mine | tell me how many {t} i have | so how many is that? | "
             "do you know how many {t} i have? | what is the number of my {t} | can you count my {t}?")
_HOW_MANY_NOW = ("how many {t} do i have now | how many do i have now | how many {t} are there now | and how many is that now? | "
                 "how many {t} does that make | what do i have now | tell me how many {t} i have now | count my {t} again")
_THEN = "i <did> | now i <did> | then i <did> | after that i <did> | and i <did> | a bit later i <did> | today i <did>"
_GETS = ("get", "buy", "find", "win"), ("gets", "buys", "finds", "wins")
_LOSES = ("lose", "give away", "sell", "drop"), ("loses", "gives away", "sells", "drops")


def story(rng: random.Random) -> Chat:
    """A story in one message, or told sentence by sentence."""
    thing, kind = rng.choice(THINGS), rng.random()
    if kind < 0.15:
        a, b = rng.randint(2, 5), rng.randint(2, 6)
        return exchange(wording(rng, _EACH, a=typed(rng, a), b=typed(rng, b), t=thing), f"There are {counted(a * b, thing)}.")
    have, change, more = rng.randint(2, 12), rng.randint(1, 8), rng.random() < 0.5
    if not more:
        change = min(change, have - 1)
    total = counted(have + change if more else have - change, thing)
    fields = {"h": typed(rng, have), "t": thing, "c": typed(rng, change)}
    if kind < 0.3:
        return exchange(wording(rng, _THERE[more], **fields), f"There {'is' if total.startswith('1 ') else 'are'} {total}.")
    did, does = ((verb + " {c}" + (" more" if more else "")) for verb in rng.choice(list(zip(*(_GETS if more else _LOSES)))))
    if kind < 0.45:
        name = rng.choice(NAMES)
        return exchange(wording(rng, chosen(rng, _THEIRS, does=does), p=name, **fields), f"{name} has {total}.")
    if kind < 0.7:
        return exchange(wording(rng, chosen(rng, _MINE, did=did), **fields), f"You have {total}.")
    return _in_turns(rng, did, fields, f"You have {have} {thing}.", f"You have {total}.")


def _in_turns(rng: random.Random, did: str, fields: dict[str, str], before: str, after: str) -> Chat:
    """The story sentence by sentence, with questions between."""
    chat = exchange(wording(rng, _HAVE, end=".", **fields), before)
    if rng.random() < 0.4:
        return chat + exchange(wording(rng, _HOW_MANY, **fields), before)
    chat += exchange(wording(rng, chosen(rng, _THEN, did=did), end=".", **fields), after)
    if rng.random() < 0.5:
        chat += exchange(wording(rng, _HOW_MANY_NOW, **fields), after)
    return chat
