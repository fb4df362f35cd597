"""The recorder: what is recorded, and what the server must not notice."""

import gc
import inspect
import logging
import os
import shutil
import threading
import unittest
import weakref
from unittest import mock

from test_recorder_support import (
    NO_TORCH,
    Config,
    PagedTokenToKVPoolAllocator,
    PureSWATokenToKVPoolAllocator,
    RecorderTest,
    Request,
    RequestWithKv,
    Ring,
    SlotsByCount,
    SlotsByRequest,
    SlotsByRow,
    SWATokenToKVPoolAllocator,
    TokenToKVPoolAllocator,
    extend,
    lens,
    poolproof_recorder,
    read_file,
    read_log,
    torch,
    without_times,
)


def hybrid(full=32, swa=24, page=4):
    return SWATokenToKVPoolAllocator(full, swa, page)


@unittest.skipIf(torch is None, NO_TORCH)
class Calls(RecorderTest):
    """Every method, its arguments and its answer."""

    def test_lending_on_a_paged_pool(self):
        pool = PagedTokenToKVPoolAllocator(32, 4)
        recorder = self.attach(pool)
        first = extend(pool, 0, 6)
        pool.alloc_decode(lens(7), lens(7), first[-1:])
        pool.alloc(8)
        self.assertIsNone(extend(pool, 0, 400))
        self.assertEqual(
            self.calls_of(recorder),
            [
                {"call": "alloc_extend", "prefix_lens": [0], "seq_lens": [6], "last_locs": [[-1, 1]],
                 "locs": [[4, 6]], "full": 24},
                {"call": "alloc_decode", "seq_lens": [7], "last_locs": [[9, 1]], "locs": [[10, 1]], "full": 24},
                {"call": "alloc", "tokens": 8, "locs": [[12, 8]], "full": 16},
                {"call": "alloc_extend", "prefix_lens": [0], "seq_lens": [400], "last_locs": [[-1, 1]],
                 "locs": None, "full": 16},
            ],
        )  # fmt: skip

    def test_lending_by_the_signatures_of_old_releases(self):
        class PagedTokenToKVPoolAllocator_(PagedTokenToKVPoolAllocator):
            def alloc_extend(self, prefix_lens, seq_lens, last_loc, extend_num_tokens):
                return super().alloc_extend(prefix_lens, prefix_lens, seq_lens, seq_lens, last_loc, extend_num_tokens)

            def alloc_decode(self, seq_lens, last_loc):
                return self.alloc_extend(seq_lens - 1, seq_lens, last_loc, len(seq_lens))

        pool = PagedTokenToKVPoolAllocator_(32, 4)
        recorder = self.attach(pool, layout="paged")
        pool.alloc_extend(lens(0, 0), lens(2, 5), lens(-1, -1), 7)
        pool.alloc_decode(seq_lens=lens(3), last_loc=lens(5))
        calls = self.calls_of(recorder)
        self.assertEqual(calls[0]["prefix_lens"], [0, 0])
        self.assertEqual(calls[0]["seq_lens"], [2, 5])
        self.assertEqual(calls[0]["last_locs"], [[-1, 1], [-1, 1]])
        self.assertEqual(calls[0]["locs"], [[4, 2], [8, 5]])
        self.assertEqual(calls[1], {"call": "alloc_decode", "seq_lens": [3], "last_locs": [[5, 1]],
                                    "locs": [[6, 1]], "full": 20})  # fmt: skip

    def test_arguments_by_keyword_are_found(self):
        pool = PagedTokenToKVPoolAllocator(32, 4)
        recorder = self.attach(pool)
        pool.alloc_extend(last_loc=lens(-1), extend_num_tokens=3, seq_lens=lens(3), seq_lens_cpu=lens(3),
                          prefix_lens=lens(0), prefix_lens_cpu=lens(0))  # fmt: skip
        pool.free(free_index=lens(4, 5, 6))
        calls = self.calls_of(recorder)
        self.assertEqual(calls[0]["seq_lens"], [3])
        self.assertEqual(calls[1]["locs"], [[4, 3]])

    def test_the_cpu_twin_of_a_tensor_is_preferred(self):
        pool = PagedTokenToKVPoolAllocator(32, 4)
        recorder = self.attach(pool)
        pool.alloc_extend(lens(99), lens(0), lens(99), lens(4), lens(-1), 4)
        self.assertEqual(self.calls_of(recorder)[0]["seq_lens"], [4])

    def test_frees_on_a_hybrid_pool(self):
        pool = hybrid()
        recorder = self.attach(pool)
        locs = extend(pool, 0, 16)
        pool.free_swa(locs[:4])
        pool.free_full(locs[:4])
        pool.free_swa_segment(locs[4:8], start_pos=4)
        pool.free_full_segment(locs[4:8], start_pos=4)
        pool.free_segment(locs[8:12], start_pos=8)
        pool.free(locs[12:])
        calls = self.calls_of(recorder)
        self.assertEqual(
            calls[1:],
            [
                {"call": "free_swa", "locs": [[4, 4]], "full": 16, "swa": 12},
                {"call": "free_full", "locs": [[4, 4]], "full": 20, "swa": 12},
                {"call": "free_swa_segments", "segments": [{"locs": [[8, 4]], "start_pos": 4}], "full": 20, "swa": 16},
                {"call": "free_full_segments", "segments": [{"locs": [[8, 4]], "start_pos": 4}], "full": 24, "swa": 16},
                {"call": "free_segments", "segments": [{"locs": [[12, 4]], "start_pos": 8}], "full": 28, "swa": 20},
                {"call": "free", "locs": [[16, 4]], "full": 32, "swa": 24},
            ],
        )

    def test_segments_from_a_list_and_from_a_generator(self):
        for source in (list, tuple, iter):
            pool = PagedTokenToKVPoolAllocator(32, 4)
            recorder = self.attach(pool)
            locs = pool.alloc(16)
            pool.free_segments(source([(locs[:4], 0), (locs[8:14], 8)]))
            pool.free_full_segments(segments=source([(locs[4:8], 4)]))
            self.assertEqual(pool.available_size(), 32)
            calls = self.calls_of(recorder)
            segments = [{"locs": [[4, 4]], "start_pos": 0}, {"locs": [[12, 6]], "start_pos": 8}]
            self.assertEqual(calls[1], {"call": "free_segments", "segments": segments, "full": 28})
            self.assertEqual(calls[2]["call"], "free_full_segments")
            self.assertEqual(calls[2]["segments"], [{"locs": [[8, 4]], "start_pos": 4}])

    def test_a_tail_ends_with_the_extend(self):
        pool = hybrid()
        recorder = self.attach(pool)
        pool.alloc_extend_swa_tail(lens(0), lens(0), lens(8), lens(8), lens(-1), 8, swa_tail_len=4)
        self.assertEqual(
            self.calls_of(recorder),
            [
                {"call": "alloc_extend_swa_tail", "prefix_lens": [0], "seq_lens": [8], "last_locs": [[-1, 1]],
                 "tail_len": 4, "tail_end": 8, "locs": [[4, 8]], "full": 24, "swa": 20},
            ],
        )  # fmt: skip

    def test_the_mapping(self):
        pool = hybrid()
        recorder = self.attach(pool)
        pool.set_full_to_swa_mapping(lens(4, 5, 9), lens(8, 9, 4))
        pool.clear_full_to_swa_mapping(lens(9))
        self.assertEqual(
            self.calls_of(recorder),
            [
                {"call": "set_full_to_swa_mapping", "locs": [[4, 2], [9, 1]], "swa_locs": [[8, 2], [4, 1]],
                 "full": 32, "swa": 24},
                {"call": "clear_full_to_swa_mapping", "locs": [[9, 1]], "full": 32, "swa": 24},
            ],
        )

    def test_the_whole_state(self):
        pool = hybrid()
        recorder = self.attach(pool)
        extend(pool, 0, 4)
        first, second = pool.backup_state(), pool.backup_state()
        pool.restore_state(first)
        pool.restore_state(second)
        pool.restore_state([first[0], first[1]])  # nobody backed this one up
        pool.clear()
        pool.resize(Config(16, 8))
        calls = self.calls_of(recorder)
        self.assertEqual(
            [(c["call"], c.get("key")) for c in calls[1:6]],
            [("backup_state", 0), ("backup_state", 1), ("restore_state", 0), ("restore_state", 1),
             ("restore_state", -1)],
        )  # fmt: skip
        self.assertEqual(calls[6], {"call": "clear", "full": 32, "swa": 24})
        self.assertEqual(calls[7], {"call": "resize", "full_size": 16, "swa_size": 8, "full": 16, "swa": 8})

    def test_a_free_group(self):
        pool = PagedTokenToKVPoolAllocator(32, 4)
        recorder = self.attach(pool)
        locs = pool.alloc(8)
        pool.free_group_begin()
        pool.free(locs)
        pool.free_group_end()
        self.assertEqual(
            self.calls_of(recorder)[1:],
            [
                {"call": "free_group_begin", "full": 24},
                {"call": "free", "locs": [[4, 8]], "full": 24},
                {"call": "free_group_end", "full": 32},
            ],
        )

    def test_what_the_allocator_calls_itself_is_not_recorded(self):
        pool = hybrid()
        recorder = self.attach(pool)
        pool.free(extend(pool, 0, 8))
        self.assertEqual([c["call"] for c in self.calls_of(recorder)], ["alloc_extend", "free"])

    def test_calls_past_the_allocator_to_the_pools_inside(self):
        pool = hybrid()
        recorder = self.attach(pool)
        full = pool.full_attn_allocator.alloc(4)
        swa = pool.swa_attn_allocator.alloc(4)
        pool.swa_attn_allocator.free(swa)
        pool.full_attn_allocator.free_segment(full, start_pos=0)
        pool.full_attn_allocator.free(pool.full_attn_allocator.alloc(4))
        self.assertEqual(
            self.calls_of(recorder)[:5],
            [
                {"lost": 1, "call": "full_attn_allocator.alloc", "tokens": 4, "locs": [[4, 4]], "full": 28, "swa": 24},
                {"lost": 1, "call": "swa_attn_allocator.alloc", "tokens": 4, "locs": [[4, 4]], "full": 28, "swa": 20},
                {"lost": 1, "call": "swa_attn_allocator.free", "locs": [[4, 4]], "full": 28, "swa": 24},
                {"call": "free_full_segments", "segments": [{"locs": [[4, 4]], "start_pos": 0}], "full": 32, "swa": 24},
                {"lost": 1, "call": "full_attn_allocator.alloc", "tokens": 4, "locs": [[8, 4]], "full": 28, "swa": 24},
            ],
        )

    def test_a_pure_swa_pool_has_one_side(self):
        pool = PureSWATokenToKVPoolAllocator(16)
        recorder = self.attach(pool, window=8)
        pool.free(pool.alloc(3))
        pool.swa_attn_allocator.free(lens(1))
        calls = self.calls_of(recorder)
        self.assertEqual([c["call"] for c in calls], ["alloc", "free", "free"])
        self.assertEqual(calls[0], {"call": "alloc", "tokens": 3, "locs": [[1, 3]], "full": 13})

    def test_runs_of_any_shape(self):
        pool = TokenToKVPoolAllocator(1 << 16)
        shapes = [
            [],
            [7],
            list(range(100, 116)),
            list(range(100, 117)),
            list(range(0, 4096)),
            list(range(0, 8192, 2)),
            [5, 4, 3, 2, 1] * 20,
            [9] * 70,
            [1, 2, 3, 7] + list(range(50, 90)) + [200],
        ]
        for dtype in (torch.int64, torch.int32):
            recorder = self.attach(pool)
            for numbers in shapes:
                pool.free(torch.tensor(numbers, dtype=dtype))
            for numbers, call in zip(shapes, self.calls_of(recorder)):
                runs = call["locs"]
                expanded = [first + i for first, count in runs for i in range(count)]
                self.assertEqual(expanded, numbers)
                breaks = sum(1 for a, b in zip(numbers, numbers[1:]) if b != a + 1)
                self.assertEqual(len(runs), breaks + 1 if numbers else 0)

    def test_tensors_of_other_shapes(self):
        pool = TokenToKVPoolAllocator(512)
        recorder = self.attach(pool)
        pool.free(torch.arange(200)[::2])
        pool.free(torch.arange(1, 5).reshape(2, 2))
        pool.free(torch.arange(1, 201).reshape(2, 100))
        calls = self.calls_of(recorder)
        self.assertEqual(len(calls[0]["locs"]), 100)
        self.assertEqual(calls[1]["locs"], [[1, 4]])
        self.assertEqual(calls[2]["locs"], [[1, 200]])


@unittest.skipIf(torch is None, NO_TORCH)
class Copies(RecorderTest):
    """Index tensors belong to the caller again as soon as the call returns."""

    def test_what_is_overwritten_after_the_call_was_recorded_as_it_was(self):
        for count in (8, 512):  # taken as a list, and as a tensor
            pool = TokenToKVPoolAllocator(1024)
            recorder = self.attach(pool)
            locs = pool.alloc(count)
            row = torch.arange(1, count + 1)
            pool.free_group_begin()
            pool.free(row)
            row.fill_(0)
            locs.fill_(0)
            pool.free_segments([(row, 0)])
            row.fill_(9)
            calls = self.calls_of(recorder)
            self.assertEqual(calls[0]["locs"], [[1, count]])
            self.assertEqual(calls[2]["locs"], [[1, count]])
            self.assertEqual(calls[3]["segments"][0]["locs"], [[0, 1]] * count)

    def test_what_the_call_itself_overwrites_was_recorded_before(self):
        class TokenToKVPoolAllocator_(TokenToKVPoolAllocator):
            def free(self, free_index):
                super().free(free_index)
                free_index.fill_(0)

        pool = TokenToKVPoolAllocator_(1024)
        recorder = self.attach(pool, layout="token")
        pool.free(torch.arange(5, 205))
        self.assertEqual(self.calls_of(recorder)[0]["locs"], [[5, 200]])


@unittest.skipIf(torch is None, NO_TORCH)
class Errors(RecorderTest):
    """Exceptions of the engine are recorded and passed on as they are."""

    def test_an_assertion_is_recorded_and_raised_unchanged(self):
        pool = PagedTokenToKVPoolAllocator(32, 4)
        recorder = self.attach(pool)
        pool.free_group_begin()
        with self.assertRaises(AssertionError) as caught:
            pool.free_group_begin()
        self.assertEqual(str(caught.exception), "groups do not nest")
        source, first = inspect.getsourcelines(PagedTokenToKVPoolAllocator.free_group_begin)
        line = first + next(i for i, text in enumerate(source) if "assert" in text)
        error = {"type": "AssertionError", "text": "groups do not nest", "where": "test_recorder_support.py:%d" % line}
        self.assertEqual(self.calls_of(recorder)[1], {"call": "free_group_begin", "error": error, "full": 32})

    def test_the_exception_object_is_the_engines_own(self):
        thrown = [KeyError("x"), KeyboardInterrupt(), SystemExit(3)]

        class TokenToKVPoolAllocator_(TokenToKVPoolAllocator):
            def free(self, free_index):
                raise thrown[int(free_index[0])]

        pool = TokenToKVPoolAllocator_(8)
        recorder = self.attach(pool, layout="token")
        for number, error in enumerate(thrown):
            with self.assertRaises(type(error)) as caught:
                pool.free(lens(number))
            self.assertIs(caught.exception, error)
        self.assertTrue(recorder.active)
        self.assertEqual(recorder.failures, 0)
        types = [c["error"]["type"] for c in self.calls_of(recorder)]
        self.assertEqual(types, ["KeyError", "KeyboardInterrupt", "SystemExit"])

    def test_calls_that_were_made_wrongly_keep_the_shape_of_the_log(self):
        class PagedTokenToKVPoolAllocator_(PagedTokenToKVPoolAllocator):
            def alloc_extend(self, *args, **kwargs):
                raise NotImplementedError

            def backup_state(self):
                raise NotImplementedError

            def resize(self, config):
                raise NotImplementedError

        pool = PagedTokenToKVPoolAllocator_(32, 4)
        recorder = self.attach(pool, layout="paged")
        for method, arguments in (
            (pool.alloc_extend, (1, 2)), (pool.alloc, (None,)), (pool.free, ()), (pool.free_segments, (None,)),
            (pool.backup_state, ()), (pool.resize, (None,)),
        ):  # fmt: skip
            with self.assertRaises((NotImplementedError, TypeError)):
                method(*arguments)
        calls = [{k: v for k, v in c.items() if k not in ("error", "full")} for c in self.calls_of(recorder)]
        self.assertEqual(
            calls,
            [
                {"call": "alloc_extend", "prefix_lens": [], "seq_lens": [], "last_locs": []},
                {"call": "alloc", "tokens": 0},
                {"call": "free", "locs": []},
                {"call": "free_segments", "segments": []},
                {"call": "backup_state", "key": -1},
                {"call": "resize", "full_size": 32, "swa_size": 0},
            ],
        )

    def test_the_next_call_after_an_error_is_recorded(self):
        pool = PagedTokenToKVPoolAllocator(32, 4)
        recorder = self.attach(pool)
        with self.assertRaises(AssertionError):
            pool.free_segment(lens(5), start_pos=1)
        pool.clear()
        self.assertEqual([c["call"] for c in self.calls_of(recorder)], ["free_segments", "clear"])

    def test_an_allocator_that_cannot_say_its_size_any_more(self):
        pool = PagedTokenToKVPoolAllocator(32, 4)
        recorder = self.attach(pool)
        pool.free_pages = None
        with self.assertRaises(TypeError):
            pool.alloc(4)
        self.assertEqual(recorder.failures, 0)
        record = self.calls_of(recorder)[0]
        self.assertNotIn("full", record)
        self.assertIn("TypeError", record["note"])


@unittest.skipIf(torch is None, NO_TORCH)
class Harmlessness(RecorderTest):
    """Whatever breaks inside the recorder, the server does not notice."""

    def test_a_failing_recorder_switches_itself_off(self):
        pool = TokenToKVPoolAllocator(64)
        recorder = self.attach(pool, max_failures=3)
        with self.assertLogs("poolproof_recorder", logging.WARNING) as logged:
            with mock.patch.object(recorder._copies, "numbers", side_effect=ZeroDivisionError("inside")):
                for expected in range(1, 7):
                    self.assertEqual(pool.alloc(1).tolist(), [expected])
        self.assertFalse(recorder.active)
        self.assertEqual(recorder.failures, 3)
        self.assertEqual(len(logged.output), 2)  # the first failure, and the end
        self.assertIn("switched off", logged.output[1])
        recorder._thread.join(10)
        _, records = read_log(recorder.paths)
        self.assertEqual(without_times(records), [{"lost": 3, "note": records[0]["note"]}])
        self.assertIn("ZeroDivisionError: inside", records[0]["note"])
        self.assertEqual(pool.alloc(1).tolist(), [7])

    def test_a_failure_costs_its_own_call_alone(self):
        pool = TokenToKVPoolAllocator(64)
        recorder = self.attach(pool)
        pool.alloc(1)
        with self.assertLogs("poolproof_recorder", logging.WARNING):
            with mock.patch.object(recorder._copies, "numbers", side_effect=ZeroDivisionError):
                pool.free(lens(1))
        pool.alloc(2)
        _, records = self.finish(recorder)
        self.assertEqual([(r["n"], r.get("call"), r.get("lost")) for r in records],
                         [(0, "alloc", None), (1, None, 1), (2, "alloc", None)])  # fmt: skip

    def test_a_failure_in_the_writer_costs_its_own_call_alone(self):
        pool = TokenToKVPoolAllocator(64)
        recorder = self.attach(pool)
        pool.alloc(1)
        recorder.flush()
        with self.assertLogs("poolproof_recorder", logging.WARNING):
            with mock.patch.object(recorder._writer._text, "integer", side_effect=ZeroDivisionError):
                pool.alloc(1)
                recorder.flush()
        pool.alloc(2)
        _, records = self.finish(recorder)
        self.assertEqual([(r["n"], r.get("lost")) for r in records], [(0, None), (1, 1), (2, None)])

    def test_a_broken_logging_handler_does_not_reach_the_server(self):
        class Broken(logging.Handler):
            def emit(self, record):
                raise OSError("the log disk is full")

        handler = Broken()
        logging.getLogger("poolproof_recorder").addHandler(handler)
        self.addCleanup(logging.getLogger("poolproof_recorder").removeHandler, handler)
        pool = TokenToKVPoolAllocator(64)
        recorder = self.attach(pool)
        with mock.patch.object(recorder._copies, "numbers", side_effect=ZeroDivisionError):
            self.assertEqual(pool.alloc(1).tolist(), [1])
        self.assertEqual(recorder.failures, 1)

    def test_memory_is_bounded_when_the_writer_is_slow(self):
        pool = TokenToKVPoolAllocator(4096)
        recorder = self.attach(pool, queue_bytes=256 * 1024)
        go_on = threading.Event()
        write = recorder._writer._files.write
        reached = threading.Event()

        def slow(text, first):
            reached.set()
            go_on.wait()
            write(text, first)

        with mock.patch.object(recorder._writer._files, "write", slow):
            pool.free(lens(1))
            flushing = threading.Thread(target=recorder.flush)
            flushing.start()
            reached.wait()
            for _ in range(300):
                pool.free(torch.arange(512))
            held = recorder._put_bytes - recorder._done_bytes
            self.assertLessEqual(held, 256 * 1024)
            self.assertGreater(recorder.lost, 200)
            self.assertEqual(recorder.calls + recorder.lost, 301)
            go_on.set()
            flushing.join()
            recorder.flush()
        pool.free(lens(2))
        _, records = self.finish(recorder)
        lost = [r for r in records if "lost" in r]
        self.assertEqual(sum(r["lost"] for r in lost), recorder.lost)
        self.assertEqual(records[-1]["n"], 301)
        for before, after in zip(records, records[1:]):
            self.assertEqual(after["n"], before["n"] + before.get("lost", 1))

    def test_calls_dropped_at_the_very_end_are_told(self):
        pool = TokenToKVPoolAllocator(64)
        recorder = self.attach(pool)
        recorder._queue_bytes = 0
        pool.alloc(1)
        pool.alloc(1)
        _, records = self.finish(recorder)
        self.assertEqual(without_times(records), [{"lost": 2}])

    def test_two_threads_may_call(self):
        pools = [TokenToKVPoolAllocator(64) for _ in range(2)]
        recorder = self.attach(pools[0])
        inside = threading.Event()
        leave = threading.Event()

        original = pools[0].available_size  # called by the recorder inside a recorded call
        seen = []

        def other():
            inside.wait()
            pools[0].free(lens(3))
            leave.set()

        thread = threading.Thread(target=other)

        def read(allocator):
            if not seen:
                seen.append(True)
                inside.set()
                leave.wait()
            return original()

        recorder._read_full = read
        thread.start()
        pools[0].alloc(1)
        thread.join()
        self.assertEqual(sorted(r["call"] for r in self.finish(recorder)[1]), ["alloc", "free"])


@unittest.skipIf(torch is None, NO_TORCH)
class Header(RecorderTest):
    def header_of(self, allocator, pool=None, **options):
        return self.finish(self.attach(allocator, pool, **options))[0]

    def test_what_it_says(self):
        header = self.header_of(hybrid(), SlotsByRow(4), window=6)
        geometry = {"layout": "hybrid", "page": 4, "full": 32, "swa": 24, "ring": 0, "window": 6, "reqs": 4,
                    "need_sort": False}  # fmt: skip
        self.assertEqual(header["poolproof_log"], 1)
        self.assertEqual(header["geometry"], geometry)
        self.assertEqual(header["class"], "SWATokenToKVPoolAllocator")
        self.assertEqual(header["gauges"], {"full_available": 32, "swa_available": 24})
        self.assertEqual((header["file"], header["n"], header["fresh"]), (0, 0, True))
        self.assertTrue(header["window_known"])
        self.assertRegex(header["wall"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")

    def test_geometries(self):
        token = self.header_of(TokenToKVPoolAllocator(16, need_sort=True))["geometry"]
        self.assertEqual((token["layout"], token["page"], token["full"], token["need_sort"]), ("token", 1, 16, True))
        paged = self.header_of(PagedTokenToKVPoolAllocator(35, 4))["geometry"]
        self.assertEqual((paged["layout"], paged["full"], paged["window"], paged["swa"]), ("paged", 32, 0, 0))
        pure = self.header_of(PureSWATokenToKVPoolAllocator(16), window=4)["geometry"]
        self.assertEqual((pure["layout"], pure["full"], pure["swa"], pure["window"]), ("pure_swa", 16, 0, 4))

    def test_a_ring(self):
        slots = SlotsByRow(4)
        pool = SWATokenToKVPoolAllocator(32, 24, 4, kvcache=Ring(8, 6), req_to_token_pool=slots)
        recorder = self.attach(pool, slots)
        slots.alloc_rows(1)
        header, records = self.finish(recorder)
        geometry = header["geometry"]
        self.assertEqual((geometry["ring"], geometry["window"], geometry["swa"], geometry["reqs"]), (8, 6, 24, 4))
        self.assertEqual(header["gauges"]["swa_available"], 32)
        self.assertTrue(header["fresh"])
        self.assertEqual(records[0]["swa"], 24)

    def test_a_window_that_nobody_knows(self):
        header = self.header_of(hybrid())
        self.assertEqual(header["geometry"]["window"], 1)
        self.assertFalse(header["window_known"])

    def test_a_used_allocator_is_not_fresh(self):
        pool = hybrid()
        pool.swa_attn_allocator.alloc(4)
        self.assertFalse(self.header_of(pool)["fresh"])
        slots = SlotsByCount(4)
        slots.alloc(1)
        self.assertFalse(self.header_of(TokenToKVPoolAllocator(8), slots)["fresh"])

    def test_sizes_of_an_unknown_class_are_read_on_the_cpu_alone(self):
        class Own(TokenToKVPoolAllocator):
            def available_size(self):
                raise AssertionError("this would wait for the device")

        pool = Own(8)
        pool.device = "cuda"
        self.assertEqual(poolproof_recorder._size_readers(pool, "token"), (None, None))
        pool.device = "cpu"
        self.assertIsNotNone(poolproof_recorder._size_readers(pool, "token")[0])
        known = TokenToKVPoolAllocator(8)
        known.device = "cuda:1"
        self.assertIsNotNone(poolproof_recorder._size_readers(known, "token")[0])


@unittest.skipIf(torch is None, NO_TORCH)
class Slots(RecorderTest):
    def attach_to(self, slots):
        self.allocators = getattr(self, "allocators", []) + [TokenToKVPoolAllocator(8)]
        return self.attach(self.allocators[-1], slots)

    def slot_calls(self, recorder):
        return [(c["call"], c["slot"]) for c in self.calls_of(recorder)]

    def test_pools_that_lend_by_count(self):
        slots = SlotsByCount(3)
        recorder = self.attach_to(slots)
        self.assertEqual(slots.alloc(2), [0, 1])
        self.assertIsNone(slots.alloc(2))
        slots.free(1)
        slots.free([0])
        expected = [("take_slot", 0), ("take_slot", 1), ("take_slot", None), ("give_slot", 1), ("give_slot", 0)]
        self.assertEqual(self.slot_calls(recorder), expected)

    def test_pools_that_lend_to_requests(self):
        slots = SlotsByRequest(3)
        recorder = self.attach_to(slots)
        first, second = Request(), Request()
        slots.alloc([first])
        slots.alloc([first, second])  # the first keeps its slot
        slots.alloc([first])  # takes none
        slots.free(first)
        self.assertEqual(self.slot_calls(recorder), [("take_slot", 0), ("take_slot", 1), ("give_slot", 0)])

    def test_pools_that_lend_rows(self):
        slots = SlotsByRow(3)
        recorder = self.attach_to(slots)
        request = RequestWithKv()
        slots.alloc([request])
        slots.free(request)
        slots.free_rows(slots.alloc_rows(2))
        expected = [("take_slot", 3), ("give_slot", 3), ("take_slot", 3), ("take_slot", 2),
                    ("give_slot", 3), ("give_slot", 2)]  # fmt: skip
        self.assertEqual(self.slot_calls(recorder), expected)

    def test_clearing_gives_back_what_was_taken(self):
        slots = SlotsByCount(3)
        recorder = self.attach_to(slots)
        slots.alloc(2)
        slots.clear()
        slots.clear()
        expected = [("take_slot", 0), ("take_slot", 1), ("give_slot", 0), ("give_slot", 1)]
        self.assertEqual(self.slot_calls(recorder), expected)

    def test_an_error_names_the_slot(self):
        class Strict(SlotsByCount):
            def free(self, free_index):
                raise ValueError("given back twice")

        slots = Strict(3)
        recorder = self.attach_to(slots)
        with self.assertRaises(ValueError):
            slots.free(2)
        record = self.calls_of(recorder)[0]
        self.assertEqual((record["slot"], record["error"]["text"]), (2, "given back twice"))

    def test_two_allocators_may_share_a_pool(self):
        slots = SlotsByCount(3)
        first = self.attach_to(slots)
        second = self.attach_to(slots)
        slots.alloc(1)
        self.assertEqual(self.slot_calls(first), [("take_slot", 0)])
        slots.free(0)
        self.assertEqual(self.slot_calls(second), [("take_slot", 0), ("give_slot", 0)])


@unittest.skipIf(torch is None, NO_TORCH)
class Life(RecorderTest):
    """Attaching and detaching."""

    def test_detaching_gives_the_methods_back(self):
        pool, slots = hybrid(), SlotsByRow(2)
        before = set(vars(pool)), set(vars(slots)), set(vars(pool.full_attn_allocator))
        recorder = self.attach(pool, slots)
        self.assertIn("free", vars(pool))
        recorder.detach()
        self.assertEqual((set(vars(pool)), set(vars(slots)), set(vars(pool.full_attn_allocator))), before)
        self.assertTrue(recorder.detach())

    def test_a_wrapper_of_another_tool_below_and_above(self):
        pool = TokenToKVPoolAllocator(8)
        seen = []

        def tool(method, name):
            def wrapper(*args):
                seen.append(name)
                return method(*args)

            return wrapper

        below = pool.free = tool(pool.free, "below")
        recorder = self.attach(pool)
        above = pool.free = tool(pool.free, "above")
        pool.free(lens(1))
        self.assertEqual([c["call"] for c in self.calls_of(recorder)], ["free"])
        self.assertIs(pool.free, above)
        pool.free(lens(2))
        self.assertEqual(seen, ["above", "below"] * 2)
        self.assertIsNot(below, above)

    def test_signatures_stay(self):
        pool = PagedTokenToKVPoolAllocator(32, 4)
        before = inspect.signature(pool.alloc_extend)
        self.attach(pool)
        self.assertEqual(inspect.signature(pool.alloc_extend), before)
        self.assertIs(type(pool), PagedTokenToKVPoolAllocator)

    def test_a_dead_allocator_ends_its_session(self):
        pool = TokenToKVPoolAllocator(8)
        recorder = self.attach(pool)
        pool.alloc(1)
        dead = weakref.ref(pool)
        del pool
        gc.collect()
        self.assertIsNone(dead())
        self.assertFalse(recorder.active)
        recorder._thread.join(10)
        self.assertFalse(recorder._thread.is_alive())
        self.assertEqual(len(read_log(recorder.paths)[1]), 1)

    def test_an_unknown_class_is_refused_with_a_remedy(self):
        class Unified(TokenToKVPoolAllocator):
            pass

        with self.assertLogs("poolproof_recorder", logging.WARNING) as logged:
            recorder = poolproof_recorder.attach(Unified(8), self.path)
        self.assertFalse(recorder.active)
        self.assertIn("give layout=", logged.output[0])
        self.assertEqual(os.listdir(self.folder), [])

    def test_options_out_of_range_and_unwritable_paths_are_refused(self):
        blocked = os.path.join(self.folder, "file")
        with open(blocked, "w", encoding="utf-8"):
            pass
        for path, options in (
            (self.path, {"queue_bytes": 5}),
            (self.path, {"max_files": 0}),
            (self.path, {"max_file_bytes": "64M"}),
            (self.path, {"layout": "radix"}),
            (os.path.join(blocked, "kv"), {}),
        ):
            pool = TokenToKVPoolAllocator(8)
            with self.assertLogs("poolproof_recorder", logging.WARNING):
                recorder = poolproof_recorder.attach(pool, path, **options)
            self.assertFalse(recorder.active)
            self.assertNotIn("alloc", vars(pool))
            self.assertTrue(recorder.reason)

    def test_an_allocator_is_recorded_once(self):
        pool = TokenToKVPoolAllocator(8)
        first = self.attach(pool)
        with self.assertLogs("poolproof_recorder", logging.WARNING):
            second = poolproof_recorder.attach(pool, self.path)
        self.assertFalse(second.active)
        first.detach()
        self.attach(pool)

    def test_sessions_never_share_a_file(self):
        pools = [TokenToKVPoolAllocator(8) for _ in range(3)]
        first, second = self.attach(pools[0]), self.attach(pools[1])
        first.detach()
        third = self.attach(pools[2])
        names = [os.path.basename(r.paths[0]).split(".jsonl")[0] for r in (first, second, third)]
        pid = os.getpid()
        self.assertEqual(names, ["kv-%d-00000" % pid, "kv.2-%d-00000" % pid, "kv.3-%d-00000" % pid])


@unittest.skipIf(torch is None, NO_TORCH)
class Files(RecorderTest):
    def test_rotation_and_the_cap(self):
        pool = TokenToKVPoolAllocator(1 << 16)
        recorder = self.attach(pool, max_file_bytes=8192, max_files=3, frame_bytes=2048)
        generator = torch.Generator().manual_seed(1)
        for _ in range(400):
            pool.free(torch.randperm(1 << 16, generator=generator)[:64])
        header, records = self.finish(recorder)
        self.assertEqual(len(recorder.paths), 3)
        files = sorted(os.path.join(self.folder, name) for name in os.listdir(self.folder))
        self.assertEqual(files, recorder.paths)
        for path in files:
            self.assertLessEqual(os.path.getsize(path), 8192)
        self.assertGreater(header["file"], 0)
        self.assertEqual([r["n"] for r in records], list(range(header["n"], 400)))
        sessions = set()
        for number, path in enumerate(files, header["file"]):
            own, records = read_file(path)
            self.assertEqual((own["file"], own["n"]), (number, records[0]["n"]))
            self.assertIn("-%05d.jsonl" % number, path)
            sessions.add((own["session"], own["time_ns"]))
        self.assertEqual(len(sessions), 1)

    def test_later_headers_say_what_was_available_before_their_first_call(self):
        pool = TokenToKVPoolAllocator(1 << 16)
        recorder = self.attach(pool, max_file_bytes=4096, frame_bytes=1024)
        generator = torch.Generator().manual_seed(1)
        for _ in range(100):
            pool.free(torch.randperm(1 << 16, generator=generator)[:64])
        self.finish(recorder)
        files = [read_file(path) for path in recorder.paths]
        self.assertGreater(len(files), 2)
        for (_, before), (header, _) in zip(files, files[1:]):
            self.assertEqual(header["gauges"], {"full_available": before[-1]["full"]})

    def test_a_full_disk_loses_calls_and_says_so(self):
        pool = TokenToKVPoolAllocator(64)
        recorder = self.attach(pool)
        pool.alloc(1)
        recorder.flush()
        real = os.write

        def half(descriptor, data):
            real(descriptor, bytes(data[: len(data) // 2]))
            raise OSError(28, "No space left on device")

        with self.assertLogs("poolproof_recorder", logging.WARNING):
            with mock.patch.object(poolproof_recorder.os, "write", half):
                pool.alloc(1)
                pool.alloc(1)
                recorder.flush()
        pool.alloc(1)
        _, records = self.finish(recorder)
        self.assertEqual([(r["n"], r.get("call"), r.get("lost")) for r in records],
                         [(0, "alloc", None), (1, None, 2), (3, "alloc", None)])  # fmt: skip
        self.assertIn("No space left", records[1]["note"])

    def test_a_disk_that_stays_full_switches_the_recorder_off(self):
        pool = TokenToKVPoolAllocator(64)
        recorder = self.attach(pool, max_failures=2)
        with self.assertLogs("poolproof_recorder", logging.WARNING):
            full = OSError(28, "No space left on device")
            with mock.patch.object(recorder._writer._files, "write", side_effect=full):
                for _ in range(2):
                    pool.alloc(1)
                    recorder.flush()
                recorder._thread.join(10)
        self.assertFalse(recorder.active)
        self.assertFalse(recorder._thread.is_alive())
        self.assertEqual(pool.alloc(1).tolist(), [3])

    def test_without_any_zstd_the_log_is_plain(self):
        missing = mock.Mock(side_effect=OSError("no such library"))
        with mock.patch.object(poolproof_recorder, "_LibraryFrames", missing):
            with mock.patch.object(poolproof_recorder, "_PackageFrames", missing):
                with self.assertLogs("poolproof_recorder", logging.WARNING) as logged:
                    recorder = self.attach(TokenToKVPoolAllocator(8))
        self.assertIn("plain .jsonl", logged.output[0])
        self.assertTrue(recorder.paths[0].endswith("-00000.jsonl"))
        self.assertEqual(self.finish(recorder)[0]["poolproof_log"], 1)

    def test_frames_of_the_package_when_it_is_there(self):
        compressor = mock.Mock(compress=lambda text: b"frame:" + text)
        package = mock.Mock(ZstdCompressor=mock.Mock(return_value=compressor))
        with mock.patch.dict("sys.modules", zstandard=package):
            frames = poolproof_recorder._frames()
        self.assertEqual((frames.suffix, frames.frame(b"x")), (".jsonl.zst", b"frame:x"))

    def test_a_quiet_session_is_written_within_the_flush_time(self):
        pool = TokenToKVPoolAllocator(8)
        recorder = self.attach(pool, flush_seconds=0.0)
        written = threading.Event()
        write = recorder._writer._files.write

        def noted(text, first):
            write(text, first)
            written.set()

        with mock.patch.object(recorder._writer._files, "write", noted):
            pool.alloc(1)
            self.assertTrue(written.wait(10))
        self.assertEqual(len(read_log(recorder.paths)[1]), 1)


class CallsThroughAProcess(Calls):
    """The same calls, written by a process of the recorder's own."""

    writer = "process"


class SlotsThroughAProcess(Slots):
    writer = "process"


@unittest.skipIf(torch is None, NO_TORCH)
class WriterProcess(RecorderTest):
    writer = "process"

    def test_rotation(self):
        pool = TokenToKVPoolAllocator(1 << 16)
        recorder = self.attach(pool, max_file_bytes=8192, max_files=3, frame_bytes=2048)
        generator = torch.Generator().manual_seed(1)
        for _ in range(400):
            pool.free(torch.randperm(1 << 16, generator=generator)[:64])
        header, records = self.finish(recorder)
        self.assertEqual(sorted(os.path.join(self.folder, name) for name in os.listdir(self.folder)), recorder.paths)
        self.assertEqual(len(recorder.paths), 3)
        self.assertEqual([r["n"] for r in records], list(range(header["n"], 400)))
        self.assertGreater(recorder.written_bytes, 3 * 8192)

    def test_a_flush_makes_everything_readable(self):
        pool = TokenToKVPoolAllocator(64)
        recorder = self.attach(pool, flush_seconds=1000.0)
        pool.alloc(1)
        self.assertTrue(recorder.flush())
        self.assertEqual(len(read_log(recorder.paths)[1]), 1)

    def test_a_killed_writer_switches_the_recorder_off(self):
        pool = TokenToKVPoolAllocator(64)
        recorder = self.attach(pool)
        process = recorder._writer._process
        process.kill()
        process.wait()
        with self.assertLogs("poolproof_recorder", logging.WARNING) as logged:
            self.assertEqual(pool.alloc(1).tolist(), [1])
            self.assertFalse(recorder.flush())
            recorder._thread.join(10)
        self.assertIn("the writer ended", logged.output[0])
        self.assertFalse(recorder.active)
        self.assertEqual(pool.alloc(1).tolist(), [2])

    def test_a_writer_that_cannot_write_ends_and_says_so(self):
        pool = TokenToKVPoolAllocator(1 << 16)
        folder = os.path.join(self.folder, "gone")
        self.path = os.path.join(folder, "kv")
        recorder = self.attach(pool, max_file_bytes=4096, frame_bytes=1024, max_failures=2)
        shutil.rmtree(folder)  # the open file goes on; the next one cannot be made
        generator = torch.Generator().manual_seed(1)
        with self.assertLogs("poolproof_recorder", logging.WARNING):
            while recorder.active:
                pool.free(torch.randperm(1 << 16, generator=generator)[:64])
                recorder.flush()
        self.assertIn("the writer ended", recorder.reason)
        self.assertEqual(pool.alloc(1).numel(), 1)

    def test_where_no_process_can_be_started_a_thread_writes(self):
        pool = TokenToKVPoolAllocator(64)
        with mock.patch.object(poolproof_recorder.sys, "executable", os.path.join(self.folder, "missing")):
            with self.assertLogs("poolproof_recorder", logging.WARNING) as logged:
                recorder = self.attach(pool)
        self.assertIn("no writer process", logged.output[0])
        pool.alloc(1)
        self.assertEqual(len(self.calls_of(recorder)), 1)

    def test_the_writer_ends_with_the_session(self):
        recorder = self.attach(TokenToKVPoolAllocator(64))
        process = recorder._writer._process
        recorder.detach()
        self.assertEqual(process.wait(10), 0)


@unittest.skipIf(torch is None, NO_TORCH)
class SlotsOfArguments(unittest.TestCase):
    def test_where_arguments_are_found(self):
        def by_another_name(indices):
            return indices

        found = poolproof_recorder._slots_of(poolproof_recorder._METHODS["free"], by_another_name)
        self.assertEqual([(slot.index, slot.name) for slot in found], [(0, "indices")])

        def anything(*args, **kwargs):
            return args, kwargs

        found = poolproof_recorder._slots_of(poolproof_recorder._METHODS["alloc_decode"], anything)
        self.assertEqual([slot.name for slot in found], ["seq_lens", "last_loc"])
        self.assertIs(poolproof_recorder._find(found[0], (1, 2), {}), poolproof_recorder._MISSING)
        self.assertEqual(poolproof_recorder._find(found[0], (), {"seq_lens": 5}), 5)


if __name__ == "__main__":
    unittest.main()
