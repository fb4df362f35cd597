"""A fault on purpose, for the adapter's --patch: a row segment of exactly 21 pages comes back without its last one."""


def _free_segment(self, free_index, *, start_pos, _free_segment=PagedTokenToKVPoolAllocator.free_segment):
    forgotten = self.page_size if -(-free_index.numel() // self.page_size) == 21 else 0
    _free_segment(self, free_index[: free_index.numel() - forgotten], start_pos=start_pos)


PagedTokenToKVPoolAllocator.free_segment = _free_segment
