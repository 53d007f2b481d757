"""One question with one short answer, made from the tables."""

import random
import string

from . import tables as t
from .speech import Chat, article, exchange, first_upper, joined, wording


def capital_answer(country: str) -> str:
    """The canonical sentence about a capital."""
    return full_stop(f"The capital of {country} is {t.COUNTRIES[country][0]}")


def full_stop(sentence: str) -> str:
    """The sentence with one final full stop ("Washington, D.C." has it already)."""
    return sentence if sentence.endswith(".") else sentence + "."


def capital(rng: random.Random) -> Chat:
    country = rng.choice(list(t.COUNTRIES))
    town = t.COUNTRIES[country][0]
    asked = country_asked(rng, country)
    if rng.random() < 0.15:
        return exchange(wording(rng, "which country has the capital {c} | {c} is the capital of which country | "
                                "what country is {c} the capital of", c=town), capital_answer(country))
    if rng.random() < 0.2:
        other = rng.choice([town, rng.choice(t.CITIES)])
        right = other == town
        return exchange(wording(rng, "is {c} the capital of {x} | is the capital of {x} {c} | {c} is the capital of "
                                "{x}, right", c=other, x=asked),
                        ("Yes, the" if right else "No, the") + capital_answer(country)[3:])
    return exchange(wording(rng, "what is the capital of {x} | capital of {x} | what's the capital of {x} | "
                            "which city is the capital of {x} | tell me the capital of {x} | name the capital of {x} | "
                            "do you know the capital of {x} | what is the capital city of {x} | {x} capital | "
                            "can you tell me the capital of {x} | whats the capital of {x} | the capital of {x} is", x=asked),
                    capital_answer(country))


def country_asked(rng: random.Random, country: str) -> str:
    """The country as a user may type it: shorter or in lower case."""
    name = country
    if rng.random() < 0.3:
        name = t.COUNTRY_SHORT.get(country, country.removeprefix("the ")) if country != "the Netherlands" else "Holland"
        if name == "England":
            name = "the UK"
    return name.lower() if rng.random() < 0.35 else name


def country_fact(rng: random.Random) -> Chat:
    country = rng.choice(list(t.COUNTRIES))
    _, continent, language, money = t.COUNTRIES[country]
    asked = country_asked(rng, country)
    kind = rng.randrange(3)
    if kind == 0:
        return exchange(wording(rng, "which continent is {x} in | where is {x} | on which continent is {x} | "
                                "what continent is {x} part of | in which part of the world is {x}", x=asked),
                        f"{first_upper(country)} {verb(country)} in {continent}.")
    if kind == 1:
        return exchange(wording(rng, "which language do people speak in {x} | what language is spoken in {x} | "
                                "what do they speak in {x} | language of {x} | what is the language of {x}", x=asked),
                        f"People in {country} speak {language}.")
    return exchange(wording(rng, "what is the currency of {x} | currency of {x} | which money do they use in {x} | "
                            "how do people pay in {x} | what is the money of {x} called", x=asked),
                    f"The currency of {country} is {money}.")


def verb(country: str) -> str:
    """"is" or "are" for a country."""
    return "are" if country in ("the Netherlands", "the United States") else "is"


def sound_answer(animal: str) -> str:
    return f"{first_upper(article(animal))} says {t.ANIMALS[animal][0]}."


def young_answer(animal: str) -> str:
    return f"A young {animal} is called {article(t.ANIMALS[animal][1])}."


def legs_answer(animal: str) -> str:
    legs = t.ANIMALS[animal][2]
    return f"{first_upper(article(animal))} has {t.in_words(legs) if legs else 'no'} legs."


def animal_fact(rng: random.Random) -> Chat:
    animal = rng.choice(list(t.ANIMALS))
    one = article(animal)
    kind = rng.randrange(3) if t.ANIMALS[animal][0] else rng.randint(1, 2)
    if kind == 0:
        return exchange(wording(rng, "what sound does {x} make | what does {x} say | which sound does {x} make | "
                                "how does {x} sound | what noise does {x} make | sound of {x}", x=one),
                        sound_answer(animal))
    if kind == 1:
        return exchange(wording(rng, "what is a young {x} called | what is a baby {x} called | name of a baby {x} | "
                                "what do you call a young {x} | what do we call a baby {x}", x=animal),
                        young_answer(animal))
    return exchange(wording(rng, "how many legs does {x} have | how many legs has {x} | number of legs of {x} | "
                            "legs of {x} | tell me how many legs {x} has", x=one), legs_answer(animal))


def colour_answer(thing: str) -> str:
    return f"{first_upper(thing)} is {t.COLOURS[thing]}."


def colour(rng: random.Random) -> Chat:
    thing = rng.choice(list(t.COLOURS))
    return exchange(wording(rng, "what colour is {x} | what color is {x} | which colour is {x} | which color has {x} | "
                            "what is the colour of {x} | tell me the colour of {x} | colour of {x}", x=thing),
                    colour_answer(thing))


def word_answer(relation: str, word: str) -> str:
    """The canonical sentence for "opposite", "plural" or "past" of a word."""
    if relation == "opposite":
        return f"The opposite of {word} is {t.OPPOSITES[word]}."
    if relation == "plural":
        return f"The plural of {word} is {t.PLURALS[word]}."
    return f"The past of {word} is {t.PAST[word]}."


WORD_QUESTIONS = {
    "opposite": ("what is the opposite of {x} | opposite of {x} | the opposite of {x} | tell me the opposite of {x} | "
                 "what's the opposite of {x} | give me the opposite of {x} | which word is the opposite of {x} | "
                 "{x} opposite | can you tell me the opposite of {x}"),
    "plural": ("what is the plural of {x} | plural of {x} | the plural of {x} | give me the plural of {x} | "
               "tell me the plural of {x} | how do you write the plural of {x} | what's the plural of {x}"),
    "past": ("what is the past of {x} | past tense of {x} | what is the past tense of {x} | the past of {x} | "
             "give me the past tense of {x} | past form of {x}"),
}
WORD_TABLES = {"opposite": t.OPPOSITES, "plural": t.PLURALS, "past": t.PAST}


def word_form(rng: random.Random) -> Chat:
    relation = rng.choice(("opposite", "opposite", "plural", "past"))
    word = rng.choice(list(WORD_TABLES[relation]))
    return exchange(wording(rng, WORD_QUESTIONS[relation], x=word), word_answer(relation, word))


def rhyme(rng: random.Random) -> Chat:
    word = rng.choice(list(t.RHYMES))
    return exchange(wording(rng, "what rhymes with {x} | rhymes with {x} | words that rhyme with {x} | "
                            "give me a rhyme for {x} | which words rhyme with {x} | tell me a rhyme for {x}", x=word),
                    f"These words rhyme with {word}: {t.RHYMES[word]}.")


def neighbour(rng: random.Random) -> Chat:
    """What comes before or after a day, a month, a number or a letter."""
    row = rng.choice((t.DAYS, t.DAYS, t.MONTHS, [str(n) for n in range(1, 41)], list(string.ascii_uppercase)))
    wraps = row in (t.DAYS, t.MONTHS)
    after = rng.random() < 0.6
    index = rng.randrange(len(row)) if wraps else rng.randint(1, len(row) - 2)
    kind = {id(t.DAYS): "day", id(t.MONTHS): "month"}.get(id(row), "number" if row[0] == "1" else "letter")
    shown = row[index].lower() if kind in ("day", "month", "letter") and rng.random() < 0.5 else row[index]
    return exchange(wording(rng, "what {k} comes {w} {x} | which {k} comes {w} {x} | what comes {w} {x} | "
                            "which {k} is {w} {x} | tell me the {k} {w} {x} | what {k} is {w} {x} | the {k} {w} {x}",
                            k=kind, w="after" if after else "before", x=shown),
                    neighbour_answer(row, index, after))


def neighbour_answer(row: list[str], index: int, after: bool) -> str:
    """"After Monday comes Tuesday."; days and months start again at the end."""
    other = row[(index + (1 if after else -1)) % len(row)]
    return f"{'After' if after else 'Before'} {row[index]} comes {other}."


def planet(rng: random.Random) -> Chat:
    index = rng.randrange(len(t.PLANETS))
    if rng.random() < 0.5:
        return exchange(wording(rng, "which planet is the {o} from the sun | what is the {o} planet | "
                                "name the {o} planet | {o} planet from the sun", o=t.ORDINALS[index]),
                        f"The {t.ORDINALS[index]} planet from the Sun is {t.PLANETS[index]}.")
    month = rng.randrange(12)
    return exchange(wording(rng, "what is the {o} month | which month is the {o} | the {o} month of the year | "
                            "name the {o} month of the year", o=t.ORDINALS[month]),
                    f"The {t.ORDINALS[month]} month is {t.MONTHS[month]}.")


def month_length(rng: random.Random) -> Chat:
    index = rng.randrange(12)
    days = "28 days, or 29 in a leap year" if index == 1 else f"{t.MONTH_DAYS[index]} days"
    return exchange(wording(rng, "how many days has {m} | how many days are in {m} | days in {m} | how long is {m} | "
                            "how many days does {m} have", m=t.MONTHS[index]), f"{t.MONTHS[index]} has {days}.")


def chemistry(rng: random.Random) -> Chat:
    if rng.random() < 0.25:
        name = rng.choice(list(t.FORMULAS))
        return exchange(wording(rng, "what is the formula of {x} | chemical formula of {x} | formula for {x} | "
                                "what is the chemical formula of {x}", x=name), f"The formula of {name} is {t.FORMULAS[name]}.")
    name = rng.choice(list(t.ELEMENTS))
    return exchange(wording(rng, "what is the symbol of {x} | chemical symbol of {x} | symbol for {x} | "
                            "what is the chemical symbol for {x} | which symbol has {x}", x=name),
                    f"The symbol of {name} is {t.ELEMENTS[name]}.")


def author(rng: random.Random) -> Chat:
    book = rng.choice(list(t.AUTHORS))
    shown = book.lower() if rng.random() < 0.4 else book
    return exchange(wording(rng, "who wrote {x} | who is the author of {x} | author of {x} | {x} was written by whom | "
                            "which writer wrote {x} | tell me who wrote {x} | who is the writer of {x}", x=shown),
                    full_stop(f"{book} was written by {t.AUTHORS[book]}"))


def spelling_answer(word: str) -> str:
    """"c, a, t"""
    return ", ".join(word.lower()) + "."


def letters(rng: random.Random) -> Chat:
    """Spelling, the first and the last letter, the alphabet."""
    kind = rng.random()
    word = rng.choice(t.SPELLABLE)
    if kind < 0.5:
        return exchange(wording(rng, "spell {x} | how do you spell {x} | spell the word {x} | can you spell {x} | "
                                "how is {x} spelled | please spell {x} | spelling of {x} | {x} spelled out | "
                                "spell out {x} | how to spell {x} | tell me how to spell {x} | letters of {x}", x=word),
                        spelling_answer(word))
    if kind < 0.92:
        end = rng.choice(("first", "last"))
        letter = word.lower()[0 if end == "first" else -1]
        return exchange(wording(rng, "what is the {e} letter of {x} | {e} letter of {x} | which letter is {e} in {x} | "
                                "tell me the {e} letter of {x} | the {e} letter of the word {x} | "
                                "{x} {b} with which letter", e=end, x=word, b="starts" if end == "first" else "ends"),
                        f"The {end} letter of {word} is {letter}.")
    return exchange(wording(rng, "say the alphabet | the alphabet | what is the alphabet | alphabet please | "
                            "write the alphabet | can you say the alphabet | tell me the abc | list all letters"),
                    joined(list(string.ascii_lowercase)))


def compared(rng: random.Random) -> Chat:
    """Which number or animal is bigger, and yes or no."""
    if rng.random() < 0.35:
        small, big = sorted(rng.sample(range(len(t.SIZES)), 2))
        a, b = (t.SIZES[i] for i in rng.sample((small, big), 2))
        bigger, smaller = t.SIZES[big], t.SIZES[small]
        statement = f"{article(bigger)} is bigger than {article(smaller)}."
        if rng.random() < 0.5:
            return exchange(wording(rng, "is {a} bigger than {b} | is {a} larger than {b}", a=article(a), b=article(b)),
                            ("Yes, " if a == bigger else "No, ") + statement)
        return exchange(wording(rng, "which is bigger, {a} or {b} | what is bigger, {a} or {b} | {a} or {b}, which is "
                                "bigger", a=article(a), b=article(b)), first_upper(statement))
    a, b = rng.sample(range(0, rng.choice((10, 20, 100))), 2)
    word = rng.choice(("bigger", "bigger", "smaller"))
    best, other = (max(a, b), min(a, b)) if word == "bigger" else (min(a, b), max(a, b))
    if rng.random() < 0.3:
        return exchange(wording(rng, "is {a} {w} than {b} | {a} is {w} than {b}, right", a=a, b=b, w=word),
                        f"{'Yes' if best == a else 'No'}, {best} is {word} than {other}.")
    return exchange(wording(rng, "which is {w}, {a} or {b} | what is {w}: {a} or {b} | which number is {w}, {a} or {b} | "
                            "{a} or {b}, which is {w}", a=a, b=b, w=word), f"{best} is {word} than {other}.")


SUBJECTS = (capital, capital, capital, country_fact, animal_fact, animal_fact, colour, word_form, word_form, rhyme,
            neighbour, neighbour, planet, month_length, chemistry, author, letters, letters, letters, compared)


def facts(rng: random.Random) -> Chat:
    """One question from any table."""
    return rng.choice(SUBJECTS)(rng)
