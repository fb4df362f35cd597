"""What sglang 0.5.20 and newer would need, to be held to docs/semantics.md: one fix for each finding of docs/findings.md.

    --impl exec:'python3 adapters/sglang_adapter.py --sglang DIR --patch adapters/patches/sglang_fixes.py'

Meant to look past what is known: with them `check` holds on every layout, so whatever it finds then is new. They are
written for clarity, not for an engine's hot path.
"""

import torch


def _unique(indices):
    """Each index once; a set-shaped free may name a page twice."""
    return torch.unique(indices)


def _token_free(self, free_index, _free=TokenToKVPoolAllocator.free):
    _free(self, _unique(free_index))


TokenToKVPoolAllocator.free = _token_free


class SWATokenToKVPoolAllocator(SWATokenToKVPoolAllocator):
    def _touched(self, indices):
        """All slots of the pages that the locs are of."""
        pages = _unique(indices // self.page_size)
        slots = torch.arange(self.page_size, dtype=indices.dtype, device=indices.device)
        return (pages[:, None] * self.page_size + slots).reshape(-1)

    def alloc(self, need_size):
        # With a ring the paged SWA pool lends nothing, at page size 1 neither.
        if self._swa_req_ring:
            return self.full_attn_allocator.alloc(need_size)
        return super().alloc(need_size)

    def alloc_decode(self, seq_lens, seq_lens_cpu, last_loc):
        # Both pools are asked before either gives a page away.
        new_pages = int(((seq_lens_cpu - 1) % self.page_size == 0).sum())
        if not self.new_pages_available(new_pages, new_pages):
            return None
        return super().alloc_decode(seq_lens, seq_lens_cpu, last_loc)

    def free_swa(self, free_index):
        if free_index.numel() == 0:
            return
        if self._swa_req_ring:
            # A load-back may have set the mapping of these pages; their next owner must not read it.
            self.clear_full_to_swa_mapping(self._touched(free_index))
            return
        mapped = self._touched(free_index)
        peers = self.full_to_swa_index_mapping[mapped]
        peers = _unique(peers[peers > 0])  # a loc whose peer is gone has none to give back
        self.clear_full_to_swa_mapping(mapped)
        if self.free_group is not None:
            self.swa_free_group.append(peers)
        else:
            self._release_swa(peers)

    def free_swa_segment(self, free_index, *, start_pos):
        # Not the page's first slot alone: a load-back maps parts of pages, an eviction leaves some.
        self.free_swa(free_index)

    def free_full(self, free_index):
        if self._swa_req_ring and free_index.numel() > 0:
            self.clear_full_to_swa_mapping(self._touched(free_index))
        super().free_full(free_index)

    def free_full_segment(self, free_index, *, start_pos):
        if self._swa_req_ring and free_index.numel() > 0:
            self.clear_full_to_swa_mapping(self._touched(free_index))
        super().free_full_segment(free_index, start_pos=start_pos)

    def resize(self, config):
        super().resize(config)
        # The mapping has an entry for each slot of the new pool, and -1 behind them.
        entries = self._size_full + self.page_size
        mapping = torch.zeros(entries + 1, dtype=torch.int64, device=self.device)
        mapping[entries:] = -1
        self.full_to_swa_index_mapping = mapping
        self._kvcache.register_mapping(mapping)
