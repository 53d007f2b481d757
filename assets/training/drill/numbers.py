"""Numbers in digits and in words."""

import random

_UP_TO_TWENTY = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
                 "fifteen sixteen seventeen eighteen nineteen twenty").split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def in_words(number: int) -> str:
    """The English word of a number from 0 to 100."""
    if number == 100:
        return "one hundred"
    if number < len(_UP_TO_TWENTY):
        return _UP_TO_TWENTY[number]
    tens = _TENS[number // 10 - 2]
    return tens if number % 10 == 0 else f"{tens}-{_UP_TO_TWENTY[number % 10]}"


def shown(number: int, spoken: bool) -> str:
    """The number as a word or in digits."""
    return in_words(number) if spoken else str(number)


def typed(rng: random.Random, number: int) -> str:
    """A number as a user may type it: digits or a word."""
    return shown(number, rng.random() < 0.5)


def counted(number: int, things: str) -> str:
    """"3 apples" or "1 apple"."""
    if number != 1:
        return f"{number} {things}"
    return "1 " + things.removesuffix("es" if things.endswith("xes") else "s")
