"""What a user may tell about himself, with ways to tell it and to ask for it."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from .copying import invented
from .speech import article, first_upper
from .tables import (ANIMALS, CITIES, COLOUR_NAMES, COUNTRIES, DAYS, DRINKS, FOODS, FRUITS, GAMES, HOBBIES, INSTRUMENTS, JOBS,
                     MONTHS, NAMES, PET_NAMES, SEASONS)
from .words import NOUNS


@dataclass(frozen=True)
class Fact:
    """One thing that a user tells. {v} stands for its value. tell, direct, clause and noun are templates (speech.py)."""

    tell: str
    direct: str                              # "where do i live"
    clause: str                              # "where i live", after "do you remember"
    noun: str                                # "my city", after "tell me"
    told: str                                # the fact in the second person, as it follows "Good to know: "
    missing: str                             # the fact's name, as it follows "You have not told me "
    value: Callable[[random.Random], str]


# Templates in which the user asks for a fact; the direct question, the clause and the noun are those of Fact.
ASK_BACK = (
    "<direct> | <direct> | <direct> | <direct>, do you [still /]know? | <direct>, do you remember? | i forgot: <direct>? | "
    "[one more time/once again/again]: <direct>? | so, <direct> | now tell me: <direct>? | from what i told you: <direct>? | "
    "a small test: <direct>? | and <direct> | if you [were listening/listened/paid attention]: <direct>? | "
    "you [should/must] know this: <direct>? | let us see. <direct>? | quiz time! <direct>? | back to me: <direct>? | "
    "do you [still /]remember <clause> | do you still know <clause> | can you [tell/remind] me <clause> | tell me <clause> | "
    "did i [tell you/say/mention] <clause> | have i [told you/mentioned/said] <clause> | i told you <clause>. what was it? | "
    "i want to know [if you know /]<clause> | let us see if you [know/remember] <clause> | say <clause> | remind me <clause> | "
    "are you able to say <clause> | i am curious whether you remember <clause> | any idea <clause> | you know <clause>, right? | "
    "could you repeat <clause> | what did i say: <clause>? | [earlier/before/a moment ago] i told you <clause>. say it. | "
    "i wonder if you [remember/know/kept in mind] <clause> | is it clear to you <clause> | show me that you know <clause> | "
    "tell me again <clause> | would you still know <clause> | have you kept in mind <clause> | have you forgotten <clause> | "
    "<noun>? | <noun> | tell me <noun> | name <noun> | can you recall <noun> | do you [remember/know] <noun> | please say <noun> | "
    "<noun>, please | what did i say about <noun> | what did i tell you about <noun> | and <noun>? | repeat <noun> | "
    "do you have <noun> in mind | what do you know about <noun> | say <noun> | <noun>, do you [remember/know] it? | "
    "you remember <noun>, do you? | give me <noun> [again/once more] | about <noun>: what did i tell you? | "
    "have you noticed <noun> | i hope you did not forget <noun>")


def _name(rng: random.Random) -> str:
    return first_upper(invented(rng)) if rng.random() < 0.2 else rng.choice(NAMES)


def _city(rng: random.Random) -> str:
    return first_upper(invented(rng)) if rng.random() < 0.1 else rng.choice(CITIES)


def _one_of(values: list[str]) -> Callable[[random.Random], str]:
    return lambda rng: rng.choice(values)


def _favourite(kind: str, value: Callable[[random.Random], str]) -> Fact:
    return Fact(
        tell=f"my favourite {kind} is {{v}} | i like {{v}} best, it is my favourite {kind} | the {kind} i like most is {{v}} | "
             f"{{v}} is my favourite {kind} | of all {kind}s i [like/love] {{v}} [most/best] | my [best-loved/dearest] {kind} is {{v}} | "
             f"when it comes to my favourite {kind}, it is {{v}} | no {kind} is better than {{v}} for me, it is my favourite | "
             f"ask me for my favourite {kind} and i say {{v}} | my number one {kind} is {{v}} | for me the best {kind} is {{v}} | "
             f"if i had to choose a favourite {kind}, it would be {{v}} | my favorite {kind} is {{v}}",
        direct=f"what is my favourite {kind} | what's my favourite {kind} | which {kind} do i like [best/most] | "
               f"which {kind} is my favourite | what is my favorite {kind} | which {kind} do i love [most/best] | "
               f"what {kind} did i call my favourite | which is the {kind} i like [best/most]",
        clause=f"what my favourite {kind} is | which {kind} i like [best/most] | which {kind} is my favourite | what {kind} i love most",
        noun=f"my favourite {kind} | the {kind} i like [best/most] | my favorite {kind} | my number one {kind}",
        told=f"your favourite {kind} is {{v}}.", missing=f"your favourite {kind}", value=value)


def _named(kind: str, value: Callable[[random.Random], str]) -> Fact:
    """The name of a pet or of a person that the user knows."""
    return Fact(
        tell=f"my {kind} is called {{v}} | i have a {kind} called {{v}} | the name of my {kind} is {{v}} | my {kind}'s name is {{v}} | "
             f"i have a {kind}, and the name is {{v}} | {{v}} is the name of my {kind} | {{v}} is my {kind} | my {kind} is named {{v}} | "
             f"we call my {kind} {{v}} | there is {{v}}, my {kind} | meet {{v}}, my {kind} | i have a {kind} [with the name/named] {{v}} | "
             f"this is about my {kind}, [called/named] {{v}} | everyone calls my {kind} {{v}}",
        direct=f"what is my {kind} called | what is the name of my {kind} | how is my {kind} called | what is my {kind}'s name | "
               f"which name has my {kind} | how do i call my {kind} | what name does my {kind} have | what do we call my {kind} | "
               f"what did i say my {kind} is called",
        clause=f"what my {kind} is called | what the name of my {kind} is | how my {kind} is called | which name my {kind} has | "
               f"what my {kind}'s name is",
        noun=f"the name of my {kind} | my {kind}'s name | name of my {kind}",
        told=f"your {kind} is called {{v}}.", missing=f"the name of your {kind}", value=value)


NAME = Fact(
    tell="my name is {v} | i am {v} | i'm {v} | call me {v} | you can call me {v} | hi, i am {v} | hello, my name is {v} | "
         "people call me {v} | the name is {v} | they call me {v} | {v} is my name | {v} here | my friends call me {v} | i am called {v} | "
         "hello, {v} here | let me introduce myself: i am {v} | just call me {v} | i go by {v} | you are talking to {v} | "
         "my parents named me {v} | good [morning/evening/day], my name is {v} | hi there, i'm {v} | i am [known as/named] {v} | "
         "this is {v} speaking | first of all, my name is {v}",
    direct="what is my name | who am i | what am i called | what's my name | whats my name | how am i called | what do people call me | "
           "which name did i give you | what name do i have | what should you call me | what was my name | by what name do you know me | "
           "with whom are you talking | who is talking to you",
    clause="what my name is | who i am | what i am called | how i am called | which name i have | what people call me | "
           "who is talking to you",
    noun="my name | the name i gave you | my first name | the name i have",
    told="your name is {v}.", missing="your name", value=_name)

_HOME = Fact(
    tell="i live in {v} | my home is in {v} | i have a flat in {v} and live there | my city is {v} | i live and work in {v} | "
         "my house [is/stands] in {v} | {v} is where i live | {v} is my home | i moved to {v} and live there now | "
         "i have lived in {v} for years | the city i live in is {v} | you can find me in {v}, where i live | at the moment i live in {v} | "
         "my family and i live in {v} | i am at home in {v} | home for me is {v} | i am writing from {v}, where i live | i reside in {v}",
    direct="where do i live | which city do i live in | in which [city/town/place] do i live | what is my city | where is my home | "
           "where is my house | what city is my home | which place do i call home | in what city am i at home | where am i at home | "
           "what is the city i live in",
    clause="where i live | which city i live in | in which [city/town/place] i live | where my home is | what my city is | "
           "where i am at home | what place i call home",
    noun="my city | my home town | the city i live in | the place where i live | my place of living",
    told="you live in {v}.", missing="where you live", value=_city)

_ORIGIN = Fact(
    tell="i come from {v} | i was born in {v} and come from there | i am from {v} | my country is {v} | the country i come from is {v} | "
         "{v} is the country i come from | {v} is my country | i grew up in {v}, that is my country | originally i am from {v}",
    direct="which country do i come from | what is my country | which country am i from | from which country do i come | "
           "what country do i come from",
    clause="which country i come from | what my country is | which country i am from | what country i come from",
    noun="my country | the country i come from",
    told="you come from {v}.", missing="which country you come from", value=_one_of(list(COUNTRIES)))

_AGE = Fact(
    tell="i am {v} years old | my age is {v} | i am {v} | i turned {v} this year | i'm {v} years of age | i just became {v} years old | "
         "{v} is my age | i have been alive for {v} years | last week i turned {v} | at {v} years of age i still learn | "
         "i celebrated my birthday and am {v} now | i am a person of {v} years",
    direct="how old am i | what is my age | how many years old am i | which age did i tell you | how many years do i have",
    clause="how old i am | what my age is | how many years old i am", noun="my age | the age i have | how old i am",
    told="you are {v} years old.", missing="your age", value=lambda rng: str(rng.randint(6, 95)))

_JOB = Fact(
    tell="i am {v} | i work as {v} | my job is {v} | i work as {v} in a small town | i earn my money as {v} | by profession i am {v} | "
         "i have worked as {v} for years | my work is that of {v} | for a living i am {v} | at work i am {v} | i became {v} | "
         "i have a job as {v} | my profession is {v} | every day i go to work as {v} | i am employed as {v} | i do my work as {v}",
    direct="what is my job | what do i do for work | what do i work as | what do i do for a living | what is my profession | "
           "which job do i have | what kind of work do i do | how do i earn my money | what am i by profession | what is my work | "
           "what am i at work | as what do i work",
    clause="what my job is | what i do for [work/a living] | what i work as | which job i have | how i earn my money | "
           "what kind of work i do | what my profession is",
    noun="my job | my profession | my work | the job i have",
    told="you work as {v}.", missing="your job", value=lambda rng: article(rng.choice(JOBS)))

_BIRTHDAY = Fact(
    tell="my birthday is in {v} | i was born in {v} | i have my birthday in {v} | i celebrate my birthday in {v} | "
         "{v} is the month of my birthday | every {v} i have my birthday | i always get my presents in {v}, for my birthday | "
         "my birth month is {v} | in {v} i become a year older | the month i was born in is {v} | my birthday comes in {v}",
    direct="when is my birthday | in which month is my birthday | which month was i born in | when was i born | what is my birth month | "
           "in what month do i have my birthday | what month is my birthday in | when do i celebrate my birthday | "
           "which month is the month of my birthday",
    clause="when my birthday is | in which month my birthday is | which month i was born in | when i have my birthday | "
           "what my birth month is | when i celebrate my birthday",
    noun="the month of my birthday | my birth month | my birthday",
    told="your birthday is in {v}.", missing="when your birthday is", value=_one_of(MONTHS))

_CAR = Fact(
    tell="my car is {v} | i have a {v} car | the colour of my car is {v} | i drive a {v} car | i bought a {v} car | "
         "{v} is the colour of my car | "
         "my car has the colour {v} | i painted my car {v}",
    direct="what colour is my car | which colour has my car | what is the colour of my car | which colour does my car have | "
           "what color is my car | in which colour is my car",
    clause="what colour my car is | which colour my car has | what the colour of my car is", noun="the colour of my car | my car's colour",
    told="your car is {v}.", missing="the colour of your car", value=_one_of(COLOUR_NAMES))

_HOBBY = Fact(
    tell="my hobby is {v} | i like {v}, it is my hobby | {v} is my hobby | in my free time my hobby is {v} | "
         "my hobby has always been {v} | "
         "as a hobby i do {v} | i spend my free time with {v}, my hobby | the hobby i have is {v} | on weekends my hobby is {v}",
    direct="what is my hobby | which hobby do i have | what do i do in my free time | what hobby do i have | what did i call my hobby | "
           "how do i spend my free time",
    clause="what my hobby is | which hobby i have | what i do in my free time | how i spend my free time",
    noun="my hobby | the hobby i have | my free time hobby",
    told="your hobby is {v}.", missing="your hobby", value=_one_of(HOBBIES))

_INSTRUMENT = Fact(
    tell="i play {v} | i have learned to play {v} | my instrument is {v} | i practise {v} every day | the instrument i play is {v} | "
         "{v} is my instrument | in the school band i play {v}",
    direct="what instrument do i play | which instrument do i play | what is my instrument | what do i play in the band",
    clause="which instrument i play | what my instrument is | what instrument i play", noun="my instrument | the instrument i play",
    told="you play {v}.", missing="which instrument you play", value=lambda rng: "the " + rng.choice(INSTRUMENTS))

_WORD = Fact(
    tell="the secret word is {v} | remember the word {v} | the password of the game is {v} | keep this word in mind: {v} | "
         "please remember this word: {v} | the word to remember is {v} | i give you a word: {v} | do not forget the word {v} | "
         "our code word is {v} | here is a secret word: {v} | learn this word: {v} | the word of the day is {v}",
    direct="what is the secret word | which word did i tell you | what was the word | what is the word | which word should you remember | "
           "what word did i give you | what was the secret word | which word is it",
    clause="what the word is | which word i told you | what the secret word was | which word i gave you",
    noun="the word | the secret word | the word i gave you",
    told="the word is {v}.", missing="a word", value=lambda rng: rng.choice(NOUNS) if rng.random() < 0.6 else invented(rng))

_NUMBER = Fact(
    tell="remember the number {v} | keep the number {v} in mind | the code of the game is {v} | my lucky number is {v} | "
         "please remember this number: {v} | the number to remember is {v} | i give you a number: {v} | do not forget the number {v} | "
         "here is a number for you: {v} | the secret number is {v} | our secret number is {v} | note this number: {v}",
    direct="what is the number | which number did i tell you | what was the number | which number should you remember | "
           "what number did i give you | what was the secret number | which number is it",
    clause="what the number is | which number i told you | what the number was | which number i gave you",
    noun="the number | the number i gave you | the secret number",
    told="the number is {v}.", missing="a number", value=lambda rng: str(rng.randint(10, 9999)))

FACTS: tuple[Fact, ...] = (
    _favourite("colour", _one_of(COLOUR_NAMES)),
    _favourite("animal", lambda rng: "the " + rng.choice(list(ANIMALS))),
    _favourite("food", _one_of(FOODS)),
    _favourite("number", lambda rng: str(rng.randint(0, 99))),
    _favourite("day", _one_of(DAYS)),
    _favourite("game", _one_of(GAMES)),
    _favourite("drink", _one_of(DRINKS)),
    _favourite("season", _one_of(SEASONS)),
    _favourite("fruit", lambda rng: "the " + rng.choice(FRUITS)),
    *(_named(pet, _one_of(PET_NAMES)) for pet in ("dog", "cat", "parrot", "hamster", "rabbit")),
    *(_named(person, _name) for person in ("brother", "sister", "best friend", "son", "daughter", "teacher")),
    _HOME, _JOB, _AGE, _BIRTHDAY, _ORIGIN, _CAR, _HOBBY, _INSTRUMENT, _WORD, _NUMBER,
)
