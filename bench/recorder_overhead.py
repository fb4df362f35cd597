#!/usr/bin/env python3
"""What recording costs the caller: microseconds a call, with and without the recorder.

    python3 bench/recorder_overhead.py [--device cuda] [--calls N] [--gap-us N]

Two equal pools are driven with the same calls, first one without a recorder, then one with. Between two calls the
caller does other work, small tensor operations and Python as a scheduler does, for about `gap` microseconds; 0 is a
caller that does nothing but call, which no server is. "added" is what the call itself takes longer; "per round" is what
call and other work together take longer, the writer thread's share of the GIL included. The pool is a small paged
allocator of ours with the engine's method names.
"""

import argparse
import os
import sys
import tempfile
import time

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "adapters"))

import poolproof_recorder

PAGE = 16
BATCH = 64
POOL_TOKENS = 1 << 20


class PagedTokenToKVPoolAllocator:
    """Enough of a paged pool to lend and take back; nothing in it waits for the device."""

    def __init__(self, size, device):
        self.size = size
        self.page_size = PAGE
        self.device = device
        self.need_sort = False
        self.clear()

    def clear(self):
        self.free_pages = torch.arange(1, self.size // PAGE + 1, device=self.device)

    def available_size(self):
        return len(self.free_pages) * PAGE

    def alloc(self, need_size):
        pages = self.free_pages[: need_size // PAGE]
        self.free_pages = self.free_pages[need_size // PAGE :]
        return (pages[:, None] * PAGE + torch.arange(PAGE, device=self.device)).reshape(-1)

    def alloc_decode(self, seq_lens, seq_lens_cpu, last_loc):
        return last_loc + 1

    def free_segment(self, free_index, *, start_pos):
        self.free_pages = torch.cat((free_index[::PAGE] // PAGE, self.free_pages))


def workloads(device):
    """name -> (prepare(pool), call(pool, prepared)): what is timed is `call`."""
    seq_lens_cpu = torch.full((BATCH,), 100)
    seq_lens = seq_lens_cpu.to(device)
    last_loc = torch.arange(BATCH, device=device) * PAGE + 2

    def lend_and_free(tokens):
        return lambda pool: pool.alloc(tokens), lambda pool, locs: pool.free_segment(locs, start_pos=0)

    def decode(pool, _):
        return pool.alloc_decode(seq_lens, seq_lens_cpu, last_loc)

    return {
        "alloc_decode, %d requests" % BATCH: (lambda pool: None, decode),
        "free_segment, 512 locs": lend_and_free(512),
        "free_segment, 8192 locs": lend_and_free(8192),
    }


class OtherWork:
    """A fixed amount of work that takes about so long when nothing disturbs it."""

    def __init__(self, gap_us):
        self._numbers = torch.arange(64)
        self._steps = 1000
        begin = time.perf_counter_ns()
        self.run()
        step_ns = (time.perf_counter_ns() - begin) / self._steps
        self._steps = int(gap_us * 1000 / step_ns)

    def run(self):
        for step in range(self._steps):
            self._numbers + step
            sum(range(20))


def percentile(times_ns, share):
    ordered = sorted(times_ns)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] / 1000


def measure(pool, calls, work, prepare, call):
    """(time of each call in ns, mean time of call and other work in us); a tenth more calls warm up."""
    times_ns = []
    for number in range(calls + calls // 10):
        if number == calls // 10:
            times_ns.clear()
            began = time.perf_counter()
        prepared = prepare(pool)
        work.run()
        begin = time.perf_counter_ns()
        call(pool, prepared)
        times_ns.append(time.perf_counter_ns() - begin)
    return times_ns, (time.perf_counter() - began) * 1e6 / calls


def measure_both(device, calls, gap_us, prepare, call):
    """(without, with, the detached recorder), the first two as measure() answers."""
    work = OtherWork(gap_us)
    plain = measure(PagedTokenToKVPoolAllocator(POOL_TOKENS, device), calls, work, prepare, call)
    pool = PagedTokenToKVPoolAllocator(POOL_TOKENS, device)
    with tempfile.TemporaryDirectory() as folder:
        recorder = poolproof_recorder.attach(pool, os.path.join(folder, "overhead"))
        if not recorder.active:
            sys.exit("recorder_overhead.py: the recorder did not attach: %s" % recorder.reason)
        recorded = measure(pool, calls, work, prepare, call)
        recorder.detach(timeout=60)
    return plain, recorded, recorder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    parser.add_argument("--calls", type=int, default=5000, help="timed calls a line (default 5000)")
    parser.add_argument("--gap-us", type=int, action="append", help="may be repeated (default: 0, 200 and 2000)")
    options = parser.parse_args()

    print("torch %s, python %s, %s" % (torch.__version__, sys.version.split()[0], options.device))
    print("%-28s %6s | %17s | %17s | %7s %9s | %5s" % (
        "microseconds", "", "without recorder", "with recorder", "added", "per round", "calls"))  # fmt: skip
    print("%-28s %6s | %8s %8s | %8s %8s | %7s %9s | %5s" % (
        "call", "gap", "median", "p99", "median", "p99", "median", "mean", "lost"))  # fmt: skip
    for gap_us in options.gap_us or (0, 200, 2000):
        for name, (prepare, call) in workloads(options.device).items():
            plain, recorded, recorder = measure_both(options.device, options.calls, gap_us, prepare, call)
            medians = percentile(plain[0], 0.5), percentile(recorded[0], 0.5)
            print("%-28s %6d | %8.1f %8.1f | %8.1f %8.1f | %7.1f %9.1f | %5d" % (
                name, gap_us, medians[0], percentile(plain[0], 0.99), medians[1], percentile(recorded[0], 0.99),
                medians[1] - medians[0], recorded[1] - plain[1], recorder.lost))  # fmt: skip


if __name__ == "__main__":
    main()
