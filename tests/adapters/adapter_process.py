"""Speaks poolproof's adapter protocol to a child process, for tests in Python."""

import json
import os
import subprocess
import sys

ADAPTERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "adapters")
SGLANG_ADAPTER = os.path.normpath(os.path.join(ADAPTERS, "sglang_adapter.py"))
NO_LAST_LOC = [-1, 1]


class AdapterProcess:
    """One adapter: `hello` is its hello, `run` makes calls."""

    def __init__(self, *arguments, script=SGLANG_ADAPTER):
        self.process = subprocess.Popen(
            [sys.executable, script, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            self.hello = self.exchange({"poolproof": 1, "hello": {"version": "test"}})
        except Exception:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.close()

    def close(self):
        """Ends the adapter as poolproof does, by closing its stdin; answers its exit status."""
        _rest, self.stderr = self.process.communicate()
        return self.process.returncode

    def exchange(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line.endswith("\n"):
            raise AssertionError(f"the adapter ended: {self.process.stderr.read()}")
        return json.loads(line)

    def reset(self, **geometry):
        """Geometry keys are the protocol's; what is left out is 0 or false."""
        whole = {"page": 1, "full": 0, "swa": 0, "ring": 0, "window": 0, "reqs": 0, "need_sort": False, **geometry}
        answer = self.exchange({"reset": whole})
        if answer != {"ok": True}:
            raise AssertionError(f"reset was answered {answer}")

    def run(self, *calls):
        """The answers of one line of calls."""
        return self.exchange({"run": list(calls)})["answers"]

    def call(self, name, **arguments):
        """The answer of one call on a line of its own."""
        (answer,) = self.run({"call": name, **arguments})
        return answer

    def gauges(self):
        return self.call("gauges")["gauges"]

    def census(self):
        return self.call("census")["census"]

    def pool(self, layout, page=1, ring=False):
        """The hello's entry for a kind of pool, or None."""
        for entry in self.hello["pools"]:
            smallest, largest = entry["page"]
            if entry["layout"] == layout and smallest <= page <= largest and ring in entry["ring"]:
                return entry
        return None


def expand(runs):
    """The locs of [first, count] runs."""
    return [first + i for first, count in runs for i in range(count)]


def as_runs(locs):
    """The same, without stretches: what any adapter must accept."""
    return [[loc, 1] for loc in locs]
