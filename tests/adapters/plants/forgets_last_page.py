"""A fault on purpose, for the adapter's --patch: a row segment of exactly twelve pages comes back without its last one."""


class PagedTokenToKVPoolAllocator(PagedTokenToKVPoolAllocator):
    def free_segment(self, free_index, *, start_pos):
        pages = -(-free_index.numel() // self.page_size)
        kept = 11 * self.page_size if pages == 12 else free_index.numel()
        super().free_segment(free_index[:kept], start_pos=start_pos)
