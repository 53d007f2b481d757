"""Second questions that only make sense after the first answer."""

import random
import string

from . import tables as t
from .arithmetic import small_sum
from .context import AGAIN
from .facts import (WORD_QUESTIONS, WORD_TABLES, capital_answer, colour_answer,
                    country_asked, facts, full_stop, legs_answer, neighbour_answer, sound_answer, spelling_answer,
                    verb, word_answer, young_answer)
from .lists import SPELL, lists
from .reasons import EXPLAINED
from .rows import ROWS
from .speech import Chat, article, exchange, first_upper, wording

_AND = ("and of {x} | and {x} | what about {x} | and for {x} | how about {x} | now {x} | {x} too | and what about {x} | and now {x} | "
        "the same for {x} | {x} as well | can you do {x} too? | i also want to know it for {x} | what is it for {x} | then {x} | "
        "next: {x} | "
        "and in the case of {x}? | same question for {x} | do you know it for {x} too?")
_ONE_WORD = ("in one word | just one word please | only the word | one word is enough | the short answer, please | just the answer | "
             "make it one word | can you say that in one word? | too long. one word, please. | only one word | say only the word itself | "
             "no sentence, just the word | i only need the word | how would you say that in one word? | shorter: one word.")


_COUNTRY_FIRST = {
    "capital": "what is the capital of {x} | capital of {x} | tell me the capital of {x} | which city is the capital of {x} | "
               "name the capital of {x}",
    "continent": "where is {x} | which continent is {x} in | on which continent is {x}",
    "language": "which language do people speak in {x} | what do they speak in {x} | what language is spoken in {x}",
    "money": "what is the currency of {x} | which money do they use in {x} | how do people pay in {x}"}
_COUNTRY_NEXT = {
    "capital": "what is its capital | and its capital | which city is its capital | and the capital | what is the capital there | "
               "which is the capital of it | tell me its capital | do you know its capital too? | "
               "what city is the capital of that country | "
               "name its capital | and what about the capital? | the capital there?",
    "continent": "where is it | and where is that | on which continent is that | which continent is it in | "
                 "where can i find it on a map? | "
                 "in which part of the world is it | and the continent? | to which continent does it belong | what continent is that on | "
                 "where on earth is it | tell me its continent",
    "language": "what language do they speak there | and the language | what do people speak there | which language is spoken there | "
                "how do people talk there? which language? | tell me the language there | which language should i learn for it? | "
                "what do they speak | and its language? | what is the language of that country | in which language do they talk",
    "money": "and the money | what is the currency there | how do people pay there | and its currency | what money do they use | "
             "which money do i need there | tell me its currency | what do i pay with there? | what is the money there called | "
             "and how do they pay? | with which money do they pay"}


def countries(rng: random.Random) -> Chat:
    """One to three questions about a country: its capital, continent, language or money. The last may come again for other countries."""
    country = rng.choice(list(t.COUNTRIES))
    chat: Chat = []
    for kind in rng.sample(list(_COUNTRY_FIRST), rng.randint(1, 3)):
        templates = _COUNTRY_NEXT[kind] if chat else _COUNTRY_FIRST[kind]
        chat += exchange(wording(rng, templates, x=country_asked(rng, country)), _country_answer(country, kind))
    while rng.random() < 0.5 and len(chat) < 10:
        country = rng.choice(list(t.COUNTRIES))
        chat += exchange(wording(rng, _AND, x=country_asked(rng, country)), _country_answer(country, kind))
    return chat


def _country_answer(country: str, kind: str) -> str:
    _, continent, language, money = t.COUNTRIES[country]
    return {"capital": capital_answer(country), "continent": f"{first_upper(country)} {verb(country)} in {continent}.",
            "language": f"People in {country} speak {language}.",
            "money": f"The currency of {country} is {money}."}[kind]


_ANIMAL_FIRST = {
    "sound": "what sound does {x} make | what does {x} say | which sound does {x} make | how does {x} sound",
    "young": "what is the young of {x} called | what do you call the young of {x} | how is the young of {x} called",
    "legs": "how many legs does {x} have | how many legs has {x} | count the legs of {x}"}
_ANIMAL_NEXT = {
    "sound": "what sound does it make | and what does it say | and its sound | how does it sound | which noise does it make | "
             "what do i hear from it? | tell me its sound | and how does it talk?",
    "young": "what is a young one called | what is its young called | and the young | and a baby one | what do you call its baby | "
             "how is its baby called | and when it is young, what is it called? | tell me the name of its young | "
             "what are its children called",
    "legs": "how many legs does it have | and how many legs | how many legs has it | on how many legs does it walk? | count its legs | "
            "what is the number of its legs | and its legs? how many? | tell me how many legs it has",
    "home": "where does it live | and where does it live | where is its home | where can i find it | in which place does it live | "
            "where would i meet one? | where do i have to look for it? | and its home? | where is it at home | tell me where it lives"}
_ANIMAL_ANSWER = {"sound": sound_answer, "young": young_answer, "legs": legs_answer,
                  "home": lambda animal: f"{first_upper(article(animal))} lives {t.HOMES[animal]}."}


def animals(rng: random.Random) -> Chat:
    """One to three questions about an animal: its sound, young, legs or home. The last may come again for other animals."""
    known = [a for a in t.ANIMALS if t.ANIMALS[a][0]]
    animal, kind = rng.choice(known), rng.choice(list(_ANIMAL_FIRST))
    chat = exchange(wording(rng, _ANIMAL_FIRST[kind], x=article(animal)), _ANIMAL_ANSWER[kind](animal))
    for kind in rng.sample([k for k in _ANIMAL_NEXT if k != kind], rng.randint(0, 2)):
        chat += exchange(wording(rng, _ANIMAL_NEXT[kind]), _ANIMAL_ANSWER[kind](animal))
    while rng.random() < 0.5 and len(chat) < 10:
        animal = rng.choice(known)
        chat += exchange(wording(rng, _AND, x=article(animal)), _ANIMAL_ANSWER[kind](animal))
    return chat


_COLOUR = "what colour is {x} | which colour is {x} | which colour has {x} | tell me the colour of {x} | what is the colour of {x}"


def words(rng: random.Random) -> Chat:
    """Opposites, plurals, pasts or colours of several words, one after another. Sometimes the user then has the last answer spelled."""
    relation = rng.choice(("opposite", "opposite", "plural", "past", "colour"))
    table = t.COLOURS if relation == "colour" else WORD_TABLES[relation]
    ask = _COLOUR if relation == "colour" else WORD_QUESTIONS[relation]
    chat: Chat = []
    for word in rng.sample(list(table), rng.randint(2, 4)):
        answer = colour_answer(word) if relation == "colour" else word_answer(relation, word)
        chat += exchange(wording(rng, _AND if chat else ask, x=word), answer)
    if rng.random() < 0.3:
        chat += exchange(wording(rng, SPELL), spelling_answer(table[word]))
    return chat


def one_word(rng: random.Random) -> Chat:
    """An answer in a sentence. Then the user asks for its one important word, for the letters of that word, or for both."""
    kind = rng.choice(("capital", "colour", "opposite", "opposite", "plural", "past"))
    if kind == "capital":
        country = rng.choice([c for c, row in t.COUNTRIES.items() if row[0].isalpha()])
        word = t.COUNTRIES[country][0]
        chat = exchange(wording(rng, _COUNTRY_FIRST["capital"], x=country), capital_answer(country))
    elif kind == "colour":
        thing, word = rng.choice(list(t.COLOURS.items()))
        chat = exchange(wording(rng, _COLOUR, x=thing), colour_answer(thing))
    else:
        asked, word = rng.choice(list(WORD_TABLES[kind].items()))
        chat = exchange(wording(rng, WORD_QUESTIONS[kind], x=asked), word_answer(kind, asked))
    if rng.random() < 0.6:
        chat += exchange(wording(rng, _ONE_WORD), first_upper(word) + ".")
    if len(chat) == 2 or rng.random() < 0.3:
        chat += exchange(wording(rng, SPELL), spelling_answer(word))
    return chat


_COMES = "what comes {w} {x} | which one comes {w} {x} | which one is right {w} {x} | tell me what comes {w} {x} | {w} {x} comes what?"
_NEXT_ONE = ("and {w} that | and {w} that one | what comes {w} that | which one comes {w} that | what is {w} that | {w} that? | "
             "the one {w} that, please | and what do we have {w} that? | and {w} it? | what comes {w} it | one more step: {w} that?")
_THEN = "and then | what comes next | what is next | and the next one | which one follows | go on, what is next? | then what?"


def sequence(rng: random.Random) -> Chat:
    """"What comes after Monday?" "And then?"."""
    row = rng.choice((t.DAYS, t.DAYS, t.MONTHS, [str(n) for n in range(1, 41)], list(string.ascii_uppercase)))
    wraps = row in (t.DAYS, t.MONTHS)
    after = not wraps or rng.random() < 0.7
    index = rng.randrange(len(row)) if wraps else rng.randint(1, len(row) - 6)
    chat: Chat = []
    for _ in range(rng.randint(2, 4)):
        way = "after" if after else "before"
        ask = _NEXT_ONE + (" | " + _THEN if after else "") if chat else _COMES
        chat += exchange(wording(rng, ask, w=way, x=row[index]),
                         neighbour_answer(row, index, after))
        index = (index + (1 if after else -1)) % len(row)
    return chat


_ANOTHER = ("another one | give me another one | one more | another | tell me another one | one more please | do you have another one | "
            "and another one | next one | more | and one more | again one, but a new one | a different one | give me a different one | "
            "i want one more | can i have one more? | what else do you have? | is there another one? | one more of that kind | "
            "i know that one. another? | try another one | something else of that kind | and the next? | let me have one more | "
            "that was good, one more | do you know one more? | got more? | and a new one?")


def another(rng: random.Random) -> Chat:
    """"Give me another one": each list has one fixed order, so the last answer determines the next."""
    row = rng.choice(ROWS)
    chat: Chat = []
    for item in row.items[:rng.randint(2, min(5, len(row.items)))]:
        chat += exchange(wording(rng, _ANOTHER if chat else row.ask), item)
    return chat


_WHY = ("why | why is that | but why | how come | why is it so | what is the reason | for what reason? | can you tell me why? | and why? | "
        "what makes it so? | why so? | explain why | i do not understand why | tell me the reason | is there a reason? | "
        "because of what? | "
        "what is the cause of that | how is that? why? | do you know why | why though? | i want to know why")
_MORE = ("tell me more | more | more about that | can you tell me more? | say more | go on | what else | continue | and what more? | "
         "is there more? | do you know more about it | give me more details | anything else about it? | what more can you say | "
         "that is interesting, tell me more | i want to know more | add something | keep going | one more thing about that?")
_SHORTER = ("say that in fewer words | shorter please | make it shorter | in fewer words | in short | say it shorter | "
            "can you make that shorter? | "
            "summarise that | the short version, please | that is too long | shorten that | be brief | keep it short | "
            "a shorter answer, please | "
            "what is the short answer | briefly | cut it down | in very few words")


def explained(rng: random.Random) -> Chat:
    """"Why?", "tell me more", "say that in fewer words" after an answer that allows them."""
    entry = rng.choice(EXPLAINED)
    chat = exchange(wording(rng, entry.ask), entry.answer)
    followers = [(_WHY, entry.why), (_MORE, entry.more), (_SHORTER, entry.short)]
    if entry.short.count(" ") == 0:
        followers.append((_ONE_WORD, entry.short))
    for ask, answer in rng.sample([f for f in followers if f[1]], rng.randint(1, 2)):
        chat += exchange(wording(rng, ask), answer)
    return chat


_REACTIONS = (
    ("are you sure? | are you sure about that? | is that right? | is that true? | really? | sure? | is that correct? | can i trust that? | "
     "do you really think so? | how sure are you? | i doubt that. is it right? | is there no mistake? | you are sure, right? | "
     "and that is correct? | "
     "hm, is that really so? | no doubt about it? | would you bet on it?", "I think so, but I am a tiny model. Please check it."),
    ("thanks | thank you | thx | thank you very much | many thanks | thanks a lot | thank you, that helps | great, thanks | "
     "thanks for the answer | that helped, thank you | ok, thank you | perfect, thanks", "You are welcome!"),
    ("that is wrong | wrong | no, that is wrong | this is not correct | not true | that is not right | you made a mistake | "
     "i think that is wrong | "
     "no, it is not like that | your answer is wrong | that cannot be right | i do not agree, it is wrong",
     "I am sorry. I am a tiny model, so I make mistakes."),
    ("good | great | nice | well done | very good | correct | that is right | good answer | i like that answer | perfect | exactly | right",
     "I am glad you like it!"),
    ("ok | okay | i see | got it | alright | fine | understood | ah, ok | ok then | all clear", "Good. What would you like to do next?"))


def sure(rng: random.Random) -> Chat:
    """A question for a fact. Then the user thanks, doubts, objects or approves."""
    chat = facts(rng)
    ask, answer = rng.choice(_REACTIONS)
    return chat + exchange(wording(rng, ask, end="."), answer)


def same_kind(rng: random.Random) -> Chat:
    """"Who wrote Hamlet?" "And Faust?": books and chemical symbols."""
    chat: Chat = []
    if rng.random() < 0.5:
        for book in rng.sample(list(t.AUTHORS), rng.randint(2, 3)):
            chat += exchange(wording(rng, f"{_AND} | and who wrote {{x}}" if chat else "who wrote {x} | who is the author of {x} | "
                                     "which writer wrote {x} | name the author of {x}", x=book),
                             full_stop(f"{book} was written by {t.AUTHORS[book]}"))
        return chat
    for name in rng.sample(list(t.ELEMENTS), rng.randint(2, 4)):
        chat += exchange(wording(rng, _AND if chat else "what is the symbol of {x} | chemical symbol of {x} | "
                                                        "which symbol has {x}", x=name),
                         f"The symbol of {name} is {t.ELEMENTS[name]}.")
    return chat


_TWICE_THAT = ("double it | double that | and twice that? | what is the double of that | twice as much? | now double that number | "
               "how much is twice that | and doubled? | two times that?")
_HALF_THAT = ("half of it | half of that | and half of that? | what is half of it | now halve that | how much is half of that | "
              "cut that in half")
_THAT_IS = ("is that {k} | is it {k} | is that an {k} number | is the result {k} | and is that {k}? | would you call that {k} | "
            "that is {k}, right?")
_NUMBER_ONLY = ("only the number | just the number, please | which number is it? | what was the result? | "
                "the number again, please | so what is the result")


def on_numbers(rng: random.Random) -> Chat:
    """A task of arithmetic, then a question about its result."""
    chat, total = small_sum(rng)
    kind = rng.randrange(4)
    if kind == 0 and total <= 20:
        return chat + exchange(wording(rng, _TWICE_THAT), f"Twice {total} is {2 * total}.")
    if kind == 1 and total % 2 == 0:
        return chat + exchange(wording(rng, _HALF_THAT), f"Half of {total} is {total // 2}.")
    if kind == 2:
        asked, really = rng.choice(("even", "odd")), "odd" if total % 2 else "even"
        return chat + exchange(wording(rng, _THAT_IS, k=asked), f"{'Yes' if asked == really else 'No'}, {total} is {really}.")
    return chat + exchange(wording(rng, _NUMBER_ONLY), f"{total}.")


def again(rng: random.Random) -> Chat:
    """The user asks to hear an answer a second time."""
    chat = rng.choice(KINDS[:-1])(rng)
    return chat + exchange(wording(rng, AGAIN), chat[-1][1])


KINDS = (countries, countries, animals, animals, words, one_word, sequence, another, another, explained, explained, sure, same_kind,
         on_numbers, on_numbers, lists, lists, lists, lists, again)


def followups(rng: random.Random) -> Chat:
    """One chat whose later questions refer to an earlier answer."""
    return rng.choice(KINDS)(rng)
