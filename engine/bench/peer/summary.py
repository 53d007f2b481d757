"""Prints min, median and max of the runs in a file of JSON lines, and in how many of them each aim was reached.

    summary.py results-PART-SHAPE-TYPE.jsonl    as ./run has written it
"""
import json
import pathlib
import statistics
import sys

log = pathlib.Path(sys.argv[1])
part, *what = log.stem.removeprefix("results-").split("-")
with open(log, encoding="utf-8") as lines:
    runs = [json.loads(line) for line in lines]
reached = []  # in how many runs, for each line with an aim


def show(name, of, digits, aim=""):
    """Prints a line of the table: the figure that of returns for each run. An aim is "≥ x" or "≤ x"."""
    values = [of(run) for run in runs]
    figures = "".join(f"{v:9.{digits}f}" for v in (min(values), statistics.median(values), max(values)))
    if aim:
        bound = float(aim[1:])
        reached.append(sum(v >= bound if aim[0] == "≥" else v <= bound for v in values))
        aim = f"   {aim}: {reached[-1]} of {len(values)}"
    print(f"  {name:<40}{figures}{aim}")


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


# The aims, by type of weights or by part: of decoding, of decoding after 4,096 tokens or more, and of prefill.
AIMS = {"F16": ("≥ 1.0", "≥ 1.5", "≥ 1.2"), "real": ("≥ 1.3", "≥ 1.5", "≥ 1.5"), "families": ("≥ 1.2", "≥ 1.2", "≥ 1.2"), "busy": ("≥ 1.0", "≥ 1.0", "≥ 1.0")}
OTHERS = ("≥ 1.2", "≥ 1.5", "≥ 1.5")


def passes():
    decode_aim, deep_aim, prefill_aim = AIMS.get(part, AIMS.get(what[-1], OTHERS))
    for kind, key, figure in [("decode", "n_depth", "decodePerS"), ("prefill", "n_prompt", "prefillPerS")]:
        for tokens in sorted({r[key] for r in runs[0][kind]}):
            name = f"decode after {tokens}" if kind == "decode" else f"prefill of {tokens}"
            aim = prefill_aim if kind == "prefill" else deep_aim if tokens >= 4096 else decode_aim
            show(f"{name}, tokens/s, llama.cpp", lambda r: peer(r, kind, key, tokens), 1)
            show(f"{name}, tokens/s, specula", lambda r: ours(r, figure, tokens), 1)
            show("  ratio", lambda r: ours(r, figure, tokens) / peer(r, kind, key, tokens), 2, aim)
    if runs[0]["ours"][0]["residentBytes"]:
        allowed = lambda r: r["weightBytes"] + r["cacheBytes"] + (64 << 20)
        show("resident to allowed memory", lambda r: max(o["residentBytes"] / allowed(o) for o in r["ours"]), 2, "≤ 1.1")
    if "kernels" in runs[0]:
        several_rows()


def several_rows():
    # The aims of several rows are stated for the shape of Qwen3-0.6B.
    five, nine = ("≤ 1.15", "≤ 1.35") if "0.6b" in what else ("", "")
    show("5 rows to one", rows(5), 2, five)
    show("9 rows to one", rows(9), 2, nine)
    show("one row, % of reading", of_reading, 0, "≥ 90")
    show("one row, % waiting", lambda r: 100 * one_row(r)["waitingMS"] / one_row(r)["ms"], 1, "≤ 10")
    show("reading, GB/s", lambda r: r["kernels"]["ceilings"]["readBytesPerS"] / 1e9, 1)


def load():
    show("seconds to the first tokens, llama.cpp", lambda r: r["peer"]["seconds"], 2)
    show("seconds to the first tokens, specula", lambda r: r["ours"]["seconds"], 2)
    show("  ratio", lambda r: r["ours"]["seconds"] / r["peer"]["seconds"], 2, "≤ 1.0")
    show("resident to file, llama.cpp", lambda r: r["peer"]["residentBytes"] / r["fileBytes"], 2)
    show("resident to file, specula", lambda r: r["ours"]["residentBytes"] / r["fileBytes"], 2, "≤ 1.1")


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


print(f"{' '.join([part, *what])}, runs in turn: {len(runs)}")
print("  " + " " * 40 + "".join(f"{t:>9}" for t in ("min", "median", "max")) + "   aim: reached in")
{"pair": pair, "load": load}.get(part, passes)()
print(f"  {len(reached)} aims: {reached.count(len(runs))} reached in all runs, {sum(2 * n > len(runs) for n in reached)} in most, {reached.count(0)} in none")
