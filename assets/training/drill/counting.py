"""Counting up, down, by steps, in digits and in words."""

import random

from .speech import Chat, exchange, joined, wording
from .tables import in_words

_UP_TO = ("count to {n} | can you count to {n} | count up to {n} | count from 1 to {n} | count from one to {n} | "
          "please count to {n} | count until {n} | could you count to {n} for me | i want you to count to {n} | "
          "show me the numbers from 1 to {n} | list the numbers from 1 to {n} | say the numbers up to {n} | "
          "numbers from 1 to {n} | write the numbers 1 to {n} | let us count to {n} | are you able to count to {n} | "
          "give me all numbers from one to {n} | try to count to {n} | 1 to {n} | start at one and count to {n}")
_WORDS = ("count to {n} in words | count to {n} with words | write the numbers to {n} as words | "
          "count to {n} using words | say the numbers from one to {n} in words | spell out the numbers to {n} | "
          "count to {n} and write the words | can you count to {n} in words")
_RANGE = ("count from {a} to {b} | can you count from {a} to {b} | list the numbers from {a} to {b} | "
          "numbers from {a} to {b} | start at {a} and count to {b} | please count from {a} up to {b} | "
          "say the numbers between {a} and {b}, both included | write the numbers {a} to {b} | {a} to {b} please")
_DOWN = ("count down from {n} | count backwards from {n} | count from {n} down to 1 | can you count down from {n} | "
         "countdown from {n} | count back from {n} to one | start at {n} and count down | reverse count from {n} | "
         "make a countdown from {n} | count {n} to 1 backwards")
_STEPS = ("count by {s} to {n} | count in {s} up to {n} | count to {n} by {s} | count to {n} in steps of {d} | "
          "can you count by {s} up to {n} | skip count by {s} to {n}")
_TABLE = ("the table of {d} | multiplication table of {d} | times table of {d} | say the {d} times table | "
          "give me the multiples of {d} up to {n} | the {d} times table")
_STEP_NAMES = {2: "twos", 3: "threes", 5: "fives", 10: "tens"}


def numbers(start: int, stop: int, step: int = 1) -> str:
    """"1, 2, 3." with stop included; counts down when stop is below start."""
    direction = step if stop >= start else -step
    return joined([str(n) for n in range(start, stop + (1 if direction > 0 else -1), direction)])


def words(stop: int) -> str:
    """"one, two, three." up to stop, at most 100."""
    return joined([in_words(n) for n in range(1, stop + 1)])


def counting(rng: random.Random) -> Chat:
    """One chat about counting; sometimes a second request builds on the first."""
    kind = rng.random()
    if kind < 0.4:
        return _up_to(rng)
    if kind < 0.55:
        stop = rng.choice((3, 5, 6, 7, 8, 9, 10, 10, 10, 12, 15, 20, 20))
        return exchange(wording(rng, _WORDS, n=_shown(rng, stop)), words(stop))
    if kind < 0.7:
        start = rng.randint(0, 40)
        stop = start + rng.randint(2, 15)
        if rng.random() < 0.2:
            start, stop = stop, start
        return exchange(wording(rng, _RANGE, a=_shown(rng, start), b=_shown(rng, stop)), numbers(start, stop))
    if kind < 0.84:
        start = rng.choice((3, 5, 7, 8, 10, 10, 10, 12, 15, 20, 20))
        return exchange(wording(rng, _DOWN, n=_shown(rng, start)), numbers(start, 1))
    if kind < 0.94:
        step = rng.choice((2, 2, 3, 5, 10))
        stop = step * rng.randint(3, 10)
        return exchange(wording(rng, _STEPS, n=_shown(rng, stop), s=_STEP_NAMES[step], d=step),
                        numbers(step, stop, step))
    step = rng.randint(2, 10)
    return exchange(wording(rng, _TABLE, d=_shown(rng, step), n=10 * step), numbers(step, 10 * step, step))


def _up_to(rng: random.Random) -> Chat:
    stop = rng.choice((3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 10, 11, 12, 13, 15, 20, 20, 20, 20, 25, 30))
    chat = exchange(wording(rng, _UP_TO, n=_shown(rng, stop)), numbers(1, stop))
    follow = rng.random()
    if follow < 0.1:
        chat += exchange(wording(rng, "now in words | in words please | and in words | now write it in words"),
                         words(stop))
    elif follow < 0.2:
        chat += exchange(wording(rng, "now backwards | and backwards | now count down | in reverse please"),
                         numbers(stop, 1))
    elif follow < 0.3:
        longer = stop + rng.choice((1, 2, 5, 10))
        chat += exchange(wording(rng, "now to {n} | and to {n} | now count to {n} | go up to {n}",
                                 n=_shown(rng, longer)), numbers(1, longer))
    return chat


def _shown(rng: random.Random, number: int) -> str:
    """A number as a user may type it: digits or a word."""
    return in_words(number) if rng.random() < 0.5 else str(number)
