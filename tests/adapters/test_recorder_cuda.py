"""The recorder on a GPU: copies in stream order, and no wait for the device."""

import logging
import threading
import unittest
from unittest import mock

from test_recorder_support import NO_TORCH, RecorderTest, TokenToKVPoolAllocator, poolproof_recorder, torch

HAVE_CUDA = torch is not None and torch.cuda.is_available()


class Plain(TokenToKVPoolAllocator):
    """Frees without looking: torch.unique would wait for the device."""

    def free(self, free_index):
        self.free_pages = torch.cat((self.free_pages, free_index))


@unittest.skipIf(torch is None, NO_TORCH)
@unittest.skipUnless(HAVE_CUDA, "there is no CUDA device here")
class Cuda(RecorderTest):
    def pool(self, **options):
        pool = Plain(1 << 20, "cuda")
        return pool, self.attach(pool, layout="token", **options)

    def locs_of(self, recorder):
        expanded = []
        for call in self.calls_of(recorder):
            expanded.append([first + i for first, count in call["locs"] for i in range(count)])
        return expanded

    def test_nothing_waits_for_the_device(self):
        pool, recorder = self.pool()
        torch.cuda.synchronize()
        torch.cuda.set_sync_debug_mode("error")
        try:
            for _ in range(10):
                pool.free_segment(pool.alloc(300), start_pos=0)
        finally:
            torch.cuda.set_sync_debug_mode("default")
        self.assertEqual((recorder.failures, recorder.lost), (0, 0))
        self.assertEqual(len(self.calls_of(recorder)), 20)

    def test_a_call_returns_while_the_device_is_busy(self):
        pool, recorder = self.pool()
        row = torch.arange(500, device="cuda")
        torch.cuda._sleep(200_000_000)  # some tenth of a second of device time
        busy = torch.cuda.Event()
        busy.record()
        pool.free(row)
        self.assertFalse(busy.query())
        self.assertEqual(self.locs_of(recorder), [list(range(500))])

    def test_what_is_overwritten_after_the_call_was_recorded_as_it_was(self):
        pool, recorder = self.pool()
        expected = []
        row = torch.empty(700, dtype=torch.int64, device="cuda")
        for number in range(50):
            torch.arange(number, number + 700, out=row)
            pool.free(row)
            row.fill_(0)
            expected.append(list(range(number, number + 700)))
        self.assertEqual(self.locs_of(recorder), expected)

    def test_tensors_of_all_sizes_and_kinds(self):
        pool, recorder = self.pool()
        generator = torch.Generator().manual_seed(1)
        expected = []
        for dtype in (torch.int64, torch.int32, torch.int16):
            for count in (0, 1, 64, 511, 513, 1025, 9000, 300_000):
                numbers = torch.randint(0, 30_000, (count,), generator=generator).to(dtype)
                expected.append(numbers.tolist())
                with mock.patch.object(pool, "free_pages", pool.free_pages):
                    pool.free(numbers.cuda())
        strided = torch.arange(2000, device="cuda")[::3]
        pool.free(strided)
        expected.append(strided.tolist())
        self.assertEqual(self.locs_of(recorder), expected)

    def test_answers_are_copied(self):
        pool, recorder = self.pool()
        locs = pool.alloc(100)
        locs.fill_(0)
        self.assertEqual(self.locs_of(recorder), [list(range(1, 101))])

    def test_streams_and_inference_mode(self):
        with torch.inference_mode():
            pool, recorder = self.pool()
            pool.free(torch.arange(100, device="cuda"))
            recorder.flush()  # the next call has the same block
        pool.free(torch.arange(100, device="cuda"))
        with torch.cuda.stream(torch.cuda.Stream()):
            pool.free(torch.arange(200, device="cuda"))
        self.assertEqual(self.locs_of(recorder), [list(range(100)), list(range(100)), list(range(200))])

    def test_pinned_memory_is_bounded(self):
        pool, recorder = self.pool(queue_bytes=4 << 20)
        go_on = threading.Event()
        add_packed = recorder._add_packed
        row = torch.arange(8192, device="cuda")

        def slow(batch, call):
            go_on.wait()
            add_packed(batch, call)

        with mock.patch.object(recorder, "_add_packed", slow):
            for _ in range(500):
                pool.free(row)
            self.assertGreater(recorder.lost, 0)
            self.assertEqual(recorder.calls + recorder.lost, 500)
            go_on.set()
            recorder.flush()
        self.assertEqual(recorder.failures, 0)
        lost = recorder.lost
        pool.free(row)
        recorder.flush()
        self.assertEqual(recorder.lost, lost)
        free = [len(blocks) for _, blocks in recorder._copies._blocks._free]
        fresh = [len(blocks) for _, blocks in poolproof_recorder._PinnedBlocks(torch, 2 << 20)._free]
        self.assertEqual(free, fresh, "a block did not come back")

    def test_a_call_in_a_captured_graph_is_lost_and_the_graph_is_whole(self):
        pool, recorder = self.pool()
        row = torch.arange(10, device="cuda")
        out = torch.zeros(10, dtype=torch.int64, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with self.assertLogs("poolproof_recorder", logging.WARNING):
            with torch.cuda.graph(graph):
                pool.free(row)
                out.copy_(row * 2)
        graph.replay()
        self.assertEqual(out.tolist(), list(range(0, 20, 2)))
        pool.free_pages = row
        _, records = self.finish(recorder)
        self.assertEqual([r.get("lost") for r in records], [1])


if __name__ == "__main__":
    unittest.main()
