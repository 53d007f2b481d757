"""What many people type first: a greeting, "who are you", both in one message, or a small sum."""

import random

from .arithmetic import one_digit
from .speech import Chat, chosen, exchange, first_upper, wording

_HELLO = "Hello! How can I help you?"
_FRIEND = "Hello, friend! How can I help you?"
_MORNING = "Good morning! I hope you slept well."
_AFTERNOON = "Good afternoon! How can I help you?"
_EVENING = "Good evening! How was your day?"
_FINE = "I am fine, thank you. How are you?"
_NEWS = "Not much. I am here and ready to chat. What is up with you?"
_MEET = "Nice to meet you too! How can I help you?"
_HERE = "Yes, I am here. How can I help you?"
_DOCENT = "I am the docent, the small language model inside specula. I explain what you see on the screen."
_NAME = "I am the docent. A docent is a guide who explains what you see."
_MAKERS = "I was trained by the makers of specula. I am the small model that is built into the program."
_MODEL = "I am the tiny demo model that is built into specula."
_OTHER = "No. I am the tiny demo model that is built into specula, much smaller than the well known chat models."
_CAN = "I can explain speculative decoding, this program and its keys. Ask me what the colours mean, what gamma is, or which key starts a race."
_PROGRAM = "specula is a chat in the terminal that shows speculative decoding while it happens: drafts, verdicts and live graphs."

# (ways to say it, answer). If a greeting stands before a question, the answer is to the question alone.
_ALONE = (
    ("hi | hello | hey | hi there | hello there | hey there | hi hi | hello hello | hello [docent/specula] | hi [docent/specula] | hi everyone | "
     "hello everybody | a warm hello | good day | good day to you | hello from me | hi, little one | oh, hello | so, hello", _HELLO),
    ("yo | howdy | heya | hey [you/friend/buddy/mate] | hello, [my /]friend | hi, my friend | greetings | greetings to you", _FRIEND),
    ("good morning | morning | hi, good morning | good morning, docent", _MORNING),
    ("good afternoon | hello, good afternoon | good afternoon, docent", _AFTERNOON),
    ("good evening | hi, good evening | good evening, docent", _EVENING),
)
_FRONT = ("hi | hello | hey | hi there | hello there | hey there | good [morning/afternoon/evening/day] | howdy | yo | greetings | "
          "hi docent | hello docent | oh hi | well hello | hello again")
_ASKED = (
    ("how are you | how are you [doing/today/feeling/doing today/this morning] | how do you feel [today/] | are you [well/fine/okay/all right] | "
     "how are you, my friend? | i hope you are well | and how are you", _FINE),
    ("what's up | what is up | whats up | what's new | what is new [with you/] | what's going on | what is happening | anything new", _NEWS),
    ("nice to meet you | [good/glad/pleased/lovely] to meet you | it is nice to meet you | a pleasure to meet you", _MEET),
    ("[is/are] [anyone/anybody] there? | are you there | anyone here | are you [awake/listening] | can you hear me", _HERE),
    ("who are you | and who are you | what are you | who is this | who is that | who's this | what are you exactly | who are you, please? | "
     "who am i [talking/writing/chatting] [to/with] | who do i talk to | are you [a human/a person/human/a robot/an ai/a machine/real/an assistant] | "
     "what kind of [model/ai/assistant/bot/program/thing] are you | [/please ]introduce yourself | [can/could/would] you introduce yourself | "
     "tell me about yourself | tell me who you are | tell me something about you | and you are? | you are? | may i ask who you are | "
     "i want to know who you are | i do not know you. who are you? | we have not met. who are you? | who is [here/it] | who is answering | "
     "what am i talking to | am i talking to a [human/machine/person/program] | who is on the other side", _DOCENT),
    ("what is your name | what's your name | your name | may i know your name | do you have a name | how should i call you | tell me your name | "
     "and your name is? | what do people call you | by the way, what is your name?", _NAME),
    ("who made you | who [created/trained/wrote/designed] you | who are your makers | where do you come from", _MAKERS),
    ("[what/which] model are you | what is the name of your model | [what/which] language model are you | what model do you use | "
     "[what/which] ai model is this", _MODEL),
    ("are you [ChatGPT/GPT/Claude/Gemini/Llama] | is this [ChatGPT/GPT/Claude]", _OTHER),
    ("what can you do | what can you do here | how can you help | how can you help me | what can i ask you | what should i ask | "
     "what do you know | what are you good [for/at] | tell me what you can do | what are you here for | what is your job | what is your purpose", _CAN),
    ("what is this program | what is this | what does this program do | what is specula | what am i looking at | explain this program | "
     "what is this program for | where am i", _PROGRAM),
)
_BETWEEN = ("! ", "! ", ", ", ", ", ". ", " ", " - ", "!! ")


def greeting(rng: random.Random) -> Chat:
    """A greeting, a first question, or a greeting and then a question. The answer is to what comes last."""
    if rng.random() < 0.25:
        ways, answer = rng.choice(_ALONE)
        return exchange(_marked(rng, chosen(rng, ways), "!"), answer)
    ways, answer = rng.choice(_ASKED + _ASKED[4:5] * 3)
    mark = "!" if answer == _MEET else "?"
    if rng.random() < 0.3:
        return exchange(_marked(rng, chosen(rng, ways), mark), answer)
    front, between, asked = chosen(rng, _FRONT), rng.choice(_BETWEEN), chosen(rng, ways)
    return exchange(_marked(rng, front + between + (asked if between[0] in ", " else first_upper(asked)), mark), answer)


def _marked(rng: random.Random, text: str, mark: str) -> str:
    """The text as people type it: sometimes with a capital letter, sometimes with a mark."""
    text = text.replace(" i ", " I ") if rng.random() < 0.7 else text.lower()
    text = first_upper(text) if rng.random() < 0.7 else text
    if text[-1] in "?!." or rng.random() < 0.3:
        return text
    return text + rng.choice((mark, mark, mark, "."))


def visitors(rng: random.Random) -> Chat:
    """One to three messages of a visitor, each with its answer."""
    chat: Chat = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        chat += greeting(rng) if rng.random() < 0.4 else sum_asked(rng)
    return chat


def sum_asked(rng: random.Random) -> Chat:
    """A sum, a difference or a product of one-digit numbers, sometimes with a greeting before it."""
    (_, question), answer = one_digit(rng)
    if rng.random() < 0.12:
        question = first_upper(chosen(rng, _FRONT)) + rng.choice(("! ", ", ")) + question
    return [("user", question), answer]
