"""adapters/sglang_adapter.py: on miniature releases always, on real ones where POOLPROOF_SGLANG_DIR names them.

    python3 -m unittest discover -s tests/adapters -p 'test_*.py'

POOLPROOF_SGLANG_DIR is a folder with an unpacked `sglang` package, or one with several such folders.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from adapter_process import NO_LAST_LOC, SGLANG_ADAPTER, AdapterProcess, expand  # noqa: E402
from fake_sglang import HEAVY_FILES, NEW_FILES, OLD_FILES, write_package  # noqa: E402
from pool_walk import Walk  # noqa: E402

HAVE_TORCH = importlib.util.find_spec("torch") is not None
NO_TORCH = "PyTorch is not installed: the allocators cannot be imported"
REAL = os.environ.get("POOLPROOF_SGLANG_DIR")
NO_REAL = "POOLPROOF_SGLANG_DIR is not set: no release of SGLang at hand"

EXTEND_SIX = {"call": "alloc_extend", "prefix_lens": [0], "seq_lens": [6], "last_locs": [NO_LAST_LOC]}
PAGED = {"layout": "paged", "page": 4, "full": 32, "reqs": 4}
HYBRID = {"layout": "hybrid", "page": 4, "full": 32, "swa": 24, "window": 6, "reqs": 4}
RING = {**HYBRID, "ring": 9}


@unittest.skipUnless(HAVE_TORCH, NO_TORCH)
class FakeRelease(unittest.TestCase):
    """Starts the adapter on a miniature release, and ends it."""

    files = NEW_FILES
    options = ()
    patch = ""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        write_package(cls.folder.name, {**cls.files, "patch.py": cls.patch})
        patching = ("--patch", os.path.join(cls.folder.name, "patch.py")) if cls.patch else ()
        cls.adapter = AdapterProcess("--sglang", cls.folder.name, *cls.options, *patching)

    @classmethod
    def tearDownClass(cls):
        status = cls.adapter.close()
        cls.folder.cleanup()
        assert status == 0, cls.adapter.stderr

    def notes(self):
        return "\n".join(self.adapter.hello["notes"])


class NewMethodSet(FakeRelease):
    def test_hello_names_the_release_and_says_that_nothing_is_stubbed(self):
        self.assertEqual(self.adapter.hello["poolproof"], 1)
        self.assertEqual(self.adapter.hello["version"], "0.9.new")
        self.assertIn("imported whole", self.notes())
        self.assertNotIn("stubbed", self.notes())

    def test_capabilities_are_those_of_the_classes(self):
        paged = self.adapter.pool("paged", 4)
        self.assertEqual(paged["page"], [2, 65536])
        self.assertEqual(paged["need_sort"], [False, True])
        for call in ("free_segments", "free_group", "free_group_probe", "resize", "slots", "census"):
            self.assertIn(call, paged["calls"])
        self.assertNotIn("snapshot", paged["calls"])
        hybrid = self.adapter.pool("hybrid", 4)
        for call in ("alloc_extend_swa_tail", "mapping", "free_swa_segments", "free_full_segments", "translate"):
            self.assertIn(call, hybrid["calls"])
        self.assertNotIn("alloc", hybrid["calls"])
        self.assertIn("alloc", self.adapter.pool("hybrid", 1)["calls"])
        self.assertIsNotNone(self.adapter.pool("hybrid", 4, ring=True))
        self.assertIsNone(self.adapter.pool("pure_swa"))

    def test_later_calls_of_a_line_name_locs_of_earlier_ones(self):
        self.adapter.reset(**HYBRID)
        answers = self.adapter.run(
            EXTEND_SIX,
            {"call": "alloc_decode", "seq_lens": [7], "last_locs": [[0, 5, 1]]},
            {"call": "translate", "locs": [[0, 0, 6], [1, 0, 1]]},
            {"call": "free", "locs": [[0, 0, 6], [1, 0, 1]]},
            {"call": "translate", "locs": [[0, 4, 2]]},
            {"call": "gauges"},
        )
        self.assertEqual(answers[:4], [{"locs": [[4, 6]]}, {"locs": [[10, 1]]}, {"locs": [[4, 7]]}, {}])
        self.assertEqual(expand(answers[4]["locs"]), [0, 0])
        self.assertEqual(answers[5]["gauges"]["swa_pool_available"], 24)

    def test_other_slots_of_a_page_are_named_by_its_first_loc(self):
        self.adapter.reset(**HYBRID)
        answers = self.adapter.run(EXTEND_SIX, {"call": "translate", "locs": [[0, 4, 0, 4], [0, 0, 3, 2]]})
        self.assertEqual(expand(answers[1]["locs"]), [8, 9, 0, 0, 7, 8])

    def test_locs_that_no_call_answered_are_an_error(self):
        self.adapter.reset(**HYBRID)
        answers = self.adapter.run(EXTEND_SIX, {"call": "free", "locs": [[0, 3, 4]]}, {"call": "gauges"})
        self.assertEqual(answers[1]["error"]["type"], "IndexError")
        self.assertEqual(len(answers), 2)

    def test_gauges_say_what_a_hybrid_says(self):
        self.adapter.reset(**HYBRID)
        self.adapter.run(EXTEND_SIX)
        expected = {
            "available": 16,
            "size": 24,
            "full_available": 24,
            "full_size": 32,
            "swa_available": 16,
            "swa_size": 24,
            "swa_pool_available": 16,
            "swa_pool_size": 24,
            "mapping_tail": -1,
            "slots_free": 4,
            "slots": 4,
        }
        self.assertEqual(self.adapter.gauges(), expected)

    def test_census_shows_lists_and_mapping(self):
        self.adapter.reset(**HYBRID, need_sort=True)
        self.adapter.run(EXTEND_SIX, {**EXTEND_SIX, "seq_lens": [3]}, {"call": "free", "locs": [[0, 0, 6]]})
        census = self.adapter.census()
        self.assertEqual(census["full"], {"free": [[4, 5]], "staged": [[1, 2]], "deferred": []})
        self.assertEqual(census["swa"], {"free": [[4, 3]], "staged": [[1, 2]], "deferred": []})
        self.assertEqual(census["mapping"], [[12, 12, 3], [36, -1, 1]])
        self.assertEqual(sorted(expand(census["free_slots"])), [1, 2, 3, 4])

    def test_deferred_pages_are_those_of_the_open_group(self):
        self.adapter.reset(**HYBRID)
        self.adapter.run(EXTEND_SIX, {"call": "free_group_begin"}, {"call": "free", "locs": [[0, 0, 6]]})
        census = self.adapter.census()
        self.assertEqual((census["full"]["deferred"], census["swa"]["deferred"]), ([[1, 2]], [[1, 2]]))
        self.assertEqual(self.adapter.gauges()["full_available"], 24)
        self.adapter.run({"call": "free_group_end"})
        self.assertEqual(self.adapter.census()["full"]["deferred"], [])
        self.assertEqual(self.adapter.gauges()["full_available"], 32)

    def test_nested_group_is_refused_only_where_it_is_a_probe(self):
        self.adapter.reset(**PAGED)
        self.assertEqual(self.adapter.call("free_group_begin"), {})
        self.assertEqual(self.adapter.call("free_group_begin", again=True), {"refused": True})
        error = self.adapter.call("free_group_begin")["error"]
        self.assertEqual(error["type"], "AssertionError")
        self.assertRegex(error["where"], r"^base\.py:\d+$")
        self.assertEqual(self.adapter.call("free_group_end", again=True), {})

    def test_error_is_the_last_answer_of_its_line(self):
        self.adapter.reset(**PAGED)
        bad = {"call": "free_segments", "segments": [{"locs": [[4, 2]], "start_pos": 2}]}
        answers = self.adapter.run({"call": "gauges"}, bad, {"call": "gauges"})
        self.assertEqual(len(answers), 2)
        self.assertIn("not page-aligned", answers[1]["error"]["text"])

    def test_refused_when_it_does_not_fit(self):
        self.adapter.reset(**PAGED)
        self.assertEqual(self.adapter.call("alloc", tokens=36), {"refused": True})
        self.assertEqual(self.adapter.call("alloc", tokens=32), {"locs": [[4, 32]]})

    def test_tail_that_ends_before_the_extend_is_made_in_two(self):
        self.adapter.reset(**HYBRID)
        tail = {"prefix_lens": [0], "seq_lens": [14], "last_locs": [NO_LAST_LOC], "tail_len": 4, "tail_end": 8}
        self.assertEqual(self.adapter.call("alloc_extend_swa_tail", **tail), {"locs": [[4, 14]]})
        peers = expand(self.adapter.call("translate", locs=[[4, 14]])["locs"])
        self.assertEqual(peers, [0] * 4 + [4, 5, 6, 7] + [0] * 6)
        tail.update(seq_lens=[40], tail_end=36)
        self.assertEqual(self.adapter.call("alloc_extend_swa_tail", **tail), {"refused": True})

    def test_mapping_can_be_moved(self):
        self.adapter.reset(**HYBRID)
        answers = self.adapter.run(
            {**EXTEND_SIX, "seq_lens": [4]},
            {"call": "set_full_to_swa_mapping", "locs": [[8, 4]], "swa": [[4, 4]]},
            {"call": "clear_full_to_swa_mapping", "locs": [[0, 0, 4]]},
            {"call": "translate", "locs": [[4, 8]]},
        )
        self.assertEqual(expand(answers[-1]["locs"]), [0, 0, 0, 0, 4, 5, 6, 7])

    def test_ring_counts_request_slots(self):
        self.adapter.reset(**RING)
        answers = self.adapter.run({"call": "take_slot"}, {"call": "gauges"}, {"call": "give_slot", "slot_of": 0})
        self.assertIn(answers[0]["slot"], range(1, 5))
        gauges = answers[1]["gauges"]
        self.assertEqual((gauges["swa_available"], gauges["swa_size"]), (3 * 12, 4 * 12))
        self.assertEqual((gauges["slots_free"], gauges["swa_pool_available"]), (3, 24))
        self.assertEqual(self.adapter.gauges()["slots_free"], 4)

    def test_no_fifth_slot_of_four(self):
        self.adapter.reset(**RING)
        answers = self.adapter.run(*[{"call": "take_slot"}] * 5)
        self.assertEqual(len({answer["slot"] for answer in answers[:4]}), 4)
        self.assertEqual(answers[4], {"refused": True})

    def test_clear_and_resize_make_it_new(self):
        self.adapter.reset(**PAGED)
        self.adapter.run(EXTEND_SIX, {"call": "take_slot"}, {"call": "clear"})
        gauges = self.adapter.gauges()
        self.assertEqual((gauges["available"], gauges["slots_free"]), (32, 4))
        self.adapter.run({"call": "resize", "full": 16, "swa": 0})
        self.assertEqual(self.adapter.gauges()["size"], 16)

    def test_many_locs_take_the_same_way(self):
        self.adapter.reset(layout="paged", page=4, full=4000)
        answers = self.adapter.run(
            {**EXTEND_SIX, "seq_lens": [1000]},
            {"call": "free", "locs": [[0, 0, 500]]},
            {"call": "alloc_extend", "prefix_lens": [1000], "seq_lens": [1900], "last_locs": [[0, 999, 1]]},
            {"call": "free", "locs": [[0, 500, 500], [2, 0, 900]]},
            {"call": "gauges"},
        )
        self.assertEqual(answers[0], {"locs": [[4, 1000]]})
        self.assertEqual(sum(count for _first, count in answers[2]["locs"]), 900)
        self.assertEqual(answers[4]["gauges"]["available"], 4000)

    def test_impossible_geometry_is_an_error_and_not_the_end(self):
        answer = self.adapter.exchange({"reset": {"layout": "pure_swa", "page": 1, "full": 8}})
        self.assertIn("see the hello", answer["error"]["text"])
        self.adapter.reset(**PAGED)

    def test_walk(self):
        words = ["extend", "extend", "decode", "free", "free_segments", "group", "clear"]
        for entry in self.adapter.hello["pools"]:
            for geometry in geometries_of(entry):
                with self.subTest(geometry):
                    walk = Walk(self.adapter, geometry, words, seed=3)
                    for _ in range(10):
                        walk.steps(12)
                        walk.check_census()
                    self.assertGreater(walk.refusals, 0)


class TailWithAnEnd(FakeRelease):
    patch = """
def alloc_extend_swa_tail(
    self, *, prefix_lens, prefix_lens_cpu, seq_lens, seq_lens_cpu, last_loc, extend_num_tokens, swa_tail_len,
    swa_tail_end
):
    return torch.tensor([extend_num_tokens, swa_tail_len, swa_tail_end])


SWATokenToKVPoolAllocator.alloc_extend_swa_tail = alloc_extend_swa_tail
"""

    def test_the_end_is_counted_from_the_first_new_token(self):
        self.adapter.reset(**HYBRID)
        tail = {"prefix_lens": [4], "seq_lens": [14], "last_locs": [[7, 1]], "tail_len": 3, "tail_end": 11}
        self.assertEqual(expand(self.adapter.call("alloc_extend_swa_tail", **tail)["locs"]), [10, 3, 7])


class OldMethodSet(FakeRelease):
    files = OLD_FILES

    def test_capabilities_are_those_of_the_classes(self):
        self.assertEqual(self.adapter.hello["version"], "0.4.old")
        paged = self.adapter.pool("paged", 4)
        self.assertEqual(paged["need_sort"], [False])
        self.assertIn("snapshot", paged["calls"])
        for call in ("free_segments", "resize"):
            self.assertNotIn(call, paged["calls"])
        hybrid = self.adapter.pool("hybrid", 1)
        self.assertEqual(hybrid["page"], [1, 1])
        for call in ("snapshot", "mapping", "free_full", "alloc_extend_swa_tail"):
            self.assertNotIn(call, hybrid["calls"])
        self.assertIsNone(self.adapter.pool("hybrid", 4))
        self.assertIsNone(self.adapter.pool("hybrid", 1, ring=True))

    def test_gauges_leave_out_what_the_release_has_not(self):
        self.adapter.reset(layout="hybrid", full=8, swa=6, reqs=2)
        gauges = self.adapter.gauges()
        for key in ("available", "size", "mapping_tail"):
            self.assertNotIn(key, gauges)
        self.assertEqual((gauges["full_available"], gauges["swa_available"], gauges["slots_free"]), (8, 6, 2))
        self.assertIn("available_size", self.notes())

    def test_an_allocator_that_keeps_a_view_is_seen(self):
        self.adapter.reset(**PAGED)
        self.adapter.run(
            EXTEND_SIX, {"call": "free_group_begin"}, {"call": "free", "locs": [[0, 0, 6]]}, {"call": "free_group_end"}
        )
        self.assertEqual(self.adapter.census()["full"]["free"], [[0, 1], [3, 6]])

    def test_backup_is_restored_as_often_as_asked(self):
        self.adapter.reset(**PAGED)
        self.adapter.run(EXTEND_SIX, {"call": "backup_state", "key": 5})
        for _ in range(2):
            answers = self.adapter.run(EXTEND_SIX, {"call": "restore_state", "key": 5}, {"call": "gauges"})
            self.assertEqual(answers[0], {"locs": [[12, 6]]})
            self.assertEqual(answers[2]["gauges"]["available"], 24)

    def test_slots_are_counted_from_zero(self):
        self.adapter.reset(**PAGED)
        answers = self.adapter.run({"call": "take_slot"}, {"call": "take_slot"}, {"call": "give_slot", "slot": 0})
        self.assertEqual(answers, [{"slot": 0}, {"slot": 1}, {}])
        self.assertEqual(expand(self.adapter.census()["free_slots"]), [2, 3, 0])


class SparedIndices(FakeRelease):
    files = OLD_FILES
    options = ("--spare-indices",)

    def test_a_view_is_as_good_as_a_copy(self):
        self.adapter.reset(**PAGED)
        self.adapter.run(
            EXTEND_SIX, {"call": "free_group_begin"}, {"call": "free", "locs": [[0, 0, 6]]}, {"call": "free_group_end"}
        )
        self.assertEqual(self.adapter.census()["full"]["free"], [[1, 8]])


class StubLayer(FakeRelease):
    files = HEAVY_FILES

    def test_notes_say_what_is_not_there(self):
        notes = self.notes()
        self.assertIn("imported alone", notes)
        self.assertIn("missing, stubbed: poolproof_has_no_such_package, triton_that_is_not_there", notes)
        self.assertIn("of the engine, stubbed: sglang.srt.layers", notes)
        self.assertIn("left out, stubbed: sglang.srt.utils, line 18 (RuntimeError: this module needs a GPU)", notes)
        self.assertRegex(notes, r"left out, stubbed: sglang\.srt\.utils, line 21 \(ZeroDivisionError")
        self.assertRegex(notes, r"left out, stubbed: sglang\.srt\.utils, line 22 \(ImportError: .*no_such_function")

    def test_it_lends_by_the_functions_of_the_release(self):
        self.adapter.reset(**HYBRID)
        walk = Walk(self.adapter, {**HYBRID, "swa": 32}, ["extend", "decode", "free", "free_segments", "group"])
        walk.steps(100)
        walk.check_census()


class StubThatIsCalled(FakeRelease):
    files = HEAVY_FILES
    patch = """
paged = modules["sglang.srt.mem_cache.allocator.paged"]
PagedTokenToKVPoolAllocator.free = lambda self, free_index: paged.calls_a_stub()
"""

    def test_it_raises_and_names_itself(self):
        self.adapter.reset(**PAGED)
        error = self.adapter.run(EXTEND_SIX, {"call": "free", "locs": [[0, 0, 6]]})[1]["error"]
        self.assertEqual(error["type"], "StubCalled")
        self.assertIn("sglang.srt.layers.heavy.kernels.run", error["text"])
        self.assertRegex(error["where"], r"^paged\.py:\d+$")
        self.assertIn("patched by", self.notes())


class UnknownConstructor(FakeRelease):
    patch = """
class SWATokenToKVPoolAllocator(SWATokenToKVPoolAllocator):
    def __init__(self, size, size_swa, page_size, dtype, device, kvcache, need_sort, rope_cache, req_to_token_pool):
        pass

"""

    def test_what_cannot_be_built_is_told_and_the_rest_is_offered(self):
        self.assertIsNone(self.adapter.pool("hybrid", 4))
        self.assertIsNotNone(self.adapter.pool("paged", 4))
        self.assertRegex(self.notes(), r"hybrid of page size 4: cannot be built: .*`rope_cache`")


class PlantedFault(FakeRelease):
    options = ("--without", "slots, resize")
    patch = "TokenToKVPoolAllocator.give_back = lambda self, pages: None"

    def test_the_walk_sees_it(self):
        geometry = {"layout": "token", "page": 1, "full": 12, "swa": 0}
        with self.assertRaisesRegex(AssertionError, "available"):
            Walk(self.adapter, geometry, ["extend", "free"]).steps(50)

    def test_calls_can_be_left_out(self):
        for entry in self.adapter.hello["pools"]:
            self.assertNotIn("slots", entry["calls"])
            self.assertNotIn("resize", entry["calls"])


@unittest.skipUnless(HAVE_TORCH, NO_TORCH)
class Complaints(unittest.TestCase):
    def run_adapter(self, *arguments):
        return subprocess.run(
            [sys.executable, SGLANG_ADAPTER, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True
        )

    def test_a_folder_without_the_package_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            result = self.run_adapter("--sglang", folder)
        self.assertEqual(result.returncode, 3)
        self.assertIn("no sglang/srt in", result.stderr)
        self.assertEqual(result.stdout, "")

    def test_an_unknown_call_to_leave_out_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            write_package(folder, NEW_FILES)
            result = self.run_adapter("--sglang", folder, "--without", "free_swa,free_swap")
        self.assertEqual(result.returncode, 3)
        self.assertIn("--without free_swap: no pool", result.stderr)

    def test_list_is_for_people(self):
        with tempfile.TemporaryDirectory() as folder:
            write_package(folder, NEW_FILES)
            result = self.run_adapter("--sglang", folder, "--list")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("sglang 0.9.new on cpu", result.stdout)
        self.assertIn("hybrid (page 2..65536, ring, need_sort)", result.stdout)

    def test_only_whole_says_why_not(self):
        with tempfile.TemporaryDirectory() as folder:
            write_package(folder, HEAVY_FILES)
            result = self.run_adapter("--sglang", folder, "--import", "whole")
        self.assertEqual(result.returncode, 3)
        self.assertIn("the whole engine cannot be imported here", result.stderr)


@unittest.skipUnless(HAVE_TORCH, NO_TORCH)
class Kernels(unittest.TestCase):
    """The adapter's code in place of the two Triton kernels."""

    @classmethod
    def setUpClass(cls):
        spec = importlib.util.spec_from_file_location("sglang_adapter", SGLANG_ADAPTER)
        cls.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cls.module)
        import torch

        cls.tensor = staticmethod(torch.tensor)

    def extend(self, prefix_lens, seq_lens, last_loc, free_pages, old=False):
        out = self.tensor([0] * (sum(seq_lens) - sum(prefix_lens)))
        ret_values = self.tensor(0)
        lens = [self.tensor(lens) for lens in (prefix_lens, seq_lens, last_loc, free_pages)]
        self.module.CPU_KERNELS["alloc_extend_kernel"][(1,)](*lens, out, *([ret_values] if old else []), 2, 4, 64)
        return out.tolist(), int(ret_values)

    def decode(self, seq_lens, last_loc, free_pages, old=False):
        out = self.tensor([0] * len(seq_lens))
        ret_values = self.tensor(0)
        lens = [self.tensor(lens) for lens in (seq_lens, last_loc, free_pages)]
        self.module.CPU_KERNELS["alloc_decode_kernel"][(1,)](*lens, out, *([ret_values] if old else []), 2, 4)
        return out.tolist(), int(ret_values)

    def test_extend_fills_the_old_page_then_whole_ones_then_a_head(self):
        out, _none = self.extend([2, 0], [11, 3], [21, -1], [9, 5, 7, 3])
        self.assertEqual(out, [22, 23, 36, 37, 38, 39, 20, 21, 22, 28, 29, 30])

    def test_extend_inside_its_page_takes_none(self):
        self.assertEqual(self.extend([1], [3], [12], [])[0], [13, 14])

    def test_extend_tells_old_releases_pages_and_tokens(self):
        self.assertEqual(self.extend([2, 0], [11, 3], [21, -1], [9, 5, 7, 3], old=True)[1], (3 << 32) | 12)

    def test_extend_of_a_short_list_still_counts(self):
        self.assertEqual(self.extend([0], [9], [-1], [6], old=True)[1], (3 << 32) | 9)

    def test_decode_takes_a_page_at_its_border_alone(self):
        out, pages = self.decode([5, 6, 9], [7, 9, 15], [2, 8], old=True)
        self.assertEqual((out, pages), ([8, 10, 32], 2))
        self.assertEqual(self.decode([6, 7], [9, 14], [])[0], [10, 15])

    def test_nothing_beyond_a_short_list_looks_like_a_page_twice(self):
        out, _none = self.extend([0], [12], [-1], [6])
        self.assertEqual(out[:4], [24, 25, 26, 27])
        self.assertEqual(len(set(out)), 12)
        self.assertLess(max(out[4:]), 0)


# What real releases are known to do right, with everything that a later test would need; what they do wrong is
# poolproof's to find.
SOUND_WORDS = ["extend", "extend", "decode", "decode", "free", "free", "clear"]


def geometries_of(entry):
    """Small pools of a kind, for walks."""
    page = 4 if entry["page"][1] > 1 else 1
    for need_sort in entry["need_sort"]:
        yield {
            "layout": entry["layout"],
            "page": page,
            "full": 10 * page,
            "swa": 9 * page if entry["layout"] == "hybrid" else 0,
            "ring": 2 * page + 1 if entry["ring"] == [True] else 0,
            "window": page,
            "reqs": 4,
            "need_sort": need_sort,
        }


def real_releases():
    """The folders below POOLPROOF_SGLANG_DIR, or itself, that hold an unpacked package."""
    folders = [REAL, *[os.path.join(REAL, name) for name in sorted(os.listdir(REAL))]]
    return [folder for folder in folders if os.path.isdir(os.path.join(folder, "sglang", "srt"))]


@unittest.skipUnless(HAVE_TORCH, NO_TORCH)
@unittest.skipUnless(REAL, NO_REAL)
class RealReleases(unittest.TestCase):
    def each(self, claim, *options):
        releases = real_releases()
        self.assertTrue(releases, f"no folder with sglang/srt in {REAL}")
        for folder in releases:
            with AdapterProcess("--sglang", folder, *options) as adapter:
                with self.subTest(release=adapter.hello["version"]):
                    claim(adapter)

    def test_every_release_offers_token_and_paged_pools(self):
        def claim(adapter):
            self.assertRegex(adapter.hello["version"], r"^0\.\d+\.\d+")
            for layout, page in (("token", 1), ("paged", 16)):
                calls = adapter.pool(layout, page)["calls"]
                for call in ("alloc", "alloc_extend", "alloc_decode", "free", "free_group", "clear", "slots", "census"):
                    self.assertIn(call, calls)

        self.each(claim)

    def test_the_functions_that_allocators_call_are_the_release_s_own(self):
        def claim(adapter):
            (stubbed,) = [note for note in adapter.hello["notes"] if note.startswith("of the engine, stubbed: ")]
            names = stubbed.partition(": ")[2].split(", ")
            for own in ("utils", "utils.common", "utils.invariants", "environ", "platforms", "mem_cache.memory_pool"):
                self.assertNotIn("sglang.srt." + own, names)

        self.each(claim)

    def test_walk(self):
        def claim(adapter):
            for entry in adapter.hello["pools"]:
                for geometry in geometries_of(entry):
                    if geometry["ring"] and geometry["page"] == 1:
                        continue  # alloc() draws from the paged SWA pool there
                    if adapter.hello["version"].startswith("0.5.10") and entry["layout"] == "hybrid":
                        continue  # it refuses extends that fit
                    with self.subTest(geometry):
                        self.walk(adapter, entry, geometry)

        self.each(claim, "--spare-indices")

    def walk(self, adapter, entry, geometry):
        words = list(SOUND_WORDS)
        if "free_segments" in entry["calls"]:
            words += ["free_segments"]
        if entry["layout"] != "hybrid" or "free_full_segments" in entry["calls"]:
            words += ["group"]
        if entry["layout"] == "hybrid" and geometry["page"] > 1 and not geometry["ring"]:
            words += ["free_swa"]
        walk = Walk(adapter, geometry, words, seed=5)
        for _ in range(20):
            walk.steps(10)
            walk.check_census()


if __name__ == "__main__":
    unittest.main()
