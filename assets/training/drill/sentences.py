"""Sentences to be copied: patterns filled with random words, so that nobody can guess how they go on."""

import random
import re

from .speech import article, first_upper
from .tables import CITIES, COLOUR_NAMES, DAYS, FOODS, JOBS, NAMES, OBJECTS, PLACES, THINGS
from .words import ADJECTIVES, ADVERBS, NOUNS, PREPOSITIONS, VERBS

# Each NOUN, ADJ and so on in a pattern is replaced by a word of its own. A: before it puts an article there, an s after it makes a plural
# or the third person.
_PATTERNS: tuple[str, ...] = tuple(line.strip() for line in """
The COLOUR JOB has NUMBER THINGS in the PLACE.
NAME and NAME live in CITY.
My OBJECT is in the PLACE.
NAME eats FOOD with NUMBER JOBs.
Is NAME the JOB from CITY?
NUMBER COLOUR THINGS fell into the PLACE!
Please bring NUMBER THINGS to NAME.
I like FOOD, but NAME likes FOOD.
The OBJECT is COLOUR and the OBJECT is not.
NAME said: the JOB is late.
we need NUMBER THINGS and A:OBJECT
FOOD, FOOD, COLOUR, CITY
A JOB never forgets A:OBJECT.
Who put the OBJECT into the PLACE?
Call NAME at NUMBERNUMBER 42.
Tomorrow NAME will fly from CITY to CITY.
NAME is NUMBER years old.
Hello NAME, welcome to CITY!
no THINGS, no FOOD
The PLACE of NAME smells like FOOD.
NAME, NAME and the COLOUR OBJECT
The ADJ NOUN VERBs ADV PREP the NOUN.
A:ADJ NOUN and A:ADJ NOUN
NAME VERBs the ADJ NOUN in the NOUN.
NOUNs VERB ADV when the NOUN VERBs.
Two ADJ NOUNs stand PREP the ADJ NOUN.
Why does the NOUN VERB so ADV?
Do not VERB the NOUN, NAME!
The JOB and the NOUN VERB ADV on DAY.
ADJ, ADJ and ADJ: that is the NOUN.
PREP the NOUN there is A:ADJ NOUN.
NUMBER NOUNs VERB PREP the NOUNs of CITY.
We VERB, they VERB, and the NOUN VERBs.
Every ADJ NOUN needs A:NOUN.
NAME hid the NOUN PREP A:ADJ NOUN.
ADV the NOUN began to VERB.
Has NAME ever seen A:ADJ NOUN?
the NOUN of the JOB is too ADJ
On DAY the ADJ NOUNs VERB in CITY.
If the NOUN VERBs, VERB the NOUN.
NOUN NOUN NOUN
ADJ NOUN, ADJ NOUN, ADJ NOUN
My ADJ NOUN cannot VERB.
Let the NOUN VERB and the NOUN VERB.
There was once A:ADJ NOUN who lived PREP A:NOUN.
NAME sold NUMBER ADJ NOUNs to the JOB of CITY.
Neither the NOUN nor the NOUN was ADJ.
What A:ADJ NOUN!
NAME, please VERB the NOUN PREP the PLACE.
The NOUN is as ADJ as A:NOUN.
She will VERB ADV, but he will VERB ADV.
I saw NAME VERB PREP the ADJ NOUN.
VERB, VERB, VERB!
You may VERB the NOUN, not the NOUN.
NAME dreams of A:ADJ NOUN and of FOOD.
Which NOUN is more ADJ, NAME?
The ADJ JOB from CITY VERBs ADV.
Mind the NOUN, it is ADJ.
her COLOUR NOUN, his ADJ NOUN, our NOUNs
All NOUNs in CITY are ADJ and COLOUR.
Nobody heard the NOUN VERB last DAY.
A:NOUN, A:NOUN and NUMBER ADJ NOUNs
Before the NOUN VERBs, NAME VERBs ADV.
they found COLOUR NOUNs PREP A:NOUN
The older the NOUN, the more ADJ the NOUN.
To VERB or to VERB, asked the NOUN.
""".strip().splitlines())
_LISTS: dict[str, tuple[str, ...]] = {
    "COLOUR": tuple(COLOUR_NAMES), "JOB": tuple(JOBS), "THINGS": tuple(THINGS), "PLACE": tuple(PLACES), "NAME": tuple(NAMES),
    "CITY": tuple(CITIES), "FOOD": tuple(FOODS), "OBJECT": tuple(OBJECTS), "DAY": tuple(DAYS),
    "NOUN": NOUNS, "VERB": VERBS, "ADJ": ADJECTIVES, "ADV": ADVERBS, "PREP": PREPOSITIONS,
}
_SLOT = re.compile(rf"(A:)?({'|'.join(sorted(_LISTS, key=len, reverse=True))}|NUMBER)(s\b)?")


def sentence(rng: random.Random) -> str:
    """One pattern with its words put in."""
    pattern = rng.choice(_PATTERNS)
    text = _SLOT.sub(lambda slot: _word(rng, bool(slot[1]), slot[2], bool(slot[3])), pattern)
    return first_upper(text) if pattern[0].isupper() else text


def _word(rng: random.Random, indefinite: bool, kind: str, with_s: bool) -> str:
    word = str(rng.randint(2, 99)) if kind == "NUMBER" else rng.choice(_LISTS[kind])
    if with_s:
        word = _with_s(word)
    return article(word) if indefinite else word


def _with_s(word: str) -> str:
    """The plural of a noun or the third person of a verb, by rule."""
    if word.endswith(("s", "sh", "ch", "x", "z")):
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"
