"""How a user may word a request, and the shape of a chat.

Templates are written in one text, separated by "|", in lower case and mostly without a final mark. In a
template [a/b] is a or b, <part> is one of the templates of that part, and {field} is replaced last.
"""

import functools
import random
import re

Chat = list[tuple[str, str]]  # (role, text) in order; roles are "user" and "assistant"

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_PART = re.compile(r"<(\w+)>")
_COPIED = "{text}"  # the text that the user wants copied: nothing may follow it
_UNTOUCHED = (_COPIED, "{word}", '"')  # no capital letter for what begins with one of these
_ORDERS = frozenset("count tell give say write name list spell calculate compute solve show explain describe repeat add take "
                    "subtract multiply copy echo type reply answer work figure remind start begin go put teach help make "
                    "print recite quote transcribe mirror reduce lower summarise shorten double halve divide find compare recall "
                    "pick choose run try read".split())
_SHORT_ORDERS = ("let ", "let's ", "be ", "do it", "do the same", "do not", "turn ", "listen", "play ", "in short", "again, ", "now ", "then ",
                 "instead ", "without ", "for a game", "one of ", "just one ", "all but ")  # no "can you" before these
_NOT_ORDERS = ("name of", "double {", "go on", "take that", "read this", "make it", "make that")
_ASKS = frozenset("what what's which who where when how is are does do can will did was has have would could".split())
_MANNERS = ("[can/could/would/will] you [please /]%s?", "please %s", "please %s", "i [want/need] you to %s", "i [would like/'d like] "
            "you to %s", "go ahead and %s", "try to %s", "your task: %s", "[first/ok/now], %s", "[hey/hi/hello], %s",
            "be so kind and %s", "[let us see you/let me see you] %s", "next task: %s", "would you mind? %s")
_OPENINGS = ("do you know? %s", "tell me: %s", "[quick/one/a short/another] question: %s", "[hey/hi/hello/ok/so/well], %s",
             "i [wonder/ask myself]: %s", "my [son/daughter/friend/teacher/neighbour] asks: %s", "%s, do you know?",
             "%s, can you tell me?", "%s, [any idea/please]?", "i have [a/one/a small] question. %s", "help me out: %s",
             "excuse me, %s", "please tell me, %s", "let me ask you [this/something]: %s", "i am not sure: %s")
_REMARKS = ("[by the way/just so you know/hi/hey/hello/ok/well/so/oh], %s", "one thing about me: %s", "fyi: %s",
            "%s, [by the way/you know/just so you know]", "let me tell you something: %s", "listen: %s", "i want to tell you that %s")
_TURNED = re.compile(r"(what|where|how much) (?:is|are) ((?:the |my |half |\{)[^,.:;?|]*)")
_NOT_TURNED = (" called", " like", " now", " for", " today", " from", " in", " live", " made of")


def exchange(question: str, answer: str) -> Chat:
    """One question and its answer."""
    return [("user", question), ("assistant", answer)]


def chosen(rng: random.Random, templates: str, **parts: str) -> str:
    """One of the templates, with its choices made and its parts put in; its fields are still in braces."""
    template = rng.choice(_split(templates))
    template = _PART.sub(lambda part: chosen(rng, parts[part[1]], **parts), template)
    return _CHOICE.sub(lambda choice: rng.choice(choice[1].split("/")), template).strip()


def wording(rng: random.Random, templates: str, end: str = "?", **fields: object) -> str:
    """Picks one of the templates, varies its politeness and its style, and puts the fields in.

    end is "." for what the user tells, and "?" for what he asks or orders. The style changes only
    the template: what the user wants to have copied stays as it is. Another field gets a capital
    letter where it begins the text.
    """
    template, mark = _with_manners(rng, chosen(rng, templates), end)
    if rng.random() < 0.04:
        template = _misspelt(rng, template)
    if template.endswith((_COPIED, '"', "?", "!", ".", "=", ":")):
        mark = ""
    return _styled(rng, template, mark, fields)


@functools.cache
def _split(templates: str) -> tuple[str, ...]:
    return tuple(template.strip() for template in templates.split("|"))


def _with_manners(rng: random.Random, template: str, end: str) -> tuple[str, str]:
    """The template, sometimes inside a longer sentence, and the mark (".", "?") that belongs at its end."""
    first = template.split(" ", 1)[0].rstrip(",:?")
    if end == ".":
        return _inside(rng, template, 0.07, _REMARKS), end
    if first in _ORDERS and not template.startswith(_NOT_ORDERS):
        return _inside(rng, template, 0.28, _MANNERS), "."
    if first == "i" or template.startswith(_SHORT_ORDERS):
        return template, "."
    if first in _ASKS and _COPIED not in template:
        if rng.random() < 0.2 and (turned := _indirect(rng, template)):
            return turned, "?" if turned.startswith(("do", "can", "could", "any", "are")) else "."
        return _inside(rng, template, 0.12, _OPENINGS), end
    return template, rng.choice((end, end, "."))


def _inside(rng: random.Random, template: str, share: float, frames: tuple[str, ...]) -> str:
    """With probability share, the template inside one of the frames. A template that must end the text is put only in a frame that adds
    nothing after it."""
    if rng.random() >= share:
        return template
    frame = chosen(rng, rng.choice(frames))
    if "%s" != frame[-2:] and (_COPIED in template or template.endswith(("?", ".", '"'))):
        return template
    return frame.replace("%s", template)


def _indirect(rng: random.Random, template: str) -> str:
    """"what is the capital of x" as "do you know what the capital of x is"; empty for a question that cannot be turned like that."""
    match = _TURNED.fullmatch(template)
    if not match or match[2].endswith(_NOT_TURNED):
        return ""
    verb = "are" if " are " in template else "is"
    start = chosen(rng, "[can/could] you [tell/teach] me | do you [know/remember] | tell me | i [would like/want/need] to know | "
                        "i [wonder/forgot/wish to know] | any idea | are you able to say | please tell me")
    return f"{start} {match[1]} {match[2]} {verb}"


def _styled(rng: random.Random, template: str, mark: str, fields: dict[str, object]) -> str:
    """The text with its mark and its fields. Six of ten have proper capitals; of the others some begin with a small letter, some lack the
    mark, some both."""
    style = rng.random()
    if style < 0.6:
        template = re.sub(r"\bi\b", "I", template)
        template = re.sub(r"([.!?] |\n)([a-z])", lambda m: m[1] + m[2].upper(), template)
    text = template.format(**fields)
    if (style < 0.6 or style > 0.9) and not template.startswith(_UNTOUCHED):
        text = first_upper(text)
    return text + mark if style < 0.75 else text


def _misspelt(rng: random.Random, template: str) -> str:
    """Drops a letter of one word, or swaps two. The word has four letters or more and is no field."""
    words = [m for m in re.finditer(r"(?<![{\w])[a-z]{4,}(?![}\w])", template)]
    if not words:
        return template
    start = rng.choice(words).start() + 1
    if rng.random() < 0.5:
        return template[:start] + template[start + 1:]
    return template[:start] + template[start + 1] + template[start] + template[start + 2:]


def first_upper(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def article(noun: str) -> str:
    """The noun with "a" or "an"."""
    return ("an " if noun[0].lower() in "aeiou" else "a ") + noun


def joined(items: list[str]) -> str:
    """"a, b, c." as the model answers with a list."""
    return ", ".join(items) + "."


def listed(items: list[str]) -> str:
    """"a, b and c"."""
    return ", ".join(items[:-1]) + " and " + items[-1] if len(items) > 1 else items[0]
