"""Data for the page of `poolproof simulate`, made up here and the same on every run."""

import copy
import functools
import random

PAGE, FULL, SWA, WINDOW_PAGES, SLOTS = 256, 1024, 256, 2, 64
STEP_US = 1_800_000
HOSTILE = "</script><img src=x onerror=document.documentElement.dataset.owned=1><b>\"'&amp;"
KINDS = ("free", "staged", "deferred", "lent", "tombstone")


class Engine:
    """A rough serving engine: whole pages, steps of 1.8 s. Its curves look like those of a real one, no more."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.waiting, self.running = [], []  # (name, tokens so far, tokens to come)
        self.cached = self.staged = self.staged_swa = 0
        self.arrived = self.served = 0
        self.marks = []

    def pages(self, request):
        return -(-request[1] // PAGE)

    def swa_pages(self, request):
        return min(self.pages(request), WINDOW_PAGES)

    def used(self):
        return sum(map(self.pages, self.running)) + self.cached

    def used_swa(self):
        return sum(map(self.swa_pages, self.running)) + self.cached // 12

    def mark(self, kind, time, text):
        self.marks.append({"kind": kind, "time_us": time + self.random.randrange(STEP_US), "text": text})

    def step(self, index):
        time, draw = index * STEP_US, self.random
        self.arrive(0.85 if (index + 150) % 620 < 400 else 2.25)
        self.cached -= self.cached // 12
        while self.waiting and len(self.running) < SLOTS:
            need = self.pages(self.waiting[0])
            self.cached -= min(self.cached, max(0, self.used() + need - FULL))
            if self.used() + need > FULL:
                if draw.random() < 0.25:
                    text = f"{self.waiting[0][0]} refused: {need} pages wanted, {FULL - self.used()} free"
                    self.mark("refusal", time, text)
                break
            self.running.append(self.waiting.pop(0))
        self.decode(time)
        if self.used() + self.staged > FULL or self.used_swa() + self.staged_swa > SWA:
            self.staged = self.staged_swa = 0
        if len(self.waiting) > 40 and draw.random() < 0.3:
            name, tokens, _more = self.waiting.pop(draw.randrange(len(self.waiting)))
            self.mark("abort", time, f"{name} aborted by its client, {tokens:,} tokens")

    def arrive(self, rate):
        for _ in range(int(rate) + (self.random.random() < rate % 1)):
            tokens = min(20_000, int(self.random.lognormvariate(7.75, 0.9)) + 1)
            self.waiting.append((f"r{self.arrived}", tokens, int(self.random.lognormvariate(6.0, 0.9)) + 1))
            self.arrived += 1

    def decode(self, time):
        after = []
        for name, tokens, more in self.running:
            done = min(more, 18)
            if more > done:
                after.append((name, tokens + done, more - done))
                continue
            self.served += 1
            pages = -(-tokens // PAGE)
            self.cached += pages // 2
            self.staged += pages - pages // 2
            self.staged_swa += min(pages, WINDOW_PAGES)
        self.running = after
        while self.used() > FULL:
            self.cached -= min(self.cached, self.used() - FULL)
            if self.used() > FULL:
                name, tokens, more = self.running.pop()
                self.mark("retraction", time, f"{name} retracted at {tokens:,} tokens")
                self.waiting.insert(0, (name, tokens, more))

    def sample(self):
        deferred = min(FULL - self.used(), self.random.choice((0, 0, 0, 6, 20, 31)))
        staged = min(self.staged, FULL - self.used() - deferred)
        swa = min(self.used_swa(), SWA)
        deferred_swa = min(SWA - swa, deferred // 3)
        staged_swa = min(self.staged_swa, SWA - swa - deferred_swa)
        lent = min(swa, self.used())
        full = FULL - self.used() - staged - deferred, staged, deferred, lent, self.used() - lent
        sliding = SWA - swa - staged_swa - deferred_swa, staged_swa, deferred_swa, swa, None
        slots = SLOTS - len(self.running), None, None, len(self.running), None
        in_tokens = [[None if pages is None else pages * PAGE for pages in pool] for pool in (full, sliding)]
        return [dict(zip(KINDS, pool)) for pool in (*in_tokens, slots)]


def _pool(name, unit, size, samples):
    pool = {"name": name, "unit": unit, "size": size}
    for kind in KINDS:
        values = [sample[kind] for sample in samples]
        pool[kind] = None if values[0] is None else values
    return pool


def hour(samples=2000):
    """An hour with bursts, as the program writes it."""
    return copy.deepcopy(_run(samples, 1))


@functools.cache
def _run(samples, seed):
    engine, taken, running, waiting = Engine(seed), [], [], []
    for index in range(samples):
        engine.step(index)
        taken.append(engine.sample())
        running.append(len(engine.running))
        waiting.append(len(engine.waiting))
    count = {kind: sum(mark["kind"] == kind for mark in engine.marks) for kind in ("refusal", "retraction", "abort")}
    totals = {
        "requests arrived": engine.arrived, "requests served": engine.served, "retracted": count["retraction"],
        "aborted": count["abort"], "refusals": count["refusal"], "still waiting": len(engine.waiting),
        "allocator calls": 1_204_377, "pages lent": 388_120,
    }  # fmt: skip
    heads = ("full pool", "tokens", FULL * PAGE), ("SWA pool", "tokens", SWA * PAGE), ("request slots", "slots", SLOTS)
    return {
        "schema": 1,
        "program": "poolproof 0.1.0",
        "workload": "AzureLLMInferenceTrace_conv.csv",
        "impl": "host",
        "seed": seed,
        "pool": f"layout=hybrid page={PAGE} full={FULL}p swa={SWA}p window=128 reqs={SLOTS}",
        "page": PAGE,
        "end_us": samples * STEP_US,
        "verdict": None,
        "totals": [[label, f"{value:,}"] for label, value in totals.items()]
        + [["prefix cache hits", "31.4%"], ["checked at every op", "24 invariants"]],
        "pools": [_pool(*head, [sample[i] for sample in taken]) for i, head in enumerate(heads)],
        "time_us": [index * STEP_US for index in range(samples)],
        "running": running,
        "waiting": waiting,
        "marks": sorted(engine.marks, key=lambda mark: mark["time_us"]),
    }


def violation():
    """The run stops where pages of the SWA pool are found both free and lent."""
    data = hour(1400)
    end = data["time_us"][-1] + 412_000
    data["end_us"] = end
    data["pools"][1]["free"][-12:] = [free + 16 * PAGE for free in data["pools"][1]["free"][-12:]]
    what = "SWA pool: 16 pages are free and lent at once, 272 pages in all of 256"
    data["verdict"] = {"id": "CONSERVATION", "blame": "the allocator", "what": what, "op": 843_112, "time_us": end}
    data["marks"].append({"kind": "violation", "time_us": end, "text": "CONSERVATION at op 843,112"})
    return data


def one_sample():
    data = cut(hour(3), 1)
    return dict(data, end_us=data["time_us"][0], marks=[])


def cut(data, samples):
    data = copy.deepcopy(data)
    for values in (data, *data["pools"]):
        for name, value in values.items():
            if isinstance(value, list) and name in ("time_us", "running", "waiting", *KINDS):
                values[name] = value[:samples]
    return data


def no_marks():
    return dict(hour(60), marks=[])


def null_kinds():
    data = dict(hour(60), marks=[])
    for pool in data["pools"]:
        pool.update(staged=None, deferred=None, tombstone=None, lent=[pool["size"] - free for free in pool["free"]])
    return data


def hostile():
    data = violation()
    data.update({name: HOSTILE for name in ("workload", "impl", "pool", "program", "seed")})
    data["totals"] = [[HOSTILE, HOSTILE]]
    data["verdict"].update(id=HOSTILE, blame=HOSTILE, what="<!--<script>" + HOSTILE)
    data["pools"][0].update(name=HOSTILE, unit=HOSTILE)
    data["marks"] = [{"kind": "abort", "time_us": time, "text": HOSTILE} for time in data["time_us"][:40]]
    return data


def many_marks():
    data, draw = hour(), random.Random(7)
    kinds = ("refusal",) * 30 + ("retraction",) * 6 + ("abort",)
    times = sorted(int(draw.betavariate(2, 3) * data["end_us"]) for _ in range(6000))
    data["marks"] = [{"kind": draw.choice(kinds), "time_us": time, "text": f"r{i}"} for i, time in enumerate(times)]
    return data


ALL = {make.__name__: make for make in (hour, violation, one_sample, no_marks, null_kinds, hostile, many_marks)}
