"""Runs a program and tells as JSON how long it took and how much memory it had resident at most.

    load.py COMMAND …
"""
import json
import resource
import subprocess
import sys
import time

start = time.monotonic()
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
seconds = time.monotonic() - start
if done.returncode:
    sys.exit(done.stderr)
print(json.dumps({"seconds": seconds, "residentBytes": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10}))
