"""Makes the training data: a stream of tokens for each source, and the dialogues that are left out of it for the evaluation.

usage: python prepare.py --public CLONES --out DATA [--vocabulary FILE] [--left-out HOLDOUT.jsonl] [--variants N] [--drills N]

CLONES holds clones named as in sources.PUBLIC; without --public only our own text is used (a smoke test).
DATA gets vocabulary.json, SOURCE.npz (ids, who, starts) for each source and holdout.jsonl.
"""
import argparse
import collections
import json
import random
import re
from pathlib import Path

import numpy as np

import drills
import lessons
import sources
from vocabulary import Chat, Vocabulary, learn

HERE = Path(__file__).parent
HELD_OUT = 0.05


def read_held(holdout: Path) -> dict[str, list[Chat]]:
    """Reads the dialogues of a file holdout.jsonl, by source."""
    held = collections.defaultdict(list)
    for line in holdout.read_text().splitlines():
        dialogue = json.loads(line)
        held[dialogue["source"]].append([tuple(turn) for turn in dialogue["turns"]])
    return held


def questions(chats: list[Chat]) -> set[str]:
    """Returns the first message of each chat, in normal form."""
    return {lessons.normal(chat[0][1]) for chat in chats}


def split_public(folder: Path, most: int, rng: random.Random, before: dict[str, list[Chat]]) -> tuple[dict[str, list[Chat]], dict[str, list[Chat]]]:
    train, held = collections.defaultdict(list), collections.defaultdict(list)
    seen: set[str] = set()
    left_out = {json.dumps(chat) for source in before for chat in before[source]}
    for source, chat in sources.public(folder):
        text = json.dumps(chat)
        if text not in seen:
            seen.add(text)
            (held if (text in left_out if before else rng.random() < HELD_OUT) else train)[source].append(chat)
    for source in train:
        train[source], held[source] = train[source][:most], held[source][: int(most * HELD_OUT)]
    return train, held


def split_lessons(taught: list[lessons.Lesson], variants: int, rng: random.Random, before: list[Chat]) -> tuple[list[Chat], list[Chat]]:
    """Leaves out one in twenty of the questions, also with other case and punctuation. A chat has one to three of the lessons, so that
    the model learns to answer in the middle of a chat, too."""
    asked = {lessons.normal(q) for l in taught for q in l.questions}
    left_out = questions(before) or set(rng.sample(sorted(asked), int(len(asked) * HELD_OUT)))
    held = [[("user", q), ("assistant", l.answers[0])] for l in taught for q in l.questions if lessons.normal(q) in left_out]
    train: list[Chat] = []
    for _ in range(variants):
        exchanges: list[Chat] = [l.chat for l in taught if l.chat]
        for lesson in taught:
            for question in lesson.questions:
                asked_so = lessons.varied(question, rng)
                if not {lessons.normal(question), lessons.normal(asked_so)} & left_out:
                    exchanges.append([("user", asked_so), ("assistant", rng.choice(lesson.answers))])
        rng.shuffle(exchanges)
        at = 0
        while at < len(exchanges):
            count = rng.choice((1, 1, 1, 1, 2, 3))
            train.append([turn for e in exchanges[at : at + count] for turn in e])
            at += count
    return train, held


def spoken(chats: dict[str, list[Chat]]) -> tuple[str, ...]:
    """Returns the sentences of four to twelve words in the chats."""
    found = {part for source in sorted(chats) for chat in chats[source] for _, text in chat for part in re.split(r"(?<=[.!?])\s", text)}
    return tuple(sorted(part for part in found if 4 <= len(part.split()) <= 12 and part.isascii() and part.isprintable() and not set(part) & set("\"\\`{}")))


def split_drills(count: int, seed: int, spoken: tuple[str, ...], before: list[Chat]) -> tuple[list[Chat], list[Chat]]:
    train = list(drills.drills(random.Random(seed), count, spoken))
    if before:
        left_out = questions(before)
        return [c for c in train if lessons.normal(c[0][1]) not in left_out], before
    taught = {json.dumps(c) for c in train}
    asked = questions(train)
    held = [c for c in drills.drills(random.Random(seed + 1), 600, spoken) if json.dumps(c) not in taught and lessons.normal(c[0][1]) not in asked]
    return train, held


# A user line of the exam with at most SHORT characters only leads up to a question, in words that anybody may use ("Name three fruits."). So
# it may be trained on.
SHORT = 20


def examined(folder: Path) -> set[str]:
    """Returns the user lines of the exam, in normal form."""
    lines = (line for path in folder.glob("*.txt") for line in path.read_text().splitlines())
    return {lessons.normal(line.partition(":")[2]) for line in lines if line.startswith("user:")}


def unseen(file: Path) -> set[str]:
    """Returns the lines of unseen visitors, in normal form. None of them is trained on, however short it is."""
    return {lessons.normal(line.partition(":")[2]) for line in file.read_text().splitlines() if line.startswith("user:")}


def asks_one_of(chat: Chat, examined: set[str], unseen: set[str]) -> bool:
    """Reports whether the user says something in the chat that must not be trained on."""
    said = [(lessons.normal(text), len(text)) for role, text in chat if role == "user"]
    return any(text in unseen or text in examined and length > SHORT for text, length in said)


def write_stream(path: Path, chats: list[Chat], vocabulary: Vocabulary) -> int:
    ids, who, starts = [], [], []
    for chat in chats:
        starts.append(len(ids))
        chat_ids, chat_who = vocabulary.chat(chat)
        ids += chat_ids + [vocabulary.end_of_text]
        who += chat_who + [0]
    np.savez(path, ids=np.array(ids, np.uint16), who=np.array(who, np.uint8), starts=np.array(starts, np.int64))
    return len(ids)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--public", type=Path)
    options.add_argument("--text", type=Path, default=HERE / "text")
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--vocabulary", type=Path, help="use this one instead of learning one")
    options.add_argument("--left-out", type=Path, help="the holdout.jsonl of a checkpoint to go on from: leave out the same dialogues, no others")
    options.add_argument("--most", type=int, default=2000, help="dialogues of each public source; the rest is not used")
    options.add_argument("--variants", type=int, default=6, help="how often each question is varied")
    options.add_argument("--drills", type=int, default=60000)
    options.add_argument("--seed", type=int, default=7)
    chosen = options.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)

    rng = random.Random(chosen.seed)
    before = read_held(chosen.left_out) if chosen.left_out else collections.defaultdict(list)
    train, held = split_public(chosen.public, chosen.most, rng, before) if chosen.public else (collections.defaultdict(list), collections.defaultdict(list))
    said = spoken(train)
    known = lessons.placeholders(chosen.text / "placeholders.json")
    for name in ("program", "general"):
        train[name], held[name] = split_lessons(lessons.read(chosen.text / name, known), chosen.variants, rng, before[name])
    train["drills"], held["drills"] = split_drills(chosen.drills, chosen.seed, said, before["drills"])

    copying = random.Random(chosen.seed + 2)
    # The drills have copying in them already. It takes the most practice, so it has a source of its own as well.
    train["copying"] = [drills.copying(copying, said) for _ in range(chosen.drills // 4)]
    first = random.Random(chosen.seed + 3)
    train["visitors"] = [drills.visitors(first) for _ in range(chosen.drills // 4)]

    asked, said_only = examined(HERE / "exam"), unseen(HERE.parent / "visitors-unseen.txt")
    for source, chats in train.items():
        train[source] = [c for c in chats if not asks_one_of(c, asked, said_only)]
        print(f"{source}: {len(chats) - len(train[source])} chats with a question of the exam, or of unseen visitors, dropped")

    if chosen.vocabulary:
        vocabulary = Vocabulary.read(chosen.vocabulary)
    else:
        vocabulary = learn(text for chats in train.values() for chat in chats for _, text in chat)
    vocabulary.write(chosen.out / "vocabulary.json")
    for source, chats in train.items():
        rng.shuffle(chats)
        tokens = write_stream(chosen.out / f"{source}.npz", chats, vocabulary)
        print(f"{source}: {len(chats)} chats, {tokens} tokens; {len(held.get(source, ()))} left out")
    with open(chosen.out / "holdout.jsonl", "w") as out:
        for source, chats in held.items():
            for chat in chats:
                out.write(json.dumps({"source": source, "turns": chat}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
