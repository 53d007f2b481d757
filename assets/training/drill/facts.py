"""One question with one short answer, made from the tables."""

import random
import string

from . import tables as t
from .numbers import in_words
from .speech import Chat, article, exchange, first_upper, joined, wording


def capital_answer(country: str) -> str:
    """The one sentence in which the model names a capital."""
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
                                "what country is {c} the capital of | to which country does the capital {c} belong? | "
                                "{c} is a capital, but of which country? | name the country with the capital {c} | "
                                "i am in {c}, the capital of which country?", c=town), capital_answer(country))
    if rng.random() < 0.2:
        other = rng.choice([town, rng.choice(t.CITIES)])
        right = other == town
        return exchange(wording(rng, "is {c} the capital of {x} | is the capital of {x} {c} | {c} is the capital of "
                                "{x}, right", c=other, x=asked),
                        ("Yes, the" if right else "No, the") + capital_answer(country)[3:])
    return exchange(wording(rng, "what is the capital of {x} | capital of {x} | what's the capital of {x} | "
                            "which city is the capital of {x} | tell me the capital of {x} | name the capital of {x} | "
                            "do you know the capital of {x} | what is the capital city of {x} | {x} capital | "
                            "can you tell me the capital of {x} | whats the capital of {x} | the capital of {x} is | "
                            "for {x}, which city is the "
                            "capital? | which capital does {x} have | what city is the capital of {x} | "
                            "i travel to {x} and want to see its capital. "
                            "which city is it? | in {x}, what is the capital called? | the capital of {x}, please | "
                            "what is {x}'s capital | "
                            "how is the capital of {x} called | give me the capital of {x} | my homework: the capital of {x} | "
                            "which city do we call the capital of {x} | remind me of the capital of {x} | "
                            "the government of {x} sits in which capital?", x=asked),
                    capital_answer(country))


def country_asked(rng: random.Random, country: str) -> str:
    """The country as a user may type it, sometimes shorter or in lower case."""
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
                                "what continent is {x} part of | in which part of the world is {x} | to which continent does {x} belong | "
                                "the continent of {x}? | on a map, where do i find {x}? | "
                                "i look for {x} on a globe. which continent is it? | "
                                "where in the world is {x} | name the continent of {x} | what part of the world is {x} in", x=asked),
                        f"{first_upper(country)} {verb(country)} in {continent}.")
    if kind == 1:
        return exchange(wording(rng, "which language do people speak in {x} | what language is spoken in {x} | "
                                "what do they speak in {x} | language of {x} | what is the language of {x} | "
                                "what tongue do people use in {x} | "
                                "i move to {x}. which language should i learn? | in {x}, which language is spoken? | "
                                "name the language of {x} | "
                                "how do people talk in {x}, in which language? | which language will i hear in {x} | "
                                "the people of {x} speak what?", x=asked),
                        f"People in {country} speak {language}.")
    return exchange(wording(rng, "what is the currency of {x} | currency of {x} | which money do they use in {x} | "
                            "how do people pay in {x} | what is the money of {x} called | what currency does {x} have | "
                            "in {x}, which money is used? | "
                            "i travel to {x}. which money do i need? | name the currency of {x} | what do i pay with in {x}? | "
                            "which coins and notes do people use in {x} | the money of {x} is called what?", x=asked),
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
    return f"{first_upper(article(animal))} has {in_words(legs) if legs else 'no'} legs."


def animal_fact(rng: random.Random) -> Chat:
    animal = rng.choice(list(t.ANIMALS))
    one = article(animal)
    kind = rng.randrange(3) if t.ANIMALS[animal][0] else rng.randint(1, 2)
    if kind == 0:
        return exchange(wording(rng, "what sound does {x} make | what does {x} say | which sound does {x} make | "
                                "how does {x} sound | what noise does {x} make | sound of {x} | "
                                "i hear {x}. what does it sound like? | which noise comes from {x} | "
                                "how does {x} talk | what does {x} say in a picture book | imitate {x} | the sound of {x}, please | "
                                "what call does {x} have", x=one),
                        sound_answer(animal))
    if kind == 1:
        return exchange(wording(rng, "what is a young {x} called | what is a baby {x} called | name of a baby {x} | "
                                "what do you call a young {x} | what do we call a baby {x} | which name has a young {x} | "
                                "how is a baby {x} called | "
                                "what is the word for a young {x} | the child of a {x} is called what? | "
                                "a very young {x}, what is its name? | "
                                "name the young of a {x} | what is the right word for a baby {x}", x=animal),
                        young_answer(animal))
    return exchange(wording(rng, "how many legs does {x} have | how many legs has {x} | number of legs of {x} | "
                            "legs of {x} | tell me how many legs {x} has | on how many legs does {x} walk? | "
                            "count the legs of {x} | {x} has how many legs? | "
                            "what is the number of legs of {x} | i want to draw {x}. how many legs must i draw? | "
                            "how many legs do i see on {x} | "
                            "does {x} have two or four legs? how many?", x=one), legs_answer(animal))


def colour_answer(thing: str) -> str:
    return f"{first_upper(thing)} is {t.COLOURS[thing]}."


def colour(rng: random.Random) -> Chat:
    thing = rng.choice(list(t.COLOURS))
    return exchange(wording(rng, "what colour is {x} | what color is {x} | which colour is {x} | which color has {x} | "
                            "what is the colour of {x} | tell me the colour of {x} | colour of {x} | "
                            "i want to paint {x}. which colour do i need? | {x} has which colour? | "
                            "in which colour do you paint {x} | the colour of {x}, please | name the colour of {x} | {x} is what colour? | "
                            "what colour does {x} have | when you think of {x}, which colour do you see?", x=thing),
                    colour_answer(thing))


def word_answer(relation: str, word: str) -> str:
    """The one sentence in which the model names the "opposite", "plural" or "past" of a word."""
    if relation == "opposite":
        return f"The opposite of {word} is {t.OPPOSITES[word]}."
    if relation == "plural":
        return f"The plural of {word} is {t.PLURALS[word]}."
    return f"The past of {word} is {t.PAST[word]}."


WORD_QUESTIONS = {
    "opposite": ("what is the opposite of {x} | opposite of {x} | the opposite of {x} | tell me the opposite of {x} | "
                 "what's the opposite of {x} | give me the opposite of {x} | which word is the opposite of {x} | "
                 "{x} opposite | can you tell me the opposite of {x} | what word means the opposite of {x} | not {x}, but what? | "
                 "i need the opposite of {x} | which word says the opposite of {x} | if it is not {x}, what is the opposite? | "
                 "name the opposite of {x} | the contrary of {x} | how do i say the opposite of {x} | find the opposite of {x} | "
                 "turn {x} into its opposite | the word {x} has which opposite?"),
    "plural": ("what is the plural of {x} | plural of {x} | the plural of {x} | give me the plural of {x} | "
               "tell me the plural of {x} | how do you write the plural of {x} | what's the plural of {x} | "
               "more than one {x} is called what? | one {x}, two what? | "
               "i have one {x}. what do i call two of them? | {x} in the plural | how does {x} look in the plural | "
               "name the plural of {x} | "
               "which word is the plural of {x} | the plural form of {x} | how do i write more than one {x}"),
    "past": ("what is the past of {x} | past tense of {x} | what is the past tense of {x} | the past of {x} | "
             "give me the past tense of {x} | past form of {x} | how do i write {x} in the past | {x} in the past tense | "
             "today i {x}, yesterday i what? | "
             "what is the past form of the verb {x} | which word is the past of {x} | name the past tense of {x} | "
             "tell me the past of {x} | "
             "what happens to {x} in the past tense | the simple past of {x}"),
}
WORD_TABLES = {"opposite": t.OPPOSITES, "plural": t.PLURALS, "past": t.PAST}


def word_form(rng: random.Random) -> Chat:
    relation = rng.choice(("opposite", "opposite", "plural", "past"))
    word = rng.choice(list(WORD_TABLES[relation]))
    return exchange(wording(rng, WORD_QUESTIONS[relation], x=word), word_answer(relation, word))


def rhyme(rng: random.Random) -> Chat:
    word = rng.choice(list(t.RHYMES))
    return exchange(wording(rng, "what rhymes with {x} | rhymes with {x} | words that rhyme with {x} | "
                            "give me a rhyme for {x} | which words rhyme with {x} | tell me a rhyme for {x} | "
                            "find a rhyme for {x} | i need a rhyme for {x} | "
                            "my poem has the word {x}. what rhymes with it? | does anything rhyme with {x} | rhymes for {x}, please | "
                            "words that sound like {x} at the end | name some words that rhyme with {x} | list rhymes for {x}", x=word),
                    f"These words rhyme with {word}: {t.RHYMES[word]}.")


def neighbour(rng: random.Random) -> Chat:
    """The user asks what comes before or after a day, a month, a number or a letter."""
    row = rng.choice((t.DAYS, t.DAYS, t.MONTHS, [str(n) for n in range(1, 41)], list(string.ascii_uppercase)))
    wraps = row in (t.DAYS, t.MONTHS)
    after = rng.random() < 0.6
    index = rng.randrange(len(row)) if wraps else rng.randint(1, len(row) - 2)
    kind = {id(t.DAYS): "day", id(t.MONTHS): "month"}.get(id(row), "number" if row[0] == "1" else "letter")
    shown = row[index].lower() if kind in ("day", "month", "letter") and rng.random() < 0.5 else row[index]
    return exchange(wording(rng, "what {k} comes {w} {x} | which {k} comes {w} {x} | what comes {w} {x} | "
                            "which {k} is {w} {x} | tell me the {k} {w} {x} | what {k} is {w} {x} | the {k} {w} {x} | "
                            "name the {k} {w} {x} | which {k} stands {w} {x} | {w} {x} comes which {k}? | "
                            "the {k} that comes {w} {x} | i know {x}. which {k} comes {w} it? | the {k} right {w} {x}? | "
                            "do you know the {k} {w} {x} | give me the {k} {w} {x}",
                            k=kind, w="after" if after else "before", x=shown),
                    neighbour_answer(row, index, after))


def neighbour_answer(row: list[str], index: int, after: bool) -> str:
    """"After Monday comes Tuesday."; after the end of the row comes its start."""
    other = row[(index + (1 if after else -1)) % len(row)]
    return f"{'After' if after else 'Before'} {row[index]} comes {other}."


def planet(rng: random.Random) -> Chat:
    index = rng.randrange(len(t.PLANETS))
    if rng.random() < 0.5:
        return exchange(wording(rng, "which planet is the {o} from the sun | what is the {o} planet | "
                                "name the {o} planet | {o} planet from the sun | counted from the sun, which planet is the {o}? | "
                                "which planet comes {o} from the sun | "
                                "the {o} planet, please | tell me the {o} planet | the {o} planet has which name? | "
                                "how is the {o} planet called", o=t.ORDINALS[index]),
                        f"The {t.ORDINALS[index]} planet from the Sun is {t.PLANETS[index]}.")
    month = rng.randrange(12)
    return exchange(wording(rng, "what is the {o} month | which month is the {o} | the {o} month of the year | "
                            "name the {o} month of the year | which month comes {o} in the year | tell me the {o} month | "
                            "how is the {o} month called | "
                            "month number {o}? | in a year, which month is the {o}? | the {o} month, please", o=t.ORDINALS[month]),
                    f"The {t.ORDINALS[month]} month is {t.MONTHS[month]}.")


def month_length(rng: random.Random) -> Chat:
    index = rng.randrange(12)
    days = "28 days, or 29 in a leap year" if index == 1 else f"{t.MONTH_DAYS[index]} days"
    return exchange(wording(rng, "how many days has {m} | how many days are in {m} | days in {m} | how long is {m} | "
                            "how many days does {m} have | {m} has how many days? | count the days of {m} | "
                            "what is the number of days in {m} | "
                            "how many days long is {m} | i plan for {m}. how many days is that? | tell me how many days {m} has | "
                            "the length of {m} in days", m=t.MONTHS[index]), f"{t.MONTHS[index]} has {days}.")


def chemistry(rng: random.Random) -> Chat:
    if rng.random() < 0.25:
        name = rng.choice(list(t.FORMULAS))
        return exchange(wording(rng, "what is the formula of {x} | chemical formula of {x} | formula for {x} | "
                                "what is the chemical formula of {x} | how do you write {x} as a formula | "
                                "the formula of {x}, please | tell me the formula of {x} | "
                                "which formula has {x} | "
                                "in chemistry, how is {x} written?", x=name), f"The formula of {name} is {t.FORMULAS[name]}.")
    name = rng.choice(list(t.ELEMENTS))
    return exchange(wording(rng, "what is the symbol of {x} | chemical symbol of {x} | symbol for {x} | "
                            "what is the chemical symbol for {x} | which symbol has {x} | how is {x} written in chemistry | "
                            "the symbol of {x}, please | "
                            "tell me the symbol of {x} | which letters stand for {x} in chemistry | short sign for the element {x} | "
                            "what does {x} look like in the table of elements? which symbol? | name the symbol of {x}", x=name),
                    f"The symbol of {name} is {t.ELEMENTS[name]}.")


def author(rng: random.Random) -> Chat:
    book = rng.choice(list(t.AUTHORS))
    shown = book.lower() if rng.random() < 0.4 else book
    return exchange(wording(rng, "who wrote {x} | who is the author of {x} | author of {x} | {x} was written by whom | "
                            "which writer wrote {x} | tell me who wrote {x} | who is the writer of {x} | name the author of {x} | "
                            "{x} is a book by whom? | i have {x} in my hand. who wrote it? | the author of {x}, please | "
                            "{x}: who is the author? | "
                            "whose book is {x} | which author do we have to thank for {x} | remind me who wrote {x}", x=shown),
                    full_stop(f"{book} was written by {t.AUTHORS[book]}"))


def spelling_answer(word: str) -> str:
    """"c, a, t." for "cat"."""
    return ", ".join(word.lower()) + "."


def letters(rng: random.Random) -> Chat:
    """A question for the letters of a word, for its first or last letter, or for the alphabet."""
    kind = rng.random()
    word = rng.choice(t.SPELLABLE)
    if kind < 0.5:
        return exchange(wording(rng, "spell {x} | how do you spell {x} | spell the word {x} | can you spell {x} | "
                                "how is {x} spelled | please spell {x} | spelling of {x} | {x} spelled out | "
                                "spell out {x} | how to spell {x} | tell me how to spell {x} | letters of {x} | "
                                "which letters are in {x}, one by one? | i cannot spell {x}. help me. | "
                                "how do i write {x}, letter by letter? | give me the letters of {x} | {x}, letter by letter | "
                                "what are the letters of {x} | is {x} hard to spell? spell it. | read {x} letter by letter | "
                                "the spelling of {x}, please | split {x} into its letters", x=word),
                        spelling_answer(word))
    if kind < 0.92:
        end = rng.choice(("first", "last"))
        letter = word.lower()[0 if end == "first" else -1]
        return exchange(wording(rng, "what is the {e} letter of {x} | {e} letter of {x} | which letter is {e} in {x} | "
                                "tell me the {e} letter of {x} | the {e} letter of the word {x} | "
                                "{x} {b} with which letter | with which letter does {x} {v} | which letter stands {e} in {x} | "
                                "look at the word {x}. which letter is the {e} one? | name the {e} letter of {x} | {x}: {e} letter? | "
                                "i only need the {e} letter of {x} | "
                                "the word {x} {b} with what?", e=end, x=word, b="starts" if end == "first" else "ends",
                                v="start" if end == "first" else "end"),
                        f"The {end} letter of {word} is {letter}.")
    return exchange(wording(rng, "say the alphabet | the alphabet | what is the alphabet | alphabet please | "
                            "write the alphabet | can you say the alphabet | tell me the abc | list all letters | "
                            "all letters from a to z | the letters from a to z, please | "
                            "which letters does the alphabet have | how does the alphabet go | "
                            "i teach my son the alphabet. how does it go? | "
                            "recite the alphabet | give me the alphabet"),
                    joined(list(string.ascii_lowercase)))


def compared(rng: random.Random) -> Chat:
    """The user asks which of two animals is bigger, or whether one is bigger than the other."""
    small, big = sorted(rng.sample(range(len(t.SIZES)), 2))
    a, b = (t.SIZES[i] for i in rng.sample((small, big), 2))
    bigger = t.SIZES[big]
    statement = f"{article(bigger)} is bigger than {article(t.SIZES[small])}."
    if rng.random() < 0.5:
        return exchange(wording(rng, "is {a} [bigger/larger] than {b} | {a} is bigger than {b}, right? | "
                                     "would you say {a} is bigger than {b} | "
                                "is it true that {a} is bigger than {b} | does {a} grow bigger than {b} | "
                                "i think {a} is bigger than {b}. am i right?",
                                a=article(a), b=article(b)), ("Yes, " if a == bigger else "No, ") + statement)
    return exchange(wording(rng, "which is bigger, {a} or {b}? | what is bigger, {a} or {b}? | {a} or {b}, which is bigger? | "
                            "which of the two is bigger, {a} or {b}? | which animal is larger, {a} or {b}? | "
                            "compare {a} and {b}. which is bigger? | "
                            "the bigger one of {a} and {b} | tell me which is bigger, {a} or {b}", a=article(a), b=article(b)),
                    first_upper(statement))


SUBJECTS = (capital, capital, capital, country_fact, animal_fact, animal_fact, colour, word_form, word_form, rhyme,
            neighbour, neighbour, planet, month_length, chemistry, author, letters, letters, letters, compared)


def facts(rng: random.Random) -> Chat:
    """One question from any table."""
    return rng.choice(SUBJECTS)(rng)
