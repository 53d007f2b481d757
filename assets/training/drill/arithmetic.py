"""Questions about small numbers, in digits and in words: sums, products, halves, which is bigger. The model refuses tasks with larger ones."""

import random

from .numbers import in_words, shown
from .speech import Chat, exchange, first_upper, wording
from .stories import story

TOO_BIG = "That number is too big for me. Please use a calculator."

_SYMBOL = {"plus": "+", "minus": "-", "times": "x"}
_ASK = ("what is {e} | {e} | how much is {e} | calculate {e} | {e} = | what's {e} | tell me {e} | what does {e} make | solve {e} | "
        "what do you get for {e} | compute {e} | work out {e} | figure out {e} | what does {e} [come to/give/equal] | "
        "what is the [result/answer] of {e} | the result of {e} | i need the result of {e} | help me with {e} | "
        "which number do i get from {e} | {e} makes what? | {e} is what? | {e} gives which number? | {e}, how much is that? | "
        "my homework asks for {e} | i cannot solve {e} | here is a small sum: {e} | what should i write for {e} | "
        "how much do i get for {e} | if i type {e} into a calculator, what do i see? | find the value of {e} | "
        "which number equals {e} | {e}: what is it? | a quick sum, {e} | do you know {e} | what would {e} be | {e} equals | "
        "what number is {e} | how many are {e} | could you do {e} in your head? | {e}. what comes out? | and what is {e}")
_BY_HAND = {
    "plus": ("add {a} and {b} | add {b} to {a} | what is the sum of {a} and {b} | sum of {a} and {b} | {a} and {b} together | "
             "what do {a} and {b} make together | if i add {b} to {a}, what comes out? | put {a} and {b} together | "
             "take {a} and add {b} | what is {b} more than {a} | {b} more than {a} | which number is {b} more than {a} | "
             "i start at {a} and go up by {b}. where am i? | how much do {a} and {b} make | how much is {a} and {b} | "
             "what happens when i add {a} and {b}? | {a} and {b}, added | count {a} and {b} together | "
             "first {a}, then {b} more. how much is it in all? | what total do {a} and {b} give | {a} and {b} make how much? | "
             "when {b} is added to {a}, which number do you get? | i have to add {a} and {b} | the total of {a} and {b}"),
    "minus": ("subtract {b} from {a} | take {b} [away /]from {a} | what is {a} take away {b} | {a} take away {b} | "
              "what is the difference between {a} and {b} | difference of {a} and {b} | {b} less than {a} | what is {b} less than {a} | "
              "how much is left if i take {b} from {a}? | if you remove {b} from {a}, what remains? | {a} without {b} | {a} less {b} | "
              "which number is {b} less than {a} | i start at {a} and go down by {b}. where am i? | what remains of {a} without {b} | "
              "how much more is {a} than {b} | by how much is {a} bigger than {b}? | {a}, but {b} fewer | reduce {a} by {b} | "
              "from {a} i take away {b}. what is left? | what is left of {a} after {b} are gone | lower {a} by {b} | "
              "when {b} is taken from {a}, which number remains?"),
    "times": ("multiply {a} by {b} | multiply {a} and {b} | what is the product of {a} and {b} | product of {a} and {b} | "
              "what is {a} multiplied by {b} | {a} multiplied by {b} | how much is {a} multiplied with {b} | {a} groups of {b} | "
              "how many are {a} groups of {b} | {a} rows of {b}, how many is that? | what do i get when i multiply {a} with {b} | "
              "if i take {b} exactly {a} times, what is it? | {a} bags with {b} in each, how many in all? | add {b} to itself until "
              "you have it {a} times | {a} sets of {b} make how many? | what do {a} lots of {b} make | {a} lots of {b} | "
              "the product of {a} and {b} | if you multiply {a} and {b}, what is the result?"),
}
_SIGNS = {"plus": ("+", "+", "plus"), "minus": ("-", "-", "minus"), "times": ("*", "x", "times")}
_NEXT = {
    "plus": "plus {n} | and plus {n} | now plus {n} | that plus {n} | {n} more | add {n} to that | add {n} | now add {n} | and {n} more | "
            "what if i add {n} more? | put {n} on top of that | and with {n} more? | then add {n} | how much is it with {n} more | "
            "add another {n} | what do i get if i add {n} to it",
    "minus": "minus {n} | and minus {n} | now minus {n} | that minus {n} | take {n} away from that | subtract {n} | take away {n} | "
             "now take {n} away | {n} less | and {n} less? | and without {n}? | what if i take {n} away? | then remove {n} | "
             "take {n} from it | now subtract {n} from that | how much is it with {n} less",
}
_HALF = ("what is half of {n} | half of {n} | the half of {n} | how much is half of {n} | what is {n} divided by two | halve {n} | "
         "what is one half of {n} | {n}, and half of it? | if i cut {n} in half, what do i get? | which number is half of {n} | "
         "two friends share {n} fairly. how much does each get? | divide {n} by two | find half of {n} | {n} split in two | "
         "half of {n} is how much? | what do i get when i halve {n} | i need only half of {n}. how much is that?")
_DOUBLE = ("what is double {n} | double {n} | what is twice {n} | the double of {n} | twice {n} | how much is twice {n} | "
           "which number is double {n} | if i double {n}, what do i get? | {n} doubled | what is {n} doubled | two times as much as {n} | "
           "what do you get when you double {n} | {n}, twice | how much is the double of {n} | find the double of {n} | "
           "i need twice as much as {n}. how much is that? | what number is twice as big as {n}")
_PARITY = ("is {n} {k} | is {n} an {k} number | is the number {n} {k} | {n} is {k}, right? | is it true that {n} is {k} | {n}: {k}? | "
           "would you say [that /]{n} is {k} | do you call {n} an {k} number | i think {n} is {k}. am i right? | does {n} count as {k} | "
           "can {n} be called {k}? | is {n} one of the {k} numbers | {n} is an {k} number, is it not? | are numbers like {n} {k} | "
           "my friend says {n} is {k}. is that true? | does {n} belong to the {k} numbers")
_EITHER = ("is {n} [even or odd/odd or even] | [even or odd/odd or even]: {n} | {n}, is it [even or odd/odd or even]? | "
           "is the number {n} [even or odd/odd or even] | tell me whether {n} is [even or odd/odd or even] | what is {n}, even or odd? | "
           "do you know if {n} is [even or odd/odd or even] | {n}: an even number or an odd one? | which is it for {n}, odd or even? | "
           "i cannot decide if {n} is odd or even. what is it? | what kind of number is {n}, even or odd?")
_COMPARE = ("which is {w}, {a} or {b}? | what is {w}: {a} or {b}? | which number is {w}, {a} or {b}? | {a} or {b}, which is {w}? | "
            "which of {a} and {b} is {w} | of the numbers {a} and {b}, which one is {w}? | {a} and {b}: which one is {w}? | "
            "tell me which is {w}, {a} or {b} | the {w} one of {a} and {b} | what is the {w} number, {a} or {b}? | "
            "i have the numbers {a} and {b}. which one is {w}? | compare {a} and {b}. which is {w}? | between {a} and {b}, which is {w}? | "
            "one number is {a}, the other is {b}. which is {w}? | the {w} of {a} and {b} | is {a} or {b} the {w} number | "
            "pick the {w} number: {a} or {b}. | name the {w} one: {a}, {b}.")
_COMPARE_YES = ("is {a} {w} than {b} | {a} is {w} than {b}, right? | is it true that {a} is {w} than {b} | "
                "would you say {a} is {w} than {b} | "
                "i say {a} is {w} than {b}. am i right? | is the number {a} {w} than {b} | {a} {w} than {b}? | "
                "does {a} count as {w} than {b} | can you say that {a} is {w} than {b}? | am i right that {a} is {w} than {b}?")
_COMPARED_AS = {"bigger": "bigger larger greater higher bigger".split(), "smaller": "smaller lower less smaller".split()}
_DIVIDE = ("what is {a} divided by {b} | {a} divided by {b} | divide {a} by {b} | {a} / {b} | what do i get if i divide {a} by {b} | "
           "how often does {b} fit into {a}? | what is the square root of {a} | the square root of {a}")


def result(a: int, operation: str, b: int) -> int:
    """a plus, minus or times b."""
    return {"plus": a + b, "minus": a - b, "times": a * b}[operation]


def answer(a: int, operation: str, b: int, spoken: bool) -> str:
    """"3 + 4 = 7." or "Three plus four is seven."."""
    if spoken:
        return first_upper(f"{in_words(a)} {operation} {in_words(b)} is {in_words(result(a, operation, b))}.")
    return f"{a} {_SYMBOL[operation]} {b} = {result(a, operation, b)}."


def operands(rng: random.Random) -> tuple[int, str, int]:
    """A small task (a, operation, b): a sum or a difference of numbers up to 20, or of multiples of ten up to 100, or a product up to 10 x 10."""
    operation = rng.choice(("plus", "plus", "minus", "times"))
    if operation == "times":
        return rng.randint(0 if rng.random() < 0.1 else 1, 10), operation, rng.randint(1, 10)
    unit, most = (10, 10) if rng.random() < 0.12 else (1, 20)
    a = rng.randint(0, most)
    b = rng.randint(0, most - a if operation == "plus" else a)
    return a * unit, operation, b * unit


def arithmetic(rng: random.Random) -> Chat:
    """One chat about numbers."""
    kinds, shares = zip(*_KINDS)
    return rng.choices(kinds, shares)[0](rng)


def _asked(rng: random.Random, a: object, operation: str, b: object, spoken: bool) -> str:
    """The task as a user may type it: as a formula or in a sentence."""
    if rng.random() < 0.4:
        return wording(rng, _BY_HAND[operation], a=a, b=b)
    sign = operation if spoken else rng.choice(_SIGNS[operation])
    gap = "" if rng.random() < 0.25 and not sign.isalpha() else " "
    return wording(rng, _ASK, e=f"{a}{gap}{sign}{gap}{b}")


def _sum(rng: random.Random) -> Chat:
    """One task. Sometimes the user goes on with its result: "add 3 to it"."""
    a, operation, b = operands(rng)
    spoken = rng.random() < 0.4
    chat = exchange(_asked(rng, shown(a, spoken), operation, shown(b, spoken), spoken), answer(a, operation, b, spoken))
    total = result(a, operation, b)
    while rng.random() < 0.3 and 1 <= total <= 18 and len(chat) < 6:
        operation, step = rng.choice(("plus", "minus")), rng.randint(1, min(5, total))
        chat += exchange(wording(rng, _NEXT[operation], n=shown(step, spoken)), answer(total, operation, step, spoken))
        total = result(total, operation, step)
    return chat


def small_sum(rng: random.Random) -> tuple[Chat, int]:
    """A chat of one task in digits, and its result."""
    a, operation, b = operands(rng)
    return exchange(_asked(rng, a, operation, b, spoken=False), answer(a, operation, b, spoken=False)), result(a, operation, b)


def one_digit(rng: random.Random) -> Chat:
    """A sum, a difference or a product of two numbers of one digit."""
    operation, a, b = rng.choice(("plus", "plus", "plus", "minus", "minus", "times")), rng.randint(0, 9), rng.randint(0, 9)
    if operation == "minus":
        a, b = max(a, b), min(a, b)
    spoken = rng.random() < 0.25
    return exchange(_asked(rng, shown(a, spoken), operation, shown(b, spoken), spoken), answer(a, operation, b, spoken))


def _half_or_double(rng: random.Random) -> Chat:
    n, spoken = rng.randint(1, 10), rng.random() < 0.4
    once, both = shown(n, spoken), shown(2 * n, spoken)
    if rng.random() < 0.5:
        return exchange(wording(rng, _HALF, n=both), f"Half of {both} is {once}.")
    return exchange(wording(rng, _DOUBLE, n=once), f"Twice {once} is {both}.")


def _parity(rng: random.Random) -> Chat:
    number = rng.randint(0, 60)
    n, really = shown(number, rng.random() < 0.35), "odd" if number % 2 else "even"
    if rng.random() < 0.45:
        return exchange(wording(rng, _EITHER, n=n), first_upper(f"{n} is {really}."))
    asked = rng.choice(("even", "odd"))
    return exchange(wording(rng, _PARITY, n=n, k=asked), f"{'Yes' if asked == really else 'No'}, {n} is {really}.")


def _compared(rng: random.Random) -> Chat:
    """The user asks which of two numbers is bigger or smaller, or whether one is bigger or smaller than the other."""
    a, b = rng.sample(range(rng.choice((10, 20, 100))), 2)
    word, spoken = rng.choice(("bigger", "bigger", "smaller")), rng.random() < 0.35
    best, other = (max(a, b), min(a, b)) if word == "bigger" else (min(a, b), max(a, b))
    statement = f"{shown(best, spoken)} is {word} than {shown(other, spoken)}."
    fields = {"a": shown(a, spoken), "b": shown(b, spoken), "w": rng.choice(_COMPARED_AS[word])}
    if rng.random() < 0.3:
        return exchange(wording(rng, _COMPARE_YES, **fields), ("Yes, " if best == a else "No, ") + statement)
    return exchange(wording(rng, _COMPARE, **fields), first_upper(statement))


def _large(rng: random.Random, digits: int) -> str:
    """A number with which tasks are too hard for the model: in digits, from 12 x 10^(digits - 2) up, or, rarely, in words and of any size."""
    number = rng.randint(12 * 10 ** (digits - 2), 10 ** digits - 1)
    kind = rng.random()
    if kind < 0.12:
        return f"{in_words(rng.randint(2, 99))} {rng.choice(('thousand', 'million'))}"
    if kind < 0.2:
        return f"{in_words(rng.randint(2, 9))} hundred and {in_words(rng.randint(11, 99))}"
    return f"{number:,}" if kind < 0.3 and digits > 3 else str(number)


def _too_big(rng: random.Random) -> Chat:
    """A task that the model would get wrong, worded like the small ones: of large numbers, or a sum or difference with a number from 21 to
    99 that `operands` does not make."""
    if rng.random() < 0.35:
        a, operation, b = rng.randint(21, 99), rng.choice(("plus", "minus")), rng.randint(2, 99)
        if operation == "plus" and rng.random() < 0.5:
            a, b = b, a
        if a % 10 or b % 10:  # two multiples of ten may be a task that `operands` makes
            return exchange(_asked(rng, a, operation, b, spoken=False), TOO_BIG)
    operation = rng.choice(("plus", "minus", "times", "times", "divided"))
    fewest = 2 if operation == "times" else 3
    a, b = _large(rng, rng.randint(fewest, 6)), _large(rng, rng.randint(fewest, 5))
    if operation == "divided":
        return exchange(wording(rng, _DIVIDE, a=a, b=b), TOO_BIG)
    return exchange(_asked(rng, a, operation, b, spoken=not a.isdigit()), TOO_BIG)


_KINDS = ((_sum, 0.42), (story, 0.17), (_too_big, 0.11), (_compared, 0.12), (_half_or_double, 0.08), (_parity, 0.1))
