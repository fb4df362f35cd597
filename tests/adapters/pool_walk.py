"""A random walk of correct calls over one pool, with a model by hand: rows of locs, and which pages they hold.

It knows only what is easy to be sure of, and is no replacement for poolproof's machine: it is there to see that an
adapter makes the calls that it was asked to make.
"""

import random

from adapter_process import NO_LAST_LOC, as_runs, expand


class Mismatch(AssertionError):
    """The adapter's answer is not what the model has."""


class Walk:
    def __init__(self, adapter, geometry, words, seed=0):
        self.adapter = adapter
        self.layout = geometry["layout"]
        self.page = geometry["page"]
        self.full_pages = geometry["full"] // self.page
        self.hybrid = self.layout == "hybrid"
        self.ring = geometry.get("ring", 0)
        self.swa_pages = geometry["swa"] // self.page if self.hybrid else 0
        self.words = words
        self.random = random.Random(seed)
        self.rows = {}  # number: [(loc, has a peer)], by position
        self.next_row = 0
        self.deferred_full = self.deferred_swa = 0
        self.group = False
        self.refusals = 0
        adapter.reset(**geometry)

    # What the model knows.

    def paired(self):
        return self.hybrid and not self.ring

    def pages_of(self, tokens):
        return -(-tokens // self.page)

    def lent_full(self):
        return sum(self.pages_of(len(row)) for row in self.rows.values())

    def lent_swa(self):
        return sum(sum(peer for _loc, peer in row[:: self.page]) for row in self.rows.values())

    def free_full(self):
        return self.full_pages - self.lent_full() - self.deferred_full

    def free_swa(self):
        return self.swa_pages - self.lent_swa() - self.deferred_swa

    def fits(self, pages):
        return pages <= self.free_full() and (not self.paired() or pages <= self.free_swa())

    def check(self, condition, text):
        if not condition:
            raise Mismatch(text)

    # Steps.

    def steps(self, count):
        for _ in range(count):
            getattr(self, "step_" + self.random.choice(self.words))()
            self.check_gauges()

    def step_extend(self):
        """New rows and longer ones, up to three in a batch."""
        longer = [number for number, row in self.rows.items() if self.can_grow(row)]
        batch = self.random.sample(longer, min(len(longer), self.random.randint(0, 2)))
        batch.append(self.new_row())
        prefix_lens = [len(self.rows.get(number, [])) for number in batch]
        seq_lens = [prefix + self.random.randint(1, 3 * self.page) for prefix in prefix_lens]
        pages = sum(map(self.pages_of, seq_lens)) - sum(map(self.pages_of, prefix_lens))
        answer = self.adapter.call(
            "alloc_extend", prefix_lens=prefix_lens, seq_lens=seq_lens, last_locs=self.last_locs(batch)
        )
        self.take(answer, batch, prefix_lens, seq_lens, pages)

    def step_decode(self):
        batch = [number for number, row in self.rows.items() if self.can_grow(row)]
        batch = self.random.sample(batch, min(len(batch), self.random.randint(1, 3)))
        if not batch:
            return
        prefix_lens = [len(self.rows[number]) for number in batch]
        seq_lens = [length + 1 for length in prefix_lens]
        pages = sum(length % self.page == 0 for length in prefix_lens)
        if not self.fits(pages) and (pages <= self.free_full()) != (pages <= self.free_swa()):
            return  # one pool alone could serve: many releases lose pages there
        answer = self.adapter.call("alloc_decode", seq_lens=seq_lens, last_locs=self.last_locs(batch))
        self.take(answer, batch, prefix_lens, seq_lens, pages)

    def step_free(self):
        number = self.any_row()
        if number is None:
            return
        self.check(self.adapter.call("free", locs=self.locs_of(number)) == {}, "free")
        self.release(number)

    def step_free_segments(self):
        number = self.any_row()
        if number is None or not all(peer for _loc, peer in self.rows[number]):
            return  # a segment free wants every page's peer alive
        segments = self.segments_of(number)
        self.check(self.adapter.call("free_segments", segments=segments) == {}, "free_segments")
        self.release(number)

    def step_free_swa(self):
        """The peers of the row's first whole pages; later the row is freed as it is."""
        number = self.any_row()
        if number is None or not self.hybrid:
            return
        row = self.rows[number]
        count = self.random.randint(0, len(row) // self.page) * self.page
        alive = [index for index in range(0, count) if row[index][1]]
        if not alive:
            return
        self.check(self.adapter.call("free_swa", locs=as_runs([row[i][0] for i in alive])) == {}, "free_swa")
        gone = len({index // self.page for index in alive})
        for index in alive:
            row[index] = (row[index][0], False)
        self.defer(0, gone)
        self.check_peers(row)

    def step_group(self):
        self.adapter.call("free_group_end" if self.group else "free_group_begin")
        self.group = not self.group
        if not self.group:
            self.deferred_full = self.deferred_swa = 0

    def step_clear(self):
        if not self.group and self.random.random() < 0.1:
            self.adapter.call("clear")
            self.rows.clear()

    # Parts of steps.

    def can_grow(self, row):
        return not self.hybrid or bool(self.ring) or row[-1][1]

    def new_row(self):
        self.next_row += 1
        return self.next_row

    def any_row(self):
        return self.random.choice(list(self.rows)) if self.rows else None

    def locs_of(self, number):
        return as_runs([loc for loc, _peer in self.rows[number]])

    def last_locs(self, batch):
        return [[self.rows[n][-1][0], 1] if self.rows.get(n) else NO_LAST_LOC for n in batch]

    def segments_of(self, number):
        row = [loc for loc, _peer in self.rows[number]]
        cut = self.random.randint(0, len(row) // self.page) * self.page
        parts = [(row[:cut], 0), (row[cut:], cut)]
        return [{"locs": as_runs(locs), "start_pos": start} for locs, start in parts if locs]

    def take(self, answer, batch, prefix_lens, seq_lens, pages):
        """Checks a lending answer and books its locs."""
        if answer == {"refused": True}:
            self.check(not self.fits(pages), f"refused although {pages} pages fit")
            self.refusals += 1
            return
        self.check("locs" in answer, f"lending was answered {answer}")
        self.check(self.fits(pages), f"{pages} pages lent that are not there")
        locs = expand(answer["locs"])
        self.check(len(locs) == sum(seq_lens) - sum(prefix_lens), "wrong number of locs")
        for number, seq_len in zip(batch, seq_lens):
            row = self.rows.setdefault(number, [])
            while len(row) < seq_len:
                self.book(row, locs.pop(0))
            self.check_peers(row)
        self.check_pages()

    def book(self, row, loc):
        position = len(row)
        self.check(loc % self.page == position % self.page, f"loc {loc} at position {position}")
        self.check(self.page <= loc < (self.full_pages + 1) * self.page, f"loc {loc} out of range")
        if position % self.page:
            self.check(loc == row[-1][0] + 1, f"loc {loc} does not follow {row[-1][0]}")
        row.append((loc, self.paired()))

    def release(self, number):
        row = self.rows.pop(number)
        swa = sum(peer for _loc, peer in row[:: self.page])
        self.defer(self.pages_of(len(row)), swa)
        if self.hybrid:
            self.check_peers([(loc, False) for loc, _peer in row])

    def defer(self, full, swa):
        if self.group:
            self.deferred_full += full
            self.deferred_swa += swa

    # Checks.

    def check_pages(self):
        locs = [loc for row in self.rows.values() for loc, _peer in row]
        self.check(len(locs) == len(set(locs)), "a loc lent twice")

    def check_peers(self, row):
        if not self.hybrid or not row:
            return
        peers = expand(self.adapter.call("translate", locs=as_runs([loc for loc, _peer in row]))["locs"])
        for (loc, has_peer), peer in zip(row, peers):
            self.check((peer > 0) == has_peer, f"loc {loc} translates to {peer}")
            self.check(not has_peer or peer % self.page == loc % self.page, f"loc {loc} has peer {peer}")
        alive = [peer for peer in peers if peer]
        self.check(len(alive) == len(set(alive)), "two locs share a peer")

    def check_gauges(self):
        gauges = self.adapter.gauges()
        key = "full_available" if "full_available" in gauges else "available"
        self.check(gauges[key] == self.free_full() * self.page, f"{key} is {gauges[key]}, not {self.free_full()} pages")
        if self.paired():
            swa = gauges["swa_available"]
            self.check(swa == self.free_swa() * self.page, f"swa_available is {swa}, not {self.free_swa()} pages")

    def check_census(self):
        """Free, staged, deferred and lent pages are all pages, each once."""
        census = self.adapter.census()
        lent = {loc // self.page for row in self.rows.values() for loc, _peer in row}
        pages = expand(census["full"]["free"]) + expand(census["full"]["staged"]) + sorted(lent)
        pages += expand(census["full"].get("deferred", []))
        self.check(sorted(pages) == list(range(1, self.full_pages + 1)), f"full pages are {sorted(pages)}")
        if self.paired():
            self.check_swa_census(census)

    def check_swa_census(self, census):
        mapped = [swa + i for _full, swa, count in census["mapping"] for i in range(count) if swa > 0]
        pages = expand(census["swa"]["free"]) + expand(census["swa"]["staged"])
        pages += expand(census["swa"].get("deferred", [])) + sorted({loc // self.page for loc in mapped})
        self.check(sorted(pages) == list(range(1, self.swa_pages + 1)), f"SWA pages are {sorted(pages)}")
