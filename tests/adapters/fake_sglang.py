"""Miniature `sglang` packages of our own, to try the adapter where no release is at hand.

They have the method sets and the places of old and of new releases, in the fewest lines that lend correctly. What a
release has and the adapter must find out (signatures, groups, segments, rings) is there; nothing else is.
"""

import os
import textwrap

BASE = """
import torch


def whole_pages(lens, page):
    return (lens + page - 1) // page


class Lists:
    # What both pools do alike: a free list, staged pages, groups.

    def __init__(self, size, page_size, need_sort):
        self.size, self.page_size, self.need_sort = size, page_size, need_sort
        self.clear()

    def clear(self):
        self.free_pages = torch.arange(1, self.size // self.page_size + 1)
        self.release_pages = torch.empty(0, dtype=torch.int64)
        self.close_group()

    def available_size(self):
        return (len(self.free_pages) + len(self.release_pages)) * self.page_size

    def merge(self):
        self.free_pages = torch.sort(torch.cat((self.free_pages, self.release_pages)))[0]
        self.release_pages = self.release_pages[:0]

    def take_pages(self, count):
        if count > len(self.free_pages):
            self.merge()
        if count > len(self.free_pages):
            return None
        taken, self.free_pages = self.free_pages[:count], self.free_pages[count:]
        return taken

    def alloc(self, need_size):
        pages = self.take_pages(need_size // self.page_size)
        if pages is None:
            return None
        return (pages[:, None] * self.page_size + torch.arange(self.page_size)).reshape(-1)

    def lend(self, prefix_lens, seq_lens, last_loc):
        page = self.page_size
        new = whole_pages(seq_lens, page) - whole_pages(prefix_lens, page)
        pages = self.take_pages(int(new.sum()))
        if pages is None:
            return None
        out, at = [], 0
        for prefix, seq, last in zip(prefix_lens.tolist(), seq_lens.tolist(), last_loc.tolist()):
            loc = last
            for position in range(prefix, seq):
                if position % page == 0:
                    loc, at = int(pages[at]) * page - 1, at + 1
                loc += 1
                out.append(loc)
        return torch.tensor(out, dtype=torch.int64)

    def give_back(self, pages):
        if self.need_sort:
            self.release_pages = torch.cat((self.release_pages, pages))
        else:
            self.free_pages = torch.cat((pages, self.free_pages))

    def pages_of(self, locs):
        return torch.unique(locs // self.page_size)
"""

OLD_ALLOCATOR = BASE + """

from sglang.srt.mem_cache.memory_pool import SWAKVPool


class BaseTokenToKVPoolAllocator(Lists):
    def close_group(self):
        self.is_not_in_free_group, self.free_group = True, []

    def free_group_begin(self):
        self.is_not_in_free_group, self.free_group = False, []

    def free_group_end(self):
        self.is_not_in_free_group = True
        if self.free_group:
            self.free(torch.cat(self.free_group))

    def free(self, free_index):
        if self.is_not_in_free_group:
            self.give_back(self.pages_of(free_index))
        else:
            self.free_group.append(free_index)

    def backup_state(self):
        return self.free_pages

    def restore_state(self, state):
        self.free_pages = state

    def alloc_extend(self, *_arguments):
        raise NotImplementedError("paged only")

    alloc_decode = alloc_extend


class TokenToKVPoolAllocator(BaseTokenToKVPoolAllocator):
    def __init__(self, size, dtype, device, kvcache):
        super().__init__(size, 1, False)


class PagedTokenToKVPoolAllocator(BaseTokenToKVPoolAllocator):
    def __init__(self, size, page_size, dtype, device, kvcache):
        super().__init__(size, page_size, False)

    def alloc_extend(self, prefix_lens, seq_lens, last_loc, extend_num_tokens):
        return self.lend(prefix_lens, seq_lens, last_loc)

    def alloc_decode(self, seq_lens, last_loc):
        return self.lend(seq_lens - 1, seq_lens, last_loc)


class SWATokenToKVPoolAllocator(BaseTokenToKVPoolAllocator):
    def __init__(self, size, size_swa, dtype, device, kvcache):
        assert isinstance(kvcache, SWAKVPool)
        self.full_attn_allocator = TokenToKVPoolAllocator(size, dtype, device, kvcache.full_kv_pool)
        self.swa_attn_allocator = TokenToKVPoolAllocator(size_swa, dtype, device, kvcache.swa_kv_pool)
        self.full_to_swa_index_mapping = torch.zeros(size + size_swa + 1, dtype=torch.int64)
        self.size_swa = size_swa
        super().__init__(size, 1, False)
        kvcache.full_to_swa_index_mapping = self.full_to_swa_index_mapping

    def clear(self):
        self.full_attn_allocator.clear()
        self.swa_attn_allocator.clear()
        self.full_to_swa_index_mapping.fill_(0)
        self.close_group()

    def available_size(self):
        raise NotImplementedError()

    def full_available_size(self):
        return self.full_attn_allocator.available_size()

    def swa_available_size(self):
        return self.swa_attn_allocator.available_size()

    def alloc(self, need_size):
        if need_size > min(self.full_available_size(), self.swa_available_size()):
            return None
        full = self.full_attn_allocator.alloc(need_size)
        self.full_to_swa_index_mapping[full] = self.swa_attn_allocator.alloc(need_size)
        return full

    def free(self, free_index):
        if not self.is_not_in_free_group:
            self.free_group.append(free_index)
            return
        self.full_attn_allocator.free(free_index)
        self.free_swa(free_index)

    def free_swa(self, free_index):
        peers = self.full_to_swa_index_mapping[free_index]
        self.swa_attn_allocator.free(peers[peers > 0])
        self.full_to_swa_index_mapping[free_index] = 0

    def translate_loc_from_full_to_swa(self, kv_indices):
        return self.full_to_swa_index_mapping[kv_indices].to(torch.int32)

    def backup_state(self):
        raise NotImplementedError

    restore_state = backup_state
"""

OLD_MEMORY_POOL = """
class SWAKVPool:
    def __init__(self, buffers):
        raise AssertionError("a stand-in must not make buffers")


class ReqToTokenPool:
    def __init__(self, size, max_context_len, device, enable_memory_saver):
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
        self.free_slots.append(free_index)
"""

NEW_BASE = BASE + """

class BaseTokenToKVPoolAllocator(Lists):
    @property
    def size_full(self):
        return self.size

    def close_group(self):
        self.free_group = None

    def free_group_begin(self):
        assert self.free_group is None, "free groups cannot be nested"
        self.free_group = []

    def free_group_end(self):
        pending, self.free_group = self.free_group, None
        for free_index in pending or ():
            self.free(free_index)

    def free(self, free_index):
        if self.free_group is None:
            self.give_back(self.pages_of(free_index))
        else:
            self.free_group.append(free_index.clone())

    def free_segment(self, free_index, *, start_pos):
        assert start_pos % self.page_size == 0, "segment start is not page-aligned"
        self.free(free_index)

    def free_segments(self, segments):
        for free_index, start_pos in segments:
            self.free_segment(free_index, start_pos=start_pos)

    def resize(self, config):
        self.size = config.max_total_num_tokens
        self.clear()
"""

NEW_TOKEN = """
from sglang.srt.mem_cache.allocator.base import BaseTokenToKVPoolAllocator


class TokenToKVPoolAllocator(BaseTokenToKVPoolAllocator):
    def __init__(self, size, dtype, device, kvcache, need_sort):
        super().__init__(size, 1, need_sort)
"""

NEW_PAGED = """
from sglang.srt.mem_cache.allocator.base import BaseTokenToKVPoolAllocator
from sglang.srt.utils import get_num_new_pages


class PagedTokenToKVPoolAllocator(BaseTokenToKVPoolAllocator):
    def __init__(self, size, page_size, dtype, device, kvcache, need_sort):
        super().__init__(size, page_size, need_sort)
        self.use_triton_kernels = True

    def alloc_extend(
        self, prefix_lens, prefix_lens_cpu, seq_lens, seq_lens_cpu, last_loc, extend_num_tokens, num_new_pages=None
    ):
        assert not self.use_triton_kernels, "no Triton on a CPU"
        if get_num_new_pages(prefix_lens_cpu, seq_lens_cpu, self.page_size) * self.page_size > self.available_size():
            return None
        return self.lend(prefix_lens, seq_lens, last_loc)

    def alloc_decode(self, seq_lens, seq_lens_cpu, last_loc):
        return self.lend(seq_lens - 1, seq_lens, last_loc)
"""

NEW_SWA = """
import torch
from sglang.srt.mem_cache.allocator.base import BaseTokenToKVPoolAllocator
from sglang.srt.mem_cache.allocator.paged import PagedTokenToKVPoolAllocator
from sglang.srt.mem_cache.allocator.token import TokenToKVPoolAllocator
from sglang.srt.mem_cache.base_swa_memory_pool import BaseSWAKVPool


class SWATokenToKVPoolAllocator(BaseTokenToKVPoolAllocator):
    def __init__(self, size, size_swa, page_size, dtype, device, kvcache, need_sort, req_to_token_pool=None):
        assert isinstance(kvcache, BaseSWAKVPool)
        self.page_size, self._size_full, self.size_swa = page_size, size, size_swa
        common = (dtype, device, None, need_sort)
        if page_size == 1:
            self.full_attn_allocator = TokenToKVPoolAllocator(size, *common)
            self.swa_attn_allocator = TokenToKVPoolAllocator(size_swa, *common)
        else:
            self.full_attn_allocator = PagedTokenToKVPoolAllocator(size, page_size, *common)
            self.swa_attn_allocator = PagedTokenToKVPoolAllocator(size_swa, page_size, *common)
        self.full_to_swa_index_mapping = torch.zeros(size + page_size + 1, dtype=torch.int64)
        self.full_to_swa_index_mapping[-1] = -1
        self.ring_cost = 0
        self.slots = req_to_token_pool
        if kvcache.swa_req_ring_size is not None:
            self.ring_cost = -(-kvcache.swa_req_ring_size // page_size) * page_size
            self.size_swa = self.slots.available_size() * self.ring_cost
        self.clear()
        self.kvcache = kvcache
        kvcache.register_mapping(self.full_to_swa_index_mapping)

    def clear(self):
        self.full_attn_allocator.clear()
        self.swa_attn_allocator.clear()
        self.full_to_swa_index_mapping[:-1] = 0
        self.free_group, self.swa_free_group = None, []

    @property
    def size(self):
        return self._size_full if self.ring_cost else min(self._size_full, self.size_swa)

    @property
    def size_full(self):
        return self._size_full

    def full_available_size(self):
        return self.full_attn_allocator.available_size()

    def swa_available_size(self):
        if self.ring_cost:
            return self.slots.available_size() * self.ring_cost
        return self.swa_attn_allocator.available_size()

    def available_size(self):
        return min(pool.available_size() for pool in self.pools())

    def pools(self):
        return [self.full_attn_allocator] if self.ring_cost else [self.full_attn_allocator, self.swa_attn_allocator]

    def both(self, pages, lend):
        if any(pages * self.page_size > pool.available_size() for pool in self.pools()):
            return None
        full = lend(self.full_attn_allocator, lambda locs: locs)
        if not self.ring_cost:
            self.full_to_swa_index_mapping[full] = lend(self.swa_attn_allocator, self.translate_loc_from_full_to_swa)
        return full

    def alloc(self, need_size):
        assert self.page_size == 1
        return self.both(need_size, lambda pool, _peer: pool.alloc(need_size))

    def alloc_extend(self, prefix_lens, prefix_lens_cpu, seq_lens, seq_lens_cpu, last_loc, extend_num_tokens):
        assert self.page_size > 1
        return self.extend(prefix_lens, seq_lens, last_loc)

    def alloc_decode(self, seq_lens, seq_lens_cpu, last_loc):
        assert self.page_size > 1
        return self.extend(seq_lens - 1, seq_lens, last_loc)

    def extend(self, prefix_lens, seq_lens, last_loc):
        page = self.page_size
        pages = int(((seq_lens + page - 1) // page - (prefix_lens + page - 1) // page).sum())
        return self.both(pages, lambda pool, peer: pool.lend(prefix_lens, seq_lens, peer(last_loc)))

    def new_pages_available(self, num_full_pages, num_swa_pages):
        wanted = [num_full_pages, num_swa_pages][: len(self.pools())]
        return all(n * self.page_size <= pool.available_size() for n, pool in zip(wanted, self.pools()))

    def alloc_extend_swa_tail(
        self, prefix_lens, prefix_lens_cpu, seq_lens, seq_lens_cpu, last_loc, extend_num_tokens, swa_tail_len
    ):
        full = self.full_attn_allocator.lend(prefix_lens, seq_lens, last_loc)
        if swa_tail_len:
            nothing, length = torch.tensor([0]), torch.tensor([swa_tail_len])
            peers = self.swa_attn_allocator.lend(nothing, length, torch.tensor([-1]))
            self.full_to_swa_index_mapping[full[-swa_tail_len:]] = peers
        return full

    def translate_loc_from_full_to_swa(self, kv_indices):
        return self.kvcache.translate_loc_from_full_to_swa(kv_indices)

    def set_full_to_swa_mapping(self, full_indices, swa_indices):
        self.full_to_swa_index_mapping[full_indices] = swa_indices

    def clear_full_to_swa_mapping(self, full_indices):
        self.full_to_swa_index_mapping[full_indices] = 0

    def free(self, free_index):
        self.free_swa(free_index)
        self.free_full(free_index)

    def free_full(self, free_index):
        self.full_attn_allocator.free(free_index)

    def free_swa(self, free_index):
        pages = self.pages_of(free_index)
        whole = (pages[:, None] * self.page_size + torch.arange(self.page_size)).reshape(-1)
        peers = self.full_to_swa_index_mapping[whole]
        self.full_to_swa_index_mapping[whole] = 0
        if self.ring_cost:
            return
        if self.free_group is None:
            self.swa_attn_allocator.free(peers[peers > 0])
        else:
            self.swa_free_group.append(peers[peers > 0])

    def free_swa_segment(self, free_index, *, start_pos):
        self.free_swa(free_index)

    def free_full_segment(self, free_index, *, start_pos):
        self.free_full(free_index)

    def free_group_begin(self):
        super().free_group_begin()
        self.full_attn_allocator.free_group_begin()

    def free_group_end(self):
        self.free_group = None
        pending, self.swa_free_group = self.swa_free_group, []
        for peers in pending:
            self.swa_attn_allocator.free(peers)
        self.full_attn_allocator.free_group_end()
"""

NEW_BASE_SWA_POOL = """
import abc


class BaseSWAKVPool(abc.ABC):
    swa_req_ring_size = None

    @abc.abstractmethod
    def register_mapping(self, full_to_swa_index_mapping):
        raise NotImplementedError

    @abc.abstractmethod
    def translate_loc_from_full_to_swa(self, kv_indices):
        raise NotImplementedError
"""

NEW_MEMORY_POOL = """
class ReqToTokenPool:
    def __init__(self, size, max_context_len, device, enable_memory_saver):
        self.size = size
        self.clear()

    def clear(self):
        self.free_slots = list(range(1, self.size + 1))

    def available_size(self):
        return len(self.free_slots)

    def alloc(self, reqs):
        if len(reqs) > len(self.free_slots):
            return None
        for request in reqs:
            request.kv.req_pool_idx = self.free_slots.pop()
        return [request.kv.req_pool_idx for request in reqs]

    def free(self, req):
        assert req.kv.holds_kv
        self.free_slots.append(req.kv.req_pool_idx)
        req.kv.req_pool_idx = None
"""

UTILS = """
def get_num_new_pages(prefix_lens, seq_lens, page_size):
    return int(((seq_lens + page_size - 1) // page_size - (prefix_lens + page_size - 1) // page_size).sum())
"""

# What stands in the way of importing a release: a package that is not installed, a module that does not execute to its
# end, a name that only such a module has, and work done by what is missing while it is imported.
HEAVY_UTILS = """
from __future__ import annotations

import poolproof_has_no_such_package as heavy
from poolproof_has_no_such_package.sub import thing


@heavy.decorate(level=3)
def decorated():
    return 1


class Settings(heavy.Struct, frozen=True):
    depth: int | None = None


settings = Settings(depth=7)
raise RuntimeError("this module needs a GPU")


CAPABILITY = 1 / 0
from math import ceil, no_such_function


def ceil_pages(lens, page_size):
    return (lens + page_size - ceil(0.5)) // page_size


def get_num_new_pages(prefix_lens, seq_lens, page_size):
    return int((ceil_pages(seq_lens, page_size) - ceil_pages(prefix_lens, page_size)).sum())
"""
HEAVY_PAGED_HEAD = """
import triton_that_is_not_there
from sglang.srt.layers.heavy import kernels


@triton_that_is_not_there.jit
def some_kernel(pointer):
    pass


def calls_a_stub():
    return kernels.run()

"""
HEAVY_TOP = 'raise ImportError("the whole engine cannot be imported here")\n'

OLD_FILES = {
    "sglang/__init__.py": "",
    "sglang/version.py": '__version__ = "0.4.old"\n',
    "sglang/srt/__init__.py": "",
    "sglang/srt/mem_cache/__init__.py": "",
    "sglang/srt/mem_cache/allocator.py": OLD_ALLOCATOR,
    "sglang/srt/mem_cache/memory_pool.py": OLD_MEMORY_POOL,
}
NEW_FILES = {
    "sglang/__init__.py": "",
    "sglang/_version.py": '__version__ = version = "0.9.new"\n',
    "sglang/srt/__init__.py": "",
    "sglang/srt/utils.py": UTILS,
    "sglang/srt/mem_cache/__init__.py": "",
    "sglang/srt/mem_cache/allocator/__init__.py": "",
    "sglang/srt/mem_cache/allocator/base.py": NEW_BASE,
    "sglang/srt/mem_cache/allocator/token.py": NEW_TOKEN,
    "sglang/srt/mem_cache/allocator/paged.py": NEW_PAGED,
    "sglang/srt/mem_cache/allocator/swa.py": NEW_SWA,
    "sglang/srt/mem_cache/base_swa_memory_pool.py": NEW_BASE_SWA_POOL,
    "sglang/srt/mem_cache/memory_pool.py": NEW_MEMORY_POOL,
}
HEAVY_FILES = {
    **NEW_FILES,
    "sglang/__init__.py": HEAVY_TOP,
    "sglang/srt/utils.py": HEAVY_UTILS,
    "sglang/srt/layers/__init__.py": HEAVY_TOP,
    "sglang/srt/layers/heavy.py": HEAVY_TOP,
    "sglang/srt/mem_cache/allocator/paged.py": HEAVY_PAGED_HEAD + NEW_PAGED,
}


def write_package(folder, files):
    for name, text in files.items():
        path = os.path.join(folder, *name.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))
    return folder
