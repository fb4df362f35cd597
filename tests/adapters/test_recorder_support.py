"""What the recorder's tests share: small pools of our own with the engine's names, and a reader of logs.

The pools lend by the rules of docs/semantics.md in the fewest lines; what counts here is which methods call which.
"""

import ctypes
import json
import os
import sys
import tempfile
import unittest

ADAPTERS = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, "adapters"))
sys.path.insert(0, ADAPTERS)

try:
    import torch
except ImportError:
    torch = None

import poolproof_recorder

NO_TORCH = "PyTorch is not installed: the recorder copies its tensors"


def pages_of(tokens, page):
    return (tokens + page - 1) // page


class BaseTokenToKVPoolAllocator:
    def __init__(self, size, page_size, device="cpu", need_sort=False):
        self.size = size
        self.page_size = page_size
        self.device = device
        self.need_sort = need_sort
        self.clear()

    def clear(self):
        self.free_pages = torch.arange(1, self.size // self.page_size + 1, device=self.device)
        self.group = None

    def available_size(self):
        return len(self.free_pages) * self.page_size

    def resize(self, config):
        self.size = config.max_total_num_tokens
        self.clear()

    def backup_state(self):
        return (self.free_pages,)

    def restore_state(self, state):
        (self.free_pages,) = state

    def take_pages(self, count):
        if count > len(self.free_pages):
            return None
        taken, self.free_pages = self.free_pages[:count], self.free_pages[count:]
        return taken

    def alloc(self, need_size):
        pages = self.take_pages(need_size // self.page_size)
        if pages is None:
            return None
        return (pages[:, None] * self.page_size + torch.arange(self.page_size, device=self.device)).reshape(-1)

    def free(self, free_index):
        pages = torch.unique(free_index // self.page_size)
        if self.group is None:
            self.free_pages = torch.cat((self.free_pages, pages))
        else:
            self.group.append(pages)

    def free_full(self, free_index):
        self.free(free_index)

    def free_segment(self, free_index, *, start_pos):
        assert start_pos % self.page_size == 0, "the segment starts inside a page"
        self.free(free_index)

    def free_segments(self, segments):
        for free_index, start_pos in segments:
            self.free_segment(free_index, start_pos=start_pos)

    def free_full_segment(self, free_index, *, start_pos):
        self.free_full(free_index)

    def free_full_segments(self, segments):
        for free_index, start_pos in segments:
            self.free_full_segment(free_index, start_pos=start_pos)

    def free_group_begin(self):
        assert self.group is None, "groups do not nest"
        self.group = []

    def free_group_end(self):
        pending, self.group = self.group, None
        if pending:
            self.free_pages = torch.cat((self.free_pages, *pending))


class TokenToKVPoolAllocator(BaseTokenToKVPoolAllocator):
    def __init__(self, size, device="cpu", need_sort=False):
        super().__init__(size, 1, device, need_sort)


class PagedTokenToKVPoolAllocator(BaseTokenToKVPoolAllocator):
    def alloc_extend(self, prefix_lens, prefix_lens_cpu, seq_lens, seq_lens_cpu, last_loc, extend_num_tokens):
        page = self.page_size
        new = pages_of(seq_lens_cpu, page) - pages_of(prefix_lens_cpu, page)
        pages = self.take_pages(int(new.sum()))
        if pages is None:
            return None
        out, pages = [], pages.tolist()
        for prefix, seq, last in zip(prefix_lens_cpu.tolist(), seq_lens_cpu.tolist(), last_loc.tolist()):
            for position in range(prefix, seq):
                last = pages.pop(0) * page if position % page == 0 else last + 1
                out.append(last)
        return torch.tensor(out, dtype=torch.int64, device=self.device)

    def alloc_decode(self, seq_lens, seq_lens_cpu, last_loc):
        lens = seq_lens_cpu
        return self.alloc_extend(lens - 1, lens - 1, lens, lens, last_loc, len(lens))


class SWATokenToKVPoolAllocator(BaseTokenToKVPoolAllocator):
    _swa_req_ring = False

    def __init__(self, size, size_swa, page_size, device="cpu", kvcache=None, req_to_token_pool=None):
        self._kvcache = kvcache
        self._req_to_token_pool = req_to_token_pool
        self._swa_req_ring = getattr(kvcache, "swa_req_ring_size", None) is not None
        self.full_attn_allocator = PagedTokenToKVPoolAllocator(size, page_size, device)
        self.swa_attn_allocator = PagedTokenToKVPoolAllocator(size_swa, page_size, device)
        self.full_to_swa_index_mapping = torch.zeros(size + page_size + 1, dtype=torch.int64, device=device)
        self.size_full, self.size_swa = size, size_swa
        super().__init__(min(size, size_swa), page_size, device)

    def clear(self):
        self.full_attn_allocator.clear()
        self.swa_attn_allocator.clear()
        self.full_to_swa_index_mapping.fill_(0)
        self.full_to_swa_index_mapping[-1] = -1

    def available_size(self):
        return min(self.full_available_size(), self.swa_available_size())

    def full_available_size(self):
        return self.full_attn_allocator.available_size()

    def swa_available_size(self):
        if self._swa_req_ring:
            return self._req_to_token_pool.available_size() * self._kvcache.swa_req_ring_size
        return self.swa_attn_allocator.available_size()

    def resize(self, config):
        self.size_full = self.full_attn_allocator.size = config.full_max_total_num_tokens
        self.size_swa = self.swa_attn_allocator.size = config.swa_max_total_num_tokens
        self.clear()

    def backup_state(self):
        return [self.full_attn_allocator.backup_state(), self.swa_attn_allocator.backup_state()]

    def restore_state(self, state):
        self.full_attn_allocator.restore_state(state[0])
        self.swa_attn_allocator.restore_state(state[1])

    def alloc_extend(self, prefix_lens, prefix_lens_cpu, seq_lens, seq_lens_cpu, last_loc, extend_num_tokens):
        swa_last = self.full_to_swa_index_mapping[last_loc]
        lens = (prefix_lens, prefix_lens_cpu, seq_lens, seq_lens_cpu)
        full = self.full_attn_allocator.alloc_extend(*lens, last_loc, extend_num_tokens)
        if full is None:
            return None
        swa = self.swa_attn_allocator.alloc_extend(*lens, swa_last, extend_num_tokens)
        self.set_full_to_swa_mapping(full, swa)
        return full

    def alloc_decode(self, seq_lens, seq_lens_cpu, last_loc):
        lens = seq_lens_cpu
        return self.alloc_extend(lens - 1, lens - 1, lens, lens, last_loc, len(lens))

    def alloc_extend_swa_tail(
        self, prefix_lens, prefix_lens_cpu, seq_lens, seq_lens_cpu, last_loc, extend_num_tokens, swa_tail_len
    ):
        lens = (prefix_lens, prefix_lens_cpu, seq_lens, seq_lens_cpu)
        full = self.full_attn_allocator.alloc_extend(*lens, last_loc, extend_num_tokens)
        swa = self.swa_attn_allocator.alloc(swa_tail_len)
        self.set_full_to_swa_mapping(full[-swa_tail_len:], swa)
        return full

    def set_full_to_swa_mapping(self, full_indices, swa_indices):
        self.full_to_swa_index_mapping[full_indices] = swa_indices

    def clear_full_to_swa_mapping(self, full_indices):
        self.full_to_swa_index_mapping[full_indices] = 0

    def free(self, free_index):
        self.free_swa(free_index)
        self.free_full(free_index)

    def free_swa(self, free_index):
        peers = self.full_to_swa_index_mapping[free_index]
        self.clear_full_to_swa_mapping(free_index)
        self.swa_attn_allocator.free(peers[peers > 0])

    def free_full(self, free_index):
        self.full_attn_allocator.free(free_index)

    def free_swa_segment(self, free_index, *, start_pos):
        self.free_swa(free_index)

    def free_group_begin(self):
        self.full_attn_allocator.free_group_begin()
        self.swa_attn_allocator.free_group_begin()

    def free_group_end(self):
        self.full_attn_allocator.free_group_end()
        self.swa_attn_allocator.free_group_end()


class PureSWATokenToKVPoolAllocator(BaseTokenToKVPoolAllocator):
    def __init__(self, size_swa, device="cpu"):
        self.swa_attn_allocator = self.full_attn_allocator = TokenToKVPoolAllocator(size_swa, device)
        super().__init__(size_swa, 1, device)

    def clear(self):
        self.swa_attn_allocator.clear()

    def available_size(self):
        return self.swa_attn_allocator.available_size()

    def alloc(self, need_size):
        return self.swa_attn_allocator.alloc(need_size)

    def free(self, free_index):
        self.swa_attn_allocator.free(free_index)


class Ring:
    """A KV cache with a per-request ring."""

    def __init__(self, rows, window):
        self.swa_req_ring_size = rows
        self.sliding_window = window


class Request:
    def __init__(self):
        self.req_pool_idx = None


class RequestWithKv:
    def __init__(self):
        self.kv = Request()


class SlotsByCount:
    """A request pool of the oldest releases: numbers in, numbers out."""

    def __init__(self, size):
        self.size = size
        self.clear()

    def clear(self):
        self.free_slots = list(range(self.size))

    def available_size(self):
        return len(self.free_slots)

    def alloc(self, need_size):
        if need_size > len(self.free_slots):
            return None
        taken, self.free_slots = self.free_slots[:need_size], self.free_slots[need_size:]
        return taken

    def free(self, free_index):
        self.free_slots.extend([free_index] if isinstance(free_index, int) else free_index)


class SlotsByRequest(SlotsByCount):
    """Requests in; those that have a slot keep it."""

    def alloc(self, reqs):
        taken = super().alloc(sum(1 for r in reqs if r.req_pool_idx is None))
        if taken is None:
            return None
        for request in reqs:
            if request.req_pool_idx is None:
                request.req_pool_idx = taken.pop(0)
        return [r.req_pool_idx for r in reqs]

    def free(self, req):
        self.free_slots.append(req.req_pool_idx)
        req.req_pool_idx = None


class SlotsByRow:
    """The newest: alloc and free of requests go through rows; row 0 is padding."""

    def __init__(self, size):
        self.size = size
        self._alloc_size = size + 1
        self.clear()

    def clear(self):
        self.free_slots = list(range(1, self._alloc_size))

    def available_size(self):
        return len(self.free_slots)

    def alloc_rows(self, need_size):
        if need_size > len(self.free_slots):
            return None
        return [self.free_slots.pop() for _ in range(need_size)]

    def free_rows(self, indices):
        self.free_slots.extend(indices)

    def alloc(self, reqs):
        rows = self.alloc_rows(sum(1 for r in reqs if r.kv.req_pool_idx is None))
        if rows is None:
            return None
        for request in reqs:
            if request.kv.req_pool_idx is None:
                request.kv.req_pool_idx = rows.pop(0)
        return [r.kv.req_pool_idx for r in reqs]

    def free(self, req):
        self.free_rows([req.kv.req_pool_idx])
        req.kv.req_pool_idx = None


class Config:
    def __init__(self, full, swa):
        self.max_total_num_tokens = self.full_max_total_num_tokens = full
        self.swa_max_total_num_tokens = swa


def lens(*numbers):
    return torch.tensor(numbers, dtype=torch.int64)


def extend(allocator, prefix, seq, last=-1):
    prefix, seq = lens(prefix), lens(seq)
    device = allocator.device
    last = lens(last).to(device)
    return allocator.alloc_extend(prefix.to(device), prefix, seq.to(device), seq, last, int(seq - prefix))


# Reading logs.


class _Zstd:
    def __init__(self):
        size, pointer = ctypes.c_size_t, ctypes.c_char_p
        self.library = ctypes.CDLL("libzstd.so.1")
        for name, arguments in (
            ("ZSTD_findFrameCompressedSize", [pointer, size]),
            ("ZSTD_decompress", [ctypes.c_void_p, size, pointer, size]),
        ):
            getattr(self.library, name).restype = size
            getattr(self.library, name).argtypes = arguments
        self.library.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
        self.library.ZSTD_getFrameContentSize.argtypes = [pointer, size]

    def frames(self, data):
        """The texts of the whole frames; what a kill cut short is left out."""
        while data:
            length = self.library.ZSTD_findFrameCompressedSize(data, len(data))
            if self.library.ZSTD_isError(ctypes.c_size_t(length)):
                return
            room = self.library.ZSTD_getFrameContentSize(data, length)
            out = ctypes.create_string_buffer(room)
            self.library.ZSTD_decompress(out, room, data, length)
            yield out.raw
            data = data[length:]


def read_file(path):
    """(header, records) of one log file."""
    with open(path, "rb") as file:
        data = file.read()
    text = b"".join(_Zstd().frames(data)) if path.endswith(".zst") else data
    lines = [json.loads(line) for line in text.decode().splitlines()]
    return lines[0], lines[1:]


def read_log(paths):
    """(first header, all records)."""
    files = [read_file(path) for path in paths]
    return files[0][0], [record for _, records in files for record in records]


def without_times(records):
    return [{key: value for key, value in record.items() if key not in ("n", "t")} for record in records]


class RecorderTest(unittest.TestCase):
    """A test with a folder for logs; recordings that it leaves open are ended.

    The writer is a thread, unless a class says otherwise, for a process is out of reach of what tests break.
    """

    writer = "thread"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(folder.name, "kv")
        self.addCleanup(poolproof_recorder.detach_all)

    def attach(self, allocator, pool=None, **options):
        options.setdefault("writer", self.writer)
        recorder = poolproof_recorder.attach(allocator, self.path, pool, **options)
        self.assertTrue(recorder.active, recorder.reason)
        return recorder

    def finish(self, recorder):
        """(header, records) after detaching."""
        self.assertTrue(recorder.detach())
        return read_log(recorder.paths)

    def calls_of(self, recorder):
        """The records without n and t, which are checked for order here."""
        _, records = self.finish(recorder)
        self.assertEqual([r["n"] for r in records], list(range(len(records))))
        times = [r["t"] for r in records]
        self.assertEqual(times, sorted(times))
        return without_times(records)
