#!/usr/bin/env python3
"""A paged and token pool that speaks poolproof's external protocol (docs/external.md). Copy it and put your own in.

    poolproof check --impl exec:'python3 adapters/template.py [--plant keeps-refused|double-free|assert]'

A planted fault is there to be caught: a refused batch loses a page, a page named twice is returned twice, an assertion.
"""
import json, sys

PLANT = sys.argv[2] if sys.argv[1:2] == ["--plant"] else ""


class Pool:
    """Pages 1..size/page; locs of page p are p*page .. p*page+page-1. Page 0 is padding."""

    def __init__(self, geometry):
        self.page, self.size = geometry["page"], geometry["full"]
        self.clear()

    def clear(self):
        self.free_pages = list(range(1, self.size // self.page + 1))
        self.group = None  # or the pages given back in the open free group

    def take(self, count):
        taken, self.free_pages = self.free_pages[:count], self.free_pages[count:]
        return taken

    def extend(self, prefix_lens, seq_lens, last_locs):
        pages_of = lambda tokens: -(-tokens // self.page)
        wanted = [pages_of(seq) - pages_of(prefix) for prefix, seq in zip(prefix_lens, seq_lens)]
        if sum(wanted) > len(self.free_pages):
            self.take(1 if PLANT == "keeps-refused" else 0)
            return None
        locs = []
        for prefix, seq, last, count in zip(prefix_lens, seq_lens, last_locs, wanted):
            rest = min(seq, pages_of(prefix) * self.page) - prefix  # of the page that holds the last loc
            new = [page * self.page + slot for page in self.take(count) for slot in range(self.page)]
            locs += [last + 1 + i for i in range(rest)] + new[: seq - prefix - rest]
        return locs

    def free(self, locs):
        pages = [loc // self.page for loc in locs]
        pages = pages if PLANT == "double-free" else list(dict.fromkeys(pages))  # each once
        assert PLANT != "assert" or len(pages) < 3, "nobody frees three pages at once"
        (self.free_pages if self.group is None else self.group).extend(pages)


def perform(pool, call, locs):
    """One call: its answer, and what it lent. `locs` spells out runs."""
    name, lending = call["call"], None
    if name == "alloc":
        lending = ([0], [call["tokens"]], [-1])
    elif name == "alloc_extend":
        lending = (call["prefix_lens"], call["seq_lens"], locs(call["last_locs"]))
    elif name == "alloc_decode":
        lending = ([length - 1 for length in call["seq_lens"]], call["seq_lens"], locs(call["last_locs"]))
    elif name == "free":
        pool.free(locs(call["locs"]))
    elif name == "free_segments":
        pool.free([loc for segment in call["segments"] for loc in locs(segment["locs"])])
    elif name == "free_group_begin":
        pool.group = []
    elif name == "free_group_end":
        pool.free_pages, pool.group = pool.free_pages + pool.group, None
    elif name == "clear":
        pool.clear()
    elif name == "gauges":
        return {"gauges": {"available": len(pool.free_pages) * pool.page, "size": pool.size}}, []
    elif name == "census":
        pages = lambda numbers: [[number, 1] for number in numbers]
        return {"census": {"full": {"free": pages(pool.free_pages), "deferred": pages(pool.group or [])}}}, []
    lent = pool.extend(*lending) if lending else []
    return {"refused": True} if lent is None else {"locs": [[loc, 1] for loc in lent]}, lent or []


def run(pool, calls):
    answers, lent = [], []  # of each call of this line
    slice_of = lambda first, count, of=None: range(first, first + count) if of is None else lent[of][first : first + count]
    spell_out = lambda runs: [loc for *of, first, count in runs for loc in slice_of(first, count, *of)]
    try:
        for call in calls:
            answer, locs = perform(pool, call, spell_out)
            answers.append(answer)
            lent.append(locs)
    except Exception as error:  # an error of the pool's own is an answer too
        answers.append({"error": {"type": type(error).__name__, "text": str(error)}})
    return answers


CALLS = ["alloc", "alloc_extend", "alloc_decode", "free", "free_segments", "free_duplicates", "free_group", "clear", "census"]
for line in sys.stdin:
    request, answer = json.loads(line), {"ok": True}
    if "hello" in request:
        kinds = [{"layout": "token", "page": [1, 1], "calls": CALLS}, {"layout": "paged", "calls": CALLS}]
        answer = {"poolproof": 1, "name": "template", "pools": kinds}
    elif "reset" in request:
        the_pool = Pool(request["reset"])
    else:
        answer = {"answers": run(the_pool, request["run"])}
    print(json.dumps(answer), flush=True)
