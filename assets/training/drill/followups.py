"""Second questions that only make sense after the first answer."""

import random
import string

from . import tables as t
from .facts import (WORD_QUESTIONS, WORD_TABLES, capital_answer, colour_answer,
                    country_asked, facts, full_stop, legs_answer, neighbour_answer, sound_answer, spelling_answer,
                    verb, word_answer, young_answer)
from .reasons import EXPLAINED, ROWS
from .speech import Chat, article, exchange, first_upper, wording

_AND = "and of {x} | and {x} | what about {x} | and for {x} | how about {x} | now {x} | {x} too | and what about {x}"


def countries(rng: random.Random) -> Chat:
    """A country, then its capital, language or money; then another country."""
    country = rng.choice(list(t.COUNTRIES))
    chat: Chat = []
    kinds = rng.sample(("capital", "continent", "language", "money"), rng.randint(1, 3))
    for kind in kinds:
        asked = country_asked(rng, country)
        templates = _COUNTRY_NEXT[kind] if chat else _COUNTRY_FIRST[kind]
        chat += exchange(wording(rng, templates, x=asked), _country_answer(country, kind))
    while rng.random() < 0.5 and len(chat) < 10:
        country = rng.choice(list(t.COUNTRIES))
        chat += exchange(wording(rng, _AND, x=country_asked(rng, country)), _country_answer(country, kind))
    return chat


_COUNTRY_FIRST = {
    "capital": "what is the capital of {x} | capital of {x} | tell me the capital of {x}",
    "continent": "where is {x} | which continent is {x} in", "language": "which language do people speak in {x} | "
    "what do they speak in {x}", "money": "what is the currency of {x} | which money do they use in {x}"}
_COUNTRY_NEXT = {
    "capital": "what is its capital | and its capital | which city is its capital | and the capital | what is the capital there",
    "continent": "where is it | and where is that | on which continent is that | which continent is it in",
    "language": "what language do they speak there | and the language | what do people speak there | which language is spoken there",
    "money": "and the money | what is the currency there | how do people pay there | and its currency"}


def _country_answer(country: str, kind: str) -> str:
    _, continent, language, money = t.COUNTRIES[country]
    return {"capital": capital_answer(country), "continent": f"{first_upper(country)} {verb(country)} in {continent}.",
            "language": f"People in {country} speak {language}.",
            "money": f"The currency of {country} is {money}."}[kind]


def animals(rng: random.Random) -> Chat:
    """An animal, then its young, its legs, its sound; then another animal."""
    known = [a for a in t.ANIMALS if t.ANIMALS[a][0]]
    animal = rng.choice(known)
    answers = {"sound": sound_answer, "young": young_answer, "legs": legs_answer}
    first = {"sound": "what sound does {x} make | what does {x} say", "young": "what is the young of {x} called | what do "
             "you call the young of {x}", "legs": "how many legs does {x} have | how many legs has {x}"}
    following = {"sound": "what sound does it make | and what does it say | and its sound", "young": "what is a young one "
                 "called | what is its young called | and the young | and a baby one", "legs": "how many legs does it have | "
                 "and how many legs | how many legs has it"}
    chat: Chat = []
    for kind in rng.sample(list(answers), rng.randint(1, 3)):
        chat += exchange(wording(rng, following[kind] if chat else first[kind], x=article(animal)), answers[kind](animal))
    while rng.random() < 0.5 and len(chat) < 10:
        animal = rng.choice(known)
        chat += exchange(wording(rng, "and {x} | what about {x} | how about {x} | and for {x}", x=article(animal)),
                         answers[kind](animal))
    return chat


def words(rng: random.Random) -> Chat:
    """Opposites, plurals, pasts or colours in a row, at times spelled."""
    relation = rng.choice(("opposite", "opposite", "plural", "past", "colour"))
    table = t.COLOURS if relation == "colour" else WORD_TABLES[relation]
    ask = "what colour is {x} | which colour is {x}" if relation == "colour" else WORD_QUESTIONS[relation]
    chat: Chat = []
    for word in rng.sample(list(table), rng.randint(2, 4)):
        answer = colour_answer(word) if relation == "colour" else word_answer(relation, word)
        chat += exchange(wording(rng, _AND if chat else ask, x=word), answer)
    if rng.random() < 0.3:
        chat += exchange(wording(rng, "spell it | spell that | how do you spell it | how is that spelled | how do you spell that"),
                         spelling_answer(table[word]))
    return chat


def sequence(rng: random.Random) -> Chat:
    """"What comes after Monday?" "And then?"."""
    row = rng.choice((t.DAYS, t.DAYS, t.MONTHS, [str(n) for n in range(1, 41)], list(string.ascii_uppercase)))
    wraps = row in (t.DAYS, t.MONTHS)
    after = not wraps or rng.random() < 0.7
    index = rng.randrange(len(row)) if wraps else rng.randint(1, len(row) - 6)
    chat: Chat = []
    for _ in range(rng.randint(2, 4)):
        way = "after" if after else "before"
        ask = f"and then | and {way} that | and {way} that one | what comes next | what comes {way} that" if after else \
            f"and {way} that | and {way} that one | what comes {way} that"
        chat += exchange(wording(rng, ask if chat else "what comes {w} {x} | which one comes {w} {x}", w=way, x=row[index]),
                         neighbour_answer(row, index, after))
        index = (index + (1 if after else -1)) % len(row)
    return chat


def another(rng: random.Random) -> Chat:
    """"Give me another one": each list has one fixed order, so the last answer says which is next."""
    row = rng.choice(ROWS)
    chat: Chat = []
    for item in row.items[:rng.randint(2, min(5, len(row.items)))]:
        chat += exchange(wording(rng, "another one | give me another one | one more | another | tell me another one | one more "
                                 "please | do you have another one | and another one | next one | more" if chat else row.ask), item)
    return chat


def explained(rng: random.Random) -> Chat:
    """"Why?", "tell me more", "say that in fewer words" after an answer that allows them."""
    entry = rng.choice(EXPLAINED)
    chat = exchange(wording(rng, entry.ask), entry.answer)
    followers = [("why | why? | why is that | but why | how come | why is it so | what is the reason", entry.why),
                 ("tell me more | more | more about that | can you tell me more | say more | go on | what else", entry.more),
                 ("say that in fewer words | shorter please | make it shorter | in fewer words | in short | say it shorter | "
                  "can you make that shorter | summarise that", entry.short)]
    for ask, answer in rng.sample([f for f in followers if f[1]], rng.randint(1, 2)):
        chat += exchange(wording(rng, ask), answer)
    return chat


def sure(rng: random.Random) -> Chat:
    """Thanks, doubt and approval after any fact."""
    chat = facts(rng)
    ask, answer = rng.choice((
        ("are you sure | are you sure about that | is that right | is that true | really | sure? | is that correct",
         "I think so, but I am a tiny model. Please check it."),
        ("thanks | thank you | thx | thank you very much | many thanks", "You are welcome!"),
        ("that is wrong | wrong | no, that is wrong | this is not correct | not true",
         "I am sorry. I am a tiny model, so I make mistakes."),
        ("good | great | nice | well done | very good | correct", "I am glad you like it!"),
        ("ok | okay | i see | got it | alright", "Good. What would you like to do next?")))
    return chat + exchange(wording(rng, ask, end="."), answer)


def same_kind(rng: random.Random) -> Chat:
    """"Who wrote Hamlet?" "And Faust?": books and chemical symbols."""
    chat: Chat = []
    if rng.random() < 0.5:
        for book in rng.sample(list(t.AUTHORS), rng.randint(2, 3)):
            chat += exchange(wording(rng, "and {x} | what about {x} | and who wrote {x}" if chat else "who wrote {x} | who is the "
                                     "author of {x}", x=book), full_stop(f"{book} was written by {t.AUTHORS[book]}"))
        return chat
    for name in rng.sample(list(t.ELEMENTS), rng.randint(2, 4)):
        chat += exchange(wording(rng, _AND if chat else "what is the symbol of {x} | chemical symbol of {x}", x=name),
                         f"The symbol of {name} is {t.ELEMENTS[name]}.")
    return chat


KINDS = (countries, countries, animals, words, words, sequence, another, another, explained, explained, sure, same_kind)


def followups(rng: random.Random) -> Chat:
    """One chat whose later questions refer to the last answer."""
    return rng.choice(KINDS)(rng)
