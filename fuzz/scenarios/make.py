#!/usr/bin/env python3
"""Writes the scenarios beside it: traces of a serving engine's day that are too long to write by hand.

    fuzz/scenarios/make.py            writes the traces
    fuzz/scenarios/make.py --check    writes nothing; ends with 1 when a trace is not what it would write

Lengths are drawn from a generator of our own, so every Python makes the same bytes. What the traces are for is in
README.md beside this file.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent

PAGE = 256
RING = 256
WINDOW = 128


class Lengths:
    """A linear congruential generator: the lengths differ, and always in the same way."""

    def __init__(self, seed):
        self.state = seed

    def between(self, low, high):
        self.state = (self.state * 1103515245 + 12345) % 2**31
        return low + (self.state >> 8) % (high - low + 1)


class Script:
    """The lines of a trace, how long its rows are, and up to where each has written its KV."""

    def __init__(self, pool, *comment):
        self.lines = ["poolproof 1", *(f"# {line}" for line in comment), pool]
        self.ringed = "ring=" in pool
        self.length = {}
        self.written = {}

    def say(self, line):
        self.lines.append(line)

    def note(self, *comment):
        self.lines += (f"# {line}" for line in comment)

    def text(self):
        return "\n".join(self.lines) + "\n"

    def admit(self, rows):
        for row in rows:
            self.say(f"slot r{row}")
            self.gone([row])

    def gone(self, rows):
        """Nothing of these rows is left."""
        for row in rows:
            self.length[row] = self.written[row] = 0

    def leave(self, rows):
        for row in rows:
            self.say(f"unslot r{row}")

    def share(self, row, prefix, tokens):
        """A prefix hit. None of it is in the row's own ring: its last window has to be written again."""
        self.say(f"copy r{row} 0..{tokens} = r{prefix}")
        self.length[row] = tokens
        self.written[row] = tokens - WINDOW if self.ringed else tokens

    def lend(self, until):
        """One batch: each row grows to that length."""
        self.say("extend " + ", ".join(f"r{row} {self.length[row]}..{end}" for row, end in until.items()))
        self.length.update(until)

    def extend(self, until):
        """One batch, and the forward pass over it."""
        self.lend(until)
        for row in until:
            self.forward(row)

    def decode(self, rows):
        self.say("decode " + ", ".join(f"r{row}" for row in rows))
        for row in rows:
            self.length[row] += 1
            self.forward(row)

    def forward(self, row):
        """The KV of what is new is written, and the query at the last position reads. Where a ring was written from end
        to end, an earlier query reads its older half too."""
        begin, end = self.written[row], self.length[row]
        self.say(f"write r{row} {begin}..{end}")
        self.say(f"read r{row} 0..{end}")
        if self.ringed and end - begin >= RING:
            self.say(f"read r{row} 0..{end - (RING - WINDOW)}")
        self.written[row] = end

    def step_by_step(self, row):
        """As forward, a position at a time."""
        for position in range(self.written[row], self.length[row]):
            self.say(f"write r{row} {position}..{position + 1}")
            self.say(f"read r{row} 0..{position + 1}")
        self.written[row] = self.length[row]


# How requests end: their pages are given back, and none of their rows is left.


def grouped(script, rows):
    script.say("group {")
    for row in rows:
        script.say(f"  free_segment r{row} 0..{script.length[row]}")
    script.say("}")
    script.gone(rows)


def at_once(script, rows):
    script.say("free " + ", ".join(f"r{row} 0..{script.length[row]}" for row in rows))
    script.gone(rows)


def in_segments(script, rows):
    for row in rows:
        last = script.length[row] // PAGE * PAGE
        parts = [(0, last), (last, script.length[row])]
        script.say(f"free_segment r{row} " + ", ".join(f"{a}..{b}" for a, b in parts if a < b))
    script.gone(rows)


def behind_prefix(script, rows, prefix):
    """The cache holds the first pages; the rest is given back."""
    for row in rows:
        script.say(f"drop r{row} 0..{prefix}")
        script.say(f"free_segment r{row} {prefix}..{script.length[row]}")
    script.gone(rows)


# --- prompts that wrap the ring ---

PROMPTS = {0: 19, 1: 614, 2: 620}  # by row
ROWS = tuple(PROMPTS)
CACHED = 2 * PAGE
CACHE = 9  # the row of the cached prefix


def whole_prompts(script):
    script.note("Each prompt at once; decoded across a page border, and the ring's end, at 768.")
    script.admit(ROWS)
    script.say("expect slots 0")
    script.extend(PROMPTS)
    for _ in range(160):
        script.decode(ROWS)
    grouped(script, ROWS)
    script.leave(ROWS)


def chunked_prompts(script, chunk):
    script.note(f"Chunked prefill, {chunk} tokens a chunk; who is through decodes meanwhile.")
    script.admit(ROWS)
    for done in range(chunk, max(PROMPTS.values()) + chunk, chunk):
        waiting = {row: min(done, prompt) for row, prompt in PROMPTS.items() if script.length[row] < prompt}
        running = [row for row in ROWS if row not in waiting]
        script.extend(waiting)
        if running:
            script.decode(running)
    for _ in range(8):
        script.decode(ROWS)
    at_once(script, ROWS)
    script.leave(ROWS)


def position_by_position(script):
    script.note("Position by position: each is written and its query reads, before the next is written.")
    script.admit(ROWS)
    script.lend(PROMPTS)
    for row in ROWS:
        script.step_by_step(row)
    script.note("The cache takes over two pages of r2; the others are given back in segments.")
    script.say(f"copy r{CACHE} 0..{CACHED} = r2")
    behind_prefix(script, [2], CACHED)
    in_segments(script, [0, 1])
    script.leave(ROWS)


def cached_prefix(script):
    script.note(
        "Prompts on the cached prefix: nothing of it is in their rings, so its last window is written again, where the",
        "slot's former owner left the same positions.",
    )
    script.admit(ROWS)
    for row in (1, 2):
        script.share(row, CACHE, CACHED)
    script.extend(PROMPTS)
    for _ in range(8):
        script.decode(ROWS)


def load_backs(script):
    script.note(
        "Load-backs: entries of r7's and r8's pages name rows of r1's ring until the pages are freed, in a group and",
        "outside of one. Whoever is lent the pages next finds none of it.",
    )
    script.say("extend r7 0..512, r8 0..256")
    script.say("remap r7 256..512 <- r1 256..512")
    script.say("remap r8 0..256 <- r1 256..512")
    script.say("group {")
    script.say("  free_segment r7 0..512")
    script.say("}")
    script.say("free r8 0..256")
    script.say("extend r8 0..700")
    script.say("free r8 0..700")


def short_prompts(script):
    script.note("Short prompts in slots that short prompts had: another owner left the same positions in the ring.")
    for _ in range(2):
        script.admit(ROWS)
        script.extend({row: PROMPTS[0] + row for row in ROWS})
        script.decode(ROWS)
        at_once(script, ROWS)
        script.leave(ROWS)


def ring_wrap():
    script = Script(
        f"pool layout=hybrid page={PAGE} full=16p swa=16p ring={RING} window={WINDOW} reqs={len(ROWS)}",
        "Prompts of 19, 614 and 620 tokens: the two long ones go round a ring of 256 rows twice and more. There are",
        "three request slots, so that each generation takes over the slots, and the ring rows, of the one before.",
    )
    idle = "expect available full=16p swa=3p"
    whole_prompts(script)
    script.say(idle)
    for chunk in (PAGE, 100):
        chunked_prompts(script, chunk)
        script.say(idle)
    position_by_position(script)
    script.say("expect available full=14p swa=3p")
    cached_prefix(script)
    load_backs(script)
    behind_prefix(script, [1, 2], CACHED)
    at_once(script, [0])
    script.leave(ROWS)
    script.note("The cache is evicted.")
    script.say(f"free r{CACHE} 0..{CACHED}")
    script.say(idle)
    short_prompts(script)
    script.say(idle)
    return script.text()


# --- 32 at once, over 256 request slots ---

SLOTS = 256
BATCH = 32
SYSTEM_PROMPT = 2 * PAGE
SYSTEM_ROW = SLOTS  # the row that holds it


def evict(script, rows):
    """Window eviction, as far as the window lets it go."""
    for row in rows:
        frontier = (script.length[row] - WINDOW) // PAGE * PAGE
        script.say(f"free_swa_segment r{row} 0..{frontier}")


def prefill(script, prompts, chunk):
    """Every fourth request begins with the cached system prompt; the others come in chunks."""
    alone = {row: prompt for row, prompt in prompts.items() if row % 4 != 3}
    for done in range(chunk, max(alone.values()) + chunk, chunk):
        script.extend({row: min(done, prompt) for row, prompt in alone.items() if script.length[row] < prompt})
    shared = {row: prompt for row, prompt in prompts.items() if row % 4 == 3}
    for row in shared:
        script.share(row, SYSTEM_ROW, SYSTEM_PROMPT)
    script.extend(shared)


def wave(script, prompts, chunk):
    """32 requests from their prompts to their ends."""
    prefill(script, prompts, chunk)
    script.say("expect available full=0")
    if not script.ringed:
        evict(script, [row for row in prompts if row % 4 != 3])
    for _ in range(4):
        script.decode(prompts)
    at_once(script, [row for row in prompts if row % 4 == 0])
    in_segments(script, [row for row in prompts if row % 4 == 1])
    grouped(script, [row for row in prompts if row % 4 == 2])
    behind_prefix(script, [row for row in prompts if row % 4 == 3], SYSTEM_PROMPT)
    script.leave(prompts)


def slot_recycling(pool, *comment):
    # What a wave holds: three pages each, or the system prompt's two and one each.
    pages = BATCH // 4 * 3 * 3 + BATCH // 4 + SYSTEM_PROMPT // PAGE
    swa = "swa=16p" if "ring=" in pool else f"swa={pages}p"
    script = Script(
        f"pool layout=hybrid page={PAGE} full={pages}p {swa} window={WINDOW} reqs={SLOTS}{pool}",
        *comment,
        "All 256 slots are held all the time: 32 requests run and the others wait. So the 32 slots that a wave gives",
        "back are those that the next 32 requests take, whatever order an allocator keeps its slots in, and after 16",
        "waves each slot has had two owners. A wave fills the full pool to the last page.",
    )
    lengths = Lengths(38571)
    script.note("The system prompt, which the cache keeps.")
    script.admit([SYSTEM_ROW])
    script.extend({SYSTEM_ROW: SYSTEM_PROMPT})
    script.leave([SYSTEM_ROW])
    script.admit(range(SLOTS))
    script.say("expect slots 0")
    waves = SLOTS // BATCH
    for number in range(2 * waves):
        script.note(f"Wave {number + 1}.")
        first = number % waves * BATCH
        rows = range(first, first + BATCH)
        prompts = {row: lengths.between(600, 650) for row in rows}
        wave(script, prompts, chunk=PAGE if number % 2 else max(prompts.values()))
        if number < waves:
            script.admit(rows)
            script.say("expect slots 0")
    script.say(f"free r{SYSTEM_ROW} 0..{SYSTEM_PROMPT}")
    script.say(f"expect available full={pages}p swa={SLOTS if script.ringed else pages}p slots {SLOTS}")
    return script.text()


SCENARIOS = {
    "ring-wrap.trace": ring_wrap,
    "ring-slots-recycled.trace": lambda: slot_recycling(
        f" ring={RING}", "32 requests of 600 to 650 tokens at a time recycle the rings of 256 request slots."
    ),
    "paired-slots-recycled.trace": lambda: slot_recycling(
        "", "The requests of ring-slots-recycled on paired pools: SWA pages are lent, evicted and freed."
    ),
}


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    stale = []
    for name, make in SCENARIOS.items():
        path, content = HERE / name, make().encode()
        if path.exists() and path.read_bytes() == content:
            continue
        if arguments:
            stale.append(name)
        else:
            path.write_bytes(content)
    if stale:
        sys.exit("not what make.py writes; run it: " + ", ".join(stale))


if __name__ == "__main__":
    main(sys.argv[1:])
