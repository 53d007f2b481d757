"""Reads the public dialogues named in NOTICE from clones of their publishers' repositories.

A clone may be bare, and may lack large files. The files that it has are read through git.
"""
import csv
import io
import json
import subprocess
from pathlib import Path
from typing import Iterator

from vocabulary import Chat

PUBLIC = {
    "sgd": "dstc8-schema-guided-dialogue",
    "tm4": "Taskmaster",
    "spc": "Synthetic-Persona-Chat",
}


def _git(clone: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(clone), *arguments], capture_output=True, check=False)
    return done.stdout.decode("utf8", "replace")


def _files(clone: Path) -> list[str]:
    """Paths at HEAD whose content the clone has."""
    rows = (line.split(maxsplit=4) for line in _git(clone, "ls-tree", "-r", "-l", "HEAD").splitlines())
    return [path for _, _, _, size, path in rows if size != "BAD"]


def _clean(text: str) -> str:
    return " ".join(text.split())


def _joined(turns: Chat) -> Chat:
    """Joins successive turns of one speaker, and drops turns before the user's first one."""
    out: Chat = []
    for role, text in turns:
        if out and out[-1][0] == role:
            out[-1] = (role, out[-1][1] + " " + text)
        elif out or role == "user":
            out.append((role, text))
    return out


def schema_guided(clone: Path) -> Iterator[Chat]:
    for path in _files(clone):
        if "dialogues_" not in path or path.startswith("sgd_x"):
            continue
        for dialogue in json.loads(_git(clone, "show", "HEAD:" + path)):
            yield _joined([("user" if t["speaker"] == "USER" else "assistant", _clean(t["utterance"])) for t in dialogue["turns"]])


def taskmaster(clone: Path) -> Iterator[Chat]:
    for path in _files(clone):
        if not path.startswith("TM-4-2024/data/"):
            continue
        for dialogue in json.loads(_git(clone, "show", "HEAD:" + path)):
            turns = ((u.get("speaker"), u.get("text")) for u in dialogue["utterances"])
            yield _joined([("user" if who == "user" else "assistant", _clean(text)) for who, text in turns if text])


def persona_chat(clone: Path) -> Iterator[Chat]:
    csv.field_size_limit(10**8)
    for path in _files(clone):
        if not path.endswith(".csv"):
            continue
        for row in list(csv.reader(io.StringIO(_git(clone, "show", "HEAD:" + path))))[1:]:
            turns: Chat = []
            for line in row[2].splitlines():
                who, _, text = line.partition(":")
                if text and "[" not in text and who.strip() in ("User 1", "User 2"):
                    turns.append(("user" if who.strip() == "User 1" else "assistant", _clean(text)))
            yield _joined(turns)


def public(folder: Path) -> Iterator[tuple[str, Chat]]:
    """Yields the source and the chat of each public dialogue with at least one answer. folder holds the clones under their names in PUBLIC."""
    readers = {"sgd": schema_guided, "tm4": taskmaster, "spc": persona_chat}
    for source, name in PUBLIC.items():
        for chat in readers[source](folder / name):
            if len(chat) > 1:
                yield source, chat
