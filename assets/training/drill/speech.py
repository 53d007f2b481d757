"""How a user may word a request, and the shape of a chat."""

import random
import re

Chat = list[tuple[str, str]]  # (role, text) in order; roles are "user" and "assistant"


def exchange(question: str, answer: str) -> Chat:
    """One question and its answer."""
    return [("user", question), ("assistant", answer)]


def wording(rng: random.Random, templates: str, end: str = "?", **fields: object) -> str:
    """Picks one of the templates (separated by "|"), varies its style and fills in the fields.

    Templates are lower case without a final mark. The style changes only the template, never
    a field: what the user wants to have copied stays as it is.
    """
    template = rng.choice([t.strip() for t in templates.split("|")])
    if rng.random() < 0.05:
        template = _misspelt(rng, template)
    style = rng.random()
    if style < 0.08 and not template.startswith(("please", "and", "now", "ok")):
        template = rng.choice(("please ", "hey, ", "ok, ", "and now ", "hi, ")) + template
    text = template.format(**fields)
    if style > 0.55:
        text = text[:1].upper() + text[1:]
    if style > 0.4 and not template.rstrip().endswith(("{text}", '"', "?", "!", ".")):
        text += end
    return text


def _misspelt(rng: random.Random, template: str) -> str:
    """Drops or swaps a letter in one longer word outside the braces."""
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
    """"a, b, c." as lists are answered."""
    return ", ".join(items) + "."
