#!/usr/bin/env python3
"""Chats made by rule, as many as wanted, that teach skills more than facts.

Counting, copying, remembering what was told, answering follow-up questions, small facts
and sums, greetings, and admitting what the model does not know. Every answer has one canonical
form: that is easier to learn for a tiny model, and easier to predict for its draft.

    python3 drills.py --count 5 --seed 1      # show some
"""

import argparse
import functools
import json
import random
from collections.abc import Callable, Iterator

from drill.arithmetic import arithmetic
from drill.context import context
from drill.copying import copying
from drill.counting import counting
from drill.facts import facts
from drill.followups import followups
from drill.refusals import refusals
from drill.speech import Chat
from drill.visitors import visitors

# skill: how often it is drawn, in proportion to the others
SHARES: dict[Callable[[random.Random], Chat], float] = {
    copying: 0.32, context: 0.2, followups: 0.16, facts: 0.09, refusals: 0.08, counting: 0.05, arithmetic: 0.1, visitors: 0.05,
}


def drills(rng: random.Random, count: int, spoken: tuple[str, ...] = ()) -> Iterator[list[tuple[str, str]]]:
    """Yields count chats; each is a list of (role, text) that starts with "user" and ends with "assistant". spoken are
    sentences to be copied, in addition to our own."""
    skills = {functools.partial(skill, spoken=spoken) if skill is copying else skill: share for skill, share in SHARES.items()}
    for _ in range(count):
        yield rng.choices(list(skills), list(skills.values()))[0](rng)


def main() -> None:
    """Prints chats, one JSON list per line."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for chat in drills(random.Random(options.seed), options.count):
        print(json.dumps(chat))


if __name__ == "__main__":
    main()
