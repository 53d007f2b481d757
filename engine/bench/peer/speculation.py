"""Tells how fast llama.cpp's own speculation writes with a pair of models, as a line of JSON.

    speculation.py LLAMA-SERVER TARGET DRAFT PROMPTS THREADS

It asks for greedy replies of up to 64 tokens to each line of the file PROMPTS, without speculation and with several
draft lengths. A figure is tokens per second of all replies together, without the time that the prompts take.
"""
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

LENGTHS = (2, 4, 8, 16)
SECONDS_TO_START = 60


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def post(port, path, body):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def await_server(process, port):
    end = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < end:
        if process.poll() is not None:
            sys.exit(f"llama-server ended with {process.returncode}")
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    sys.exit(f"llama-server did not answer within {SECONDS_TO_START} s")


def measure(server, flags, prompts):
    """Returns tokens per second, and the share of drafted tokens that were accepted."""
    port = free_port()
    process = subprocess.Popen([server, "--port", str(port), "-np", "1", *flags], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        await_server(process, port)
        tokens = milliseconds = drafted = accepted = 0
        for timed in (False, True):  # the first turn warms up
            for prompt in prompts if timed else prompts[:5]:
                body = {"messages": [{"role": "user", "content": prompt}], "max_tokens": 64, "temperature": 0, "cache_prompt": False}
                timings = post(port, "/v1/chat/completions", body)["timings"]
                if timed:
                    tokens += timings["predicted_n"]
                    milliseconds += timings["predicted_ms"]
                    drafted += timings.get("draft_n", 0)
                    accepted += timings.get("draft_n_accepted", 0)
        return {"tokensPerS": 1000 * tokens / milliseconds, "tokens": tokens, "acceptance": accepted / drafted if drafted else 0}
    finally:
        process.terminate()
        process.wait()


server, target, draft, file, threads = sys.argv[1:]
with open(file, encoding="utf-8") as lines:
    prompts = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
common = ["-m", target, "-t", threads, "-c", "1024"]
result = {"plain": measure(server, common, prompts)}
for length in LENGTHS:
    speculate = ["-md", draft, "-td", threads, "--spec-type", "draft-simple", "--spec-draft-n-max", str(length)]
    result[str(length)] = measure(server, common + speculate, prompts)
print(json.dumps(result))
