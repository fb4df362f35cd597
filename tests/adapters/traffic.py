#!/usr/bin/env python3
"""Drives SGLang's hybrid allocator as a scheduler would, for a number of calls, under the recorder:

    tests/adapters/traffic.py --sglang DIR --calls 1000000 --record PREFIX [--patch FILE] [--seed N]

Requests are admitted in batches while both pools have room, decode together, give back what leaves the window, and are
freed in groups: evicted pages by their full half, the rest whole. Prints the calls made and the calls a second.
"""
import argparse
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "adapters"))

import torch

import poolproof_recorder
import sglang_adapter

PAGE, WINDOW, RUNNING = 16, 64, 24


def pool_of(options):
    arguments = ["--sglang", options.sglang]
    for patch in options.patch:
        arguments += ["--patch", patch]
    parsed = sglang_adapter.parse_options(arguments)
    geometry = sglang_adapter.Geometry("hybrid", page=PAGE, full=1024 * PAGE, swa=512 * PAGE, window=WINDOW, reqs=RUNNING)
    return sglang_adapter.Pool(sglang_adapter.Release(parsed), geometry, parsed).allocator


class Request:
    def __init__(self, goal):
        self.row = torch.empty(0, dtype=torch.int64)
        self.goal = goal
        self.evicted = 0  # positions below this have no peer any more


class Traffic:
    def __init__(self, allocator, seed):
        self.allocator = allocator
        self.draw = random.Random(seed)
        self.running = []
        self.calls = 0

    def room(self, pages):
        return self.allocator.new_pages_available(pages, pages)

    def admit(self):
        """A prefill batch, as much as fits."""
        batch = [Request(self.draw.randrange(30, 400)) for _ in range(self.draw.randrange(1, 4))]
        lengths = [self.draw.randrange(1, request.goal) for request in batch]
        if not self.room(sum(-(-length // PAGE) for length in lengths) + len(batch)):
            return False
        prefix, ends = torch.zeros(len(batch), dtype=torch.int64), torch.tensor(lengths)
        self.calls += 1
        locs = self.allocator.alloc_extend(prefix, prefix, ends, ends, torch.full_like(prefix, -1), sum(lengths))
        for request, row in zip(batch, locs.split(lengths)):
            request.row = row.clone()
        self.running += batch
        return True

    def decode(self):
        batch = [request for request in self.running if len(request.row) < request.goal]
        lengths = torch.tensor([len(request.row) + 1 for request in batch])
        if not batch or not self.room(int(((lengths - 1) % PAGE == 0).sum())):
            return False
        last = torch.stack([request.row[-1] for request in batch])
        self.calls += 1
        locs = self.allocator.alloc_decode(lengths, lengths, last)
        for request, loc in zip(batch, locs):
            request.row = torch.cat((request.row, loc.reshape(1)))
        return True

    def evict(self):
        """What left the window, page by page, of one request."""
        request = self.draw.choice(self.running)
        bound = max(0, (len(request.row) - WINDOW) // PAGE * PAGE)
        if bound > request.evicted:
            self.calls += 1
            self.allocator.free_swa_segment(request.row[request.evicted : bound], start_pos=request.evicted)
            request.evicted = bound

    def finish(self, requests):
        self.calls += 2
        self.allocator.free_group_begin()
        for request in requests:
            if request.evicted:
                self.calls += 1
                self.allocator.free_full_segment(request.row[: request.evicted], start_pos=0)
            if len(request.row) > request.evicted:
                self.calls += 1
                self.allocator.free_segment(request.row[request.evicted :], start_pos=request.evicted)
            self.running.remove(request)
        self.allocator.free_group_end()

    def step(self):
        done = [request for request in self.running if len(request.row) >= request.goal]
        if done:
            self.finish(done)
        if len(self.running) < RUNNING and self.draw.random() < 0.2:
            self.admit()
        if self.running and not self.decode():
            self.finish(self.draw.sample(self.running, 1))  # retracted
        if self.running:
            self.evict()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sglang", required=True, metavar="DIR")
    parser.add_argument("--calls", type=int, required=True)
    parser.add_argument("--record", metavar="PREFIX", help="without it nothing is recorded")
    parser.add_argument("--patch", action="append", default=[], metavar="FILE")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    allocator = pool_of(options)
    recorder = None
    if options.record:
        recorder = poolproof_recorder.attach(
            allocator, options.record, window=WINDOW, max_files=1000, queue_bytes=1 << 30
        )
        if not recorder.active:
            raise SystemExit(f"traffic.py: not recording: {recorder.reason}")
    traffic = Traffic(allocator, options.seed)
    begun = time.monotonic()
    while traffic.calls < options.calls:
        traffic.step()
    seconds = time.monotonic() - begun
    if recorder:
        recorder.detach()
    print(f"{traffic.calls} calls in {seconds:.1f} s, {traffic.calls / seconds:.0f} calls/s")


if __name__ == "__main__":
    main()
