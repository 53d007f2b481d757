"""Prints min, median and max of the runs in a file of JSON lines, and in how many of them each aim was reached.

    summary.py LOG TYPE    TYPE of the weights, "real" for a real file, or "pair" for runs of the demo pair
"""
import json
import statistics
import sys

log, kind = sys.argv[1:]
with open(log, encoding="utf-8") as lines:
    runs = [json.loads(line) for line in lines]


def show(name, of, digits, aim=""):
    """Prints a line of the table; an aim is "≥ x" or "≤ x"."""
    values = [of(run) for run in runs]
    figures = "".join(f"{v:9.{digits}f}" for v in (min(values), statistics.median(values), max(values)))
    if aim:
        bound = float(aim[1:])
        reached = sum(v >= bound if aim[0] == "≥" else v <= bound for v in values)
        aim = f"   {aim}: {reached} of {len(values)}"
    print(f"  {name:<38}{figures}{aim}")


def peer(run, part, key, tokens):
    """Tokens a second of llama.cpp, with the better of its flags."""
    return max(r["avg_ts"] for r in run[part] if r[key] == tokens)


def ours(run, figure, tokens):
    return next(r[figure] for r in run["ours"] if r["promptTokens"] == tokens)


def rows(m, name="kernels"):
    return lambda run: next(v["ratio"] for v in run[name]["verifications"] if v["m"] == m)


def of_reading(run):
    """The product of one row with the largest matrix, in percent of the speed at which memory can be read."""
    single = [p for p in run["kernels"]["products"] if p["m"] == 1]
    largest = max(single, key=lambda p: p["rows"] * p["cols"])
    return 100 * largest["ofReading"]


def one_row(run):
    return run["kernels"]["verifications"][0]


AIMS = {  # of decoding, decoding after 4,096 tokens and more, and prefill
    "Q8_0": ("≥ 1.2", "≥ 1.5", "≥ 1.5"),
    "Q4_K": ("≥ 1.2", "≥ 1.5", "≥ 1.5"),
    "F16": ("≥ 1.0", "≥ 1.5", "≥ 1.2"),
    "real": ("≥ 1.3", "≥ 1.5", "≥ 1.5"),
}


def shape():
    decode_aim, deep_aim, prefill_aim = AIMS[kind]
    table = [("decode", "n_depth", "decodePerS"), ("prefill", "n_prompt", "prefillPerS")]
    for part, key, figure in table:
        for tokens in sorted({r[key] for r in runs[0][part]}):
            what = f"decode after {tokens}" if part == "decode" else f"prefill of {tokens}"
            aim = prefill_aim if part == "prefill" else deep_aim if tokens >= 4096 else decode_aim
            show(f"{what}, tokens/s, llama.cpp", lambda r: peer(r, part, key, tokens), 1)
            show(f"{what}, tokens/s, specula", lambda r: ours(r, figure, tokens), 1)
            show("  ratio", lambda r: ours(r, figure, tokens) / peer(r, part, key, tokens), 2, aim)
    show("5 rows to one", rows(5), 2, "≤ 1.15")
    show("9 rows to one", rows(9), 2, "≤ 1.35")
    show("one row, % of reading", of_reading, 0, "≥ 90")
    show("one row, % waiting", lambda r: 100 * one_row(r)["waitingMS"] / one_row(r)["ms"], 1, "≤ 10")
    show("reading, GB/s", lambda r: r["kernels"]["ceilings"]["readBytesPerS"] / 1e9, 1)
    if runs[0]["ours"][0]["residentBytes"]:
        allowed = lambda r: r["weightBytes"] + r["cacheBytes"] + (64 << 20)
        show("resident to allowed memory", lambda r: max(o["residentBytes"] / allowed(o) for o in r["ours"]), 2, "≤ 1.1")


def peer_speculation(run):
    return max(figure["tokensPerS"] for length, figure in run["peer"].items() if length != "plain")


def pair():
    show("llama.cpp, tokens/s, plain", lambda r: r["peer"]["plain"]["tokensPerS"], 0)
    show("llama.cpp, tokens/s, speculating", peer_speculation, 0)
    show("specula, tokens/s, plain", lambda r: 1000 / r["draft"]["baseline_e2e_tpot_ms"], 0)
    show("specula, tokens/s, speculating", lambda r: 1000 / r["draft"]["spec_e2e_tpot_ms"], 0)
    show("  ratio", lambda r: 1000 / r["draft"]["spec_e2e_tpot_ms"] / peer_speculation(r), 2, "≥ 2")
    show("two threads to one", lambda r: r["two"]["decodePerS"] / r["one"]["decodePerS"], 2, "≥ 1")
    show("5 rows to one", rows(5), 2, "≤ 1.6")
    show("9 rows to one", rows(9), 2, "≤ 2.2")
    gains = [("draft", "≥ 1.3", "≥ 1.2"), ("hot", "", "≥ 0.99"), ("ngram", "≥ 0.99", "≥ 0.99"),
             ("hostile", "≥ 0.99", "≥ 0.99"), ("hostileHot", "", "≥ 0.99")]
    for name, greedy, sampled in gains:
        show("texts the same, of 50", lambda r: r[name]["same"], 0, "≥ 50")
        if greedy:
            show(f"{name}, temperature 0", lambda r: r[name]["greedy"]["speedup"]["value"], 3, greedy)
        show(f"{name}, temperature {0.7 if greedy else 1.5}", lambda r: r[name]["sampled"]["speedup"]["value"], 3, sampled)


print("  " + " " * 38 + "".join(f"{t:>9}" for t in ("min", "median", "max")) + "   aim: reached in")
pair() if kind == "pair" else shape()
