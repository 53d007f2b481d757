"""Small sums, differences and products, in digits and in words."""

import random

from .speech import Chat, exchange, first_upper, wording
from .tables import THINGS, in_words

_SYMBOL = {"plus": "+", "minus": "-", "times": "x"}
_ASK = ("what is {e} | {e} | how much is {e} | calculate {e} | {e} = | what's {e} | can you calculate {e} | "
        "tell me {e} | what does {e} make | solve {e} | what do you get for {e} | compute {e}")


def result(a: int, operation: str, b: int) -> int:
    """a plus, minus or times b."""
    return {"plus": a + b, "minus": a - b, "times": a * b}[operation]


def answer(a: int, operation: str, b: int, spoken: bool) -> str:
    """"3 + 4 = 7." or "Three plus four is seven."."""
    if spoken:
        return first_upper(f"{in_words(a)} {operation} {in_words(b)} is {in_words(result(a, operation, b))}.")
    return f"{a} {_SYMBOL[operation]} {b} = {result(a, operation, b)}."


def operands(rng: random.Random) -> tuple[int, str, int]:
    """Sums and differences within 20, products to 10 times 10."""
    operation = rng.choice(("plus", "plus", "minus", "times"))
    if operation == "plus":
        total = rng.randint(0, 20)
        a = rng.randint(0, total)
        return a, operation, total - a
    if operation == "minus":
        a = rng.randint(0, 20)
        return a, operation, rng.randint(0, a)
    return rng.randint(0 if rng.random() < 0.1 else 1, 10), operation, rng.randint(1, 10)


def question(rng: random.Random, a: int, operation: str, b: int, spoken: bool) -> str:
    """The sum as a user may type it."""
    if spoken:
        return f"{in_words(a)} {operation} {in_words(b)}"
    sign = rng.choice({"plus": ("+", "+", "plus"), "minus": ("-", "-", "minus"),
                       "times": ("*", "x", "times")}[operation])
    gap = "" if rng.random() < 0.25 and not sign.isalpha() else " "
    return f"{a}{gap}{sign}{gap}{b}"


def arithmetic(rng: random.Random) -> Chat:
    """One sum; at times the next one starts from its result."""
    kind = rng.random()
    if kind < 0.1:
        return _half_or_double(rng)
    if kind < 0.2:
        return _parity(rng)
    if kind < 0.4:
        return _story(rng)
    a, operation, b = operands(rng)
    spoken = rng.random() < 0.35
    chat = exchange(wording(rng, _ASK, e=question(rng, a, operation, b, spoken)), answer(a, operation, b, spoken))
    total = result(a, operation, b)
    while rng.random() < 0.25 and 1 <= total <= 18 and len(chat) < 6:
        step_kind = rng.choice(("plus", "minus"))
        step = rng.randint(1, min(5, total))
        shown = in_words(step) if spoken else step
        chat += exchange(wording(rng, "{o} {n} | and {o} {n} | now {o} {n} | that {o} {n} | {o} {n} more",
                                 o=step_kind, n=shown), answer(total, step_kind, step, spoken))
        total = result(total, step_kind, step)
    return chat


def _half_or_double(rng: random.Random) -> Chat:
    n = rng.randint(1, 10)
    if rng.random() < 0.5:
        return exchange(wording(rng, "what is half of {n} | half of {n} | the half of {n} | how much is half of {n}", n=2 * n),
                        f"Half of {2 * n} is {n}.")
    return exchange(wording(rng, "what is double {n} | double {n} | what is twice {n} | the double of {n}", n=n),
                    f"Twice {n} is {2 * n}.")


def _parity(rng: random.Random) -> Chat:
    n = rng.randint(0, 40)
    asked = rng.choice(("even", "odd"))
    really = "odd" if n % 2 else "even"
    return exchange(wording(rng, "is {n} {k} | is {n} an {k} number | is the number {n} {k} | {n} is {k}, right", n=n, k=asked),
                    f"{'Yes' if asked == really else 'No'}, {n} is {really}.")


def _story(rng: random.Random) -> Chat:
    """"I have three apples and eat one": told in one message or in two."""
    thing = rng.choice(THINGS)
    have, change = rng.randint(2, 12), rng.randint(1, 8)
    more = rng.random() < 0.55
    if not more:
        change = min(change, have - 1)
    total = have + change if more else have - change
    show = in_words if rng.random() < 0.5 else str
    act = rng.choice(("get", "buy", "find")) if more else rng.choice(("lose", "give away", "sell"))
    unit = thing if total != 1 else thing[:-2] if thing.endswith("xes") else thing[:-1]
    final = f"You have {total} {unit}."
    tail = f"{act} {show(change)}" + (" more" if more else "")
    if rng.random() < 0.5:
        return exchange(wording(rng, "i have {h} {t} and {tail}. how many {t} do i have | if i have {h} {t} and {tail}, how "
                                "many do i have | i have {h} {t}. i {tail}. how many {t} do i have now",
                                h=show(have), t=thing, tail=tail), final)
    chat = exchange(wording(rng, "i have {h} {t} | there are {h} {t} in my bag and they are mine", end=".", h=show(have), t=thing),
                    f"You have {have} {thing}.")
    if rng.random() < 0.4:
        return chat + exchange(wording(rng, "how many {t} do i have | how many do i have", t=thing), f"You have {have} {thing}.")
    chat += exchange(wording(rng, "i {tail} | now i {tail} | then i {tail}", end=".", tail=tail), final)
    if rng.random() < 0.5:
        chat += exchange(wording(rng, "how many {t} do i have now | how many do i have now | how many {t} are left",
                                 t=thing), final)
    return chat
