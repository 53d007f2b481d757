"""Counting up, down, by steps, in digits and in words."""

import random

from .numbers import in_words, typed
from .speech import Chat, exchange, joined, wording

_UP_TO = (
    "count to {n} | count up to {n} | count from [1/one] [up /]to {n} | count until {n} | count [up /]to {n} for me | "
    "count: 1 up to {n} | show me the numbers from 1 to {n} | list [all /]the numbers from [1/one] to {n} | "
    "say [all /]the numbers [up to/until] {n} | numbers [from /]1 to {n} | write [down /][all /]the numbers [from /]1 to {n} | "
    "let us count [up /]to {n} | let's count together, [up /]to {n} | give me [all numbers/every number/the numbers] from one to {n} | "
    "1 to {n} | start at [1/one] and [count/go on] [up /]to {n} | start at one and stop at {n} | begin with 1 and end with {n} | "
    "i need the numbers [from /]1 [through/to] {n} | what are the numbers from [1/one] to {n} | which numbers come from 1 to {n} | "
    "how do [you/i/we] count [up /]to {n} | how does one count to {n} | do you know how to count to {n}? | counting to {n} | "
    "go from 1 to {n} | go up from one until you [are at/reach] {n} | {n} is the last number. count up to it. | "
    "all the numbers to {n}, in order | up to {n}, count | run through the numbers until you reach {n} | "
    "i bet you can count to {n} | show [me /]that you can count to {n} | we play hide and seek, so count to {n}. | "
    "i am learning to count. how do i get to {n}? | my little [brother/sister/son/daughter] wants to hear the numbers up to {n}. | "
    "are you able to count to {n}? | is counting to {n} something you can do? | what does counting to {n} look like | "
    "make a list of the numbers [from /]1 to {n} | recite the numbers from one to {n} | one, two, three and so on, up to {n} | "
    "before we start, count to {n} | say the first {n} numbers | the first {n} numbers, starting at 1 | "
    "if you count to {n}, what do you say? | i close my eyes until you have counted to {n}. | numbers up to {n}, starting at one")
_AS_WORDS = (
    "count to {n} [in/with/using/as] words | write the numbers [up /]to {n} [as/in] words | say the numbers from one to {n} in words | "
    "spell out the numbers [up /]to {n} | count to {n} and write [the words/each number as a word] | "
    "count [up /]to {n}, but [with words/no digits/without digits/in letters] | numbers to {n} in words | "
    "give me the number words [up to/until] {n} | list the number words from one to {n} | how do you count to {n} in words | "
    "what are the numbers from 1 to {n} in words | i want the numbers up to {n} written as words | one to {n} in words | "
    "write out the numbers from one to {n} in full | instead of digits use words and count to {n} | "
    "count to {n}; use words, not digits | no digits please: count to {n}. | which words do i need to count to {n}")
_RANGE = (
    "count from {a} [up /]to {b} | list [all /]the numbers from {a} to {b} | numbers from {a} to {b} | start at {a} and count to {b} | "
    "count from {a} and stop at {b} | say the numbers between {a} and {b}, both included | write [down /]the numbers {a} to {b} | "
    "{a} to {b} please | which numbers come from {a} to {b} | what are the numbers from {a} [up /]to {b} | go from {a} to {b} | "
    "begin [at/with] {a}, [end/stop] [at/with] {b} | give me every number from {a} [through/to] {b} | show me the numbers {a} to {b} | "
    "count, but start at {a} and end at {b} | i am at {a}. count on to {b}. | we have counted to {a}, go on from there to {b} | "
    "continue from {a} up to {b} | all numbers from {a} until {b} | how do i count from {a} to {b} | counting from {a} to {b} | "
    "i need all the numbers from {a} to {b} | from {a} to {b}, count | with {a} as the first number, count to {b} | "
    "let us count from {a} to {b} | take {a} as the start and {b} as the end, then count")
_RANGE_AS_WORDS = (
    "count from {a} to {b} in words | numbers from {a} to {b} [as/in] words | write the numbers {a} to {b} in words | "
    "say the numbers from {a} to {b} with words | start at {a}, stop at {b}, and use words | spell out the numbers from {a} to {b} | "
    "count from {a} to {b} without digits | list the number words from {a} to {b} | from {a} to {b} in words")
_DOWN = (
    "count down from {n} | count [backwards/backward] from {n} | count from {n} down to [1/one] | countdown from {n} | "
    "count back from {n} to [1/one] | start at {n} and count [down/backwards] | reverse count from {n} | "
    "make a countdown from {n} | count {n} to 1 backwards | give me a countdown [that starts at/from] {n} | "
    "the rocket starts in {n} seconds, count down | begin at {n} and go down to [1/one] | from {n} down to [1/one] | "
    "what are the numbers from {n} back to one | list the numbers from {n} down to 1 | {n} down to one | "
    "say the numbers backwards, starting [at/with] {n} | how do you count [backwards/down] from {n} | write down a countdown from {n} | "
    "numbers in reverse, from {n} | count the other way round, from {n} to 1 | let us count down from {n} | "
    "go backwards from {n} until you reach [1/one] | count from {n} in reverse | can you do a countdown from {n}? | "
    "i want to hear a countdown from {n} | start with {n}, end with 1 | falling numbers from {n} to one | "
    "which numbers come from {n} down to 1 | new year is near: count down from {n}")
_DOWN_TO = (
    "count [down/backwards/back] from {a} to {b} | from {a} down to {b} | start at {a} and go down to {b} | "
    "list the numbers from {a} down to {b} | numbers backwards from {a} to {b} | count in reverse from {a} to {b} | "
    "begin with {a} and count backwards until {b} | what are the numbers from {a} down to {b} | go back from {a} to {b} | "
    "write the numbers from {a} to {b}, backwards | countdown from {a} to {b}")
_DOWN_AS_WORDS = (
    "count down from {n} in words | count backwards from {n} [with/using/in] words | countdown from {n} in words | "
    "write a countdown from {n} in words | from {n} down to one in words | say the numbers backwards from {n} in words | "
    "count down from {n} without digits | spell out a countdown from {n}")
_STEPS = (
    "count by {s} [up /]to {n} | count in {s} [up /]to {n} | count to {n} [by/in] {s} | count to {n} in steps of {d} | "
    "skip count by {s} to {n} | count up to {n}, always {d} more | list every multiple of {d} up to {n} | start at {d} and add {d} until "
    "you reach {n} | {s} up to {n} | go up to {n} in steps of {d} | how do you count by {s} to {n} | say the numbers by {s} up to {n} | "
    "steps of {d}, up to {n} | what are the multiples of {d} up to {n} | give me the numbers to {n} in {s} | "
    "jump by {d} from {d} to {n} | i want to count in {s}, up to {n}")
_TABLE = (
    "the table of {d} | multiplication table of {d} | times table of {d} | say the {d} times table | "
    "give me the multiples of {d} up to {n} | the {d} times table | what is the {d} times table | how does the table of {d} go | "
    "recite the times table of {d} | show me the table of {d} | write the multiplication table of {d} | "
    "i must learn the table of {d}. how does it go? | "
    "the first ten multiples of {d} | what are the first ten multiples of {d} | list the {d} times table")
_THEN_WORDS = ("now in words | in words please | and in words | now write it in words | the same in words | write that in words | "
               "and with words instead of digits? | how does that look in words | can i have that in words? | as words, please | "
               "now spell the numbers out | say it in words this time | do it again in words")
_THEN_BACK = ("now backwards | and backwards | now count down | in reverse please | and now the other way round | the same backwards | "
              "now go back down | how is that backwards? | count back again | and in reverse order | turn it around | "
              "now the same from the end | and back down to one")
_THEN_TO = ("now to {n} | and to {n} | now count to {n} | go up to {n} | and now up to {n} | a bit further: to {n} | what about {n} | "
            "can you also count to {n}? | do the same up to {n} | this time to {n} | and if you go to {n}? | make it {n} | "
            "again, but to {n} | not enough, count to {n}")
_STEP_NAMES = {2: "twos", 3: "threes", 5: "fives", 10: "tens"}


def numbers(start: int, stop: int, step: int = 1) -> str:
    """"1, 2, 3." with stop included; counts down when stop is below start."""
    return joined([str(n) for n in _row(start, stop, step)])


def words(stop: int, start: int = 1) -> str:
    """"one, two, three." from start to stop, at most 100; counts down when stop is below start."""
    return joined([in_words(n) for n in _row(start, stop, 1)])


def _row(start: int, stop: int, step: int) -> range:
    up = stop >= start
    return range(start, stop + 1, step) if up else range(start, stop - 1, -step)


def counting(rng: random.Random) -> Chat:
    """One chat about counting; sometimes a second request builds on the first."""
    kinds, shares = zip(*_KINDS)
    return rng.choices(kinds, shares)[0](rng)


def _up_to(rng: random.Random) -> Chat:
    stop = rng.choice((3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 20, 20, 20, 25, 30))
    chat = exchange(wording(rng, _UP_TO, n=typed(rng, stop)), numbers(1, stop))
    follow = rng.random()
    if follow < 0.12:
        chat += exchange(wording(rng, _THEN_WORDS), words(stop))
    elif follow < 0.24:
        chat += exchange(wording(rng, _THEN_BACK), numbers(stop, 1))
    elif follow < 0.36:
        longer = stop + rng.choice((1, 2, 5, 10))
        chat += exchange(wording(rng, _THEN_TO, n=typed(rng, longer)), numbers(1, longer))
    return chat


def _as_words(rng: random.Random) -> Chat:
    stop = rng.choice((3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 11, 12, 15, 20, 20))
    return exchange(wording(rng, _AS_WORDS, n=typed(rng, stop)), words(stop))


def _range(rng: random.Random) -> Chat:
    """Counting up from one number to another. Sometimes the user then asks for the same numbers backwards."""
    start = rng.randint(0, rng.choice((10, 40, 80)))
    stop = start + rng.randint(2, 12)
    if rng.random() < 0.25:
        return exchange(wording(rng, _RANGE_AS_WORDS, a=typed(rng, start), b=typed(rng, stop)), words(stop, start))
    chat = exchange(wording(rng, _RANGE, a=typed(rng, start), b=typed(rng, stop)), numbers(start, stop))
    if rng.random() < 0.15:
        chat += exchange(wording(rng, _THEN_BACK), numbers(stop, start))
    return chat


def _down(rng: random.Random) -> Chat:
    """Counting down, to one or to another number."""
    start = rng.choice((3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 12, 15, 20, 20))
    kind = rng.random()
    if kind < 0.55:
        return exchange(wording(rng, _DOWN, n=typed(rng, start)), numbers(start, 1))
    if kind < 0.7:
        return exchange(wording(rng, _DOWN_AS_WORDS, n=typed(rng, start)), words(1, start))
    stop = rng.randint(0, 40)
    start = stop + rng.randint(2, 12)
    return exchange(wording(rng, _DOWN_TO, a=typed(rng, start), b=typed(rng, stop)), numbers(start, stop))


def _steps(rng: random.Random) -> Chat:
    step = rng.choice((2, 2, 3, 5, 10))
    stop = step * rng.randint(3, 10)
    return exchange(wording(rng, _STEPS, n=typed(rng, stop), s=_STEP_NAMES[step], d=step), numbers(step, stop, step))


def _table(rng: random.Random) -> Chat:
    step = rng.randint(2, 10)
    return exchange(wording(rng, _TABLE, d=typed(rng, step), n=10 * step), numbers(step, 10 * step, step))


_KINDS = ((_up_to, 0.36), (_as_words, 0.14), (_range, 0.2), (_down, 0.18), (_steps, 0.08), (_table, 0.04))
