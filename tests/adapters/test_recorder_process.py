"""The recorder in processes that are killed, fork, exit, or switch it on by environment."""

import glob
import os
import signal
import subprocess
import sys
import textwrap
import time
import unittest

from test_recorder_support import ADAPTERS, NO_TORCH, RecorderTest, read_file, read_log, torch, without_times

HERE = os.path.dirname(os.path.abspath(__file__))
SITE = os.path.join(ADAPTERS, "poolproof_sitecustomize")
SECOND_NS = 10**9


class ProcessTest(RecorderTest):
    def environment(self, *folders, **variables):
        path = os.pathsep.join([*folders, HERE])
        clean = {k: v for k, v in os.environ.items() if not k.startswith("POOLPROOF_")}
        return dict(clean, PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1", **variables)

    def start(self, script, *folders, **variables):
        command = [sys.executable, "-c", textwrap.dedent(script), self.path]
        environment = self.environment(*folders, **variables)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def run_to_end(self, script, *folders, **variables):
        """What the script printed; it must end well."""
        process = self.start(script, *folders, **variables)
        out, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, errors)
        return out

    def logs(self):
        return sorted(glob.glob(self.path + "*"))


@unittest.skipIf(torch is None, NO_TORCH)
class Ends(ProcessTest):
    def test_a_killed_process_leaves_all_but_the_last_second(self):
        process = self.start(
            """
            import sys, time
            from test_recorder_support import TokenToKVPoolAllocator, poolproof_recorder
            pool = TokenToKVPoolAllocator(64)
            recorder = poolproof_recorder.attach(pool, sys.argv[1])
            for count in range(1, 10**9):
                pool.alloc(0)
                if count % 20 == 0:
                    print(count, time.monotonic_ns(), flush=True)
                time.sleep(0.001)
            """
        )
        marks = []
        while not marks or marks[-1][1] - marks[0][1] < 2 * SECOND_NS:
            marks.append(tuple(map(int, process.stdout.readline().split())))
        killed_ns = time.monotonic_ns()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        due = max(count for count, made_ns in marks if made_ns <= killed_ns - SECOND_NS)
        self.assertGreater(due, 100)
        _, records = read_log(self.logs())
        self.assertEqual([r["n"] for r in records], list(range(len(records))))
        self.assertGreaterEqual(len(records), due)

    def test_a_normal_end_writes_everything(self):
        self.run_to_end(
            """
            import sys
            from test_recorder_support import TokenToKVPoolAllocator, poolproof_recorder
            pool = TokenToKVPoolAllocator(64)
            poolproof_recorder.attach(pool, sys.argv[1])
            for _ in range(10):
                pool.alloc(1)
            """
        )
        _, records = read_log(self.logs())
        self.assertEqual([r["locs"] for r in records], [[[loc, 1]] for loc in range(1, 11)])

    def test_an_uncaught_exception_writes_everything(self):
        process = self.start(
            """
            import sys
            from test_recorder_support import PagedTokenToKVPoolAllocator, lens, poolproof_recorder
            pool = PagedTokenToKVPoolAllocator(64, 4)
            poolproof_recorder.attach(pool, sys.argv[1])
            pool.free_segment(lens(5), start_pos=1)
            """
        )
        _, errors = process.communicate(timeout=120)
        self.assertIn("AssertionError: the segment starts inside a page", errors)
        _, records = read_log(self.logs())
        self.assertEqual(records[0]["error"]["type"], "AssertionError")


@unittest.skipIf(torch is None, NO_TORCH)
@unittest.skipUnless(hasattr(os, "fork"), "this system has no fork")
class Forks(ProcessTest):
    def test_a_child_records_nothing_until_it_attaches_itself(self):
        out = self.run_to_end(
            """
            import os, sys
            from test_recorder_support import TokenToKVPoolAllocator, poolproof_recorder
            pool = TokenToKVPoolAllocator(64)
            recorder = poolproof_recorder.attach(pool, sys.argv[1])
            pool.alloc(1)
            child = os.fork()
            if child == 0:
                pool.alloc(2)
                assert not recorder.active and recorder.detach()
                own = poolproof_recorder.attach(pool, sys.argv[1])
                pool.alloc(3)
                assert own.detach()
                os._exit(0)
            _, status = os.waitpid(child, 0)
            assert status == 0, status
            pool.alloc(4)
            print(os.getpid(), child)
            """
        )
        parent, child = out.split()
        logs = {pid: read_log(glob.glob("%s-%s-*" % (self.path, pid))) for pid in (parent, child)}
        self.assertEqual([r["tokens"] for r in logs[parent][1]], [1, 4])
        self.assertEqual([r["tokens"] for r in logs[child][1]], [3])
        self.assertNotEqual(logs[parent][0]["session"], logs[child][0]["session"])

    def test_a_fork_inside_a_recorded_call(self):
        out = self.run_to_end(
            """
            import os, sys
            from test_recorder_support import TokenToKVPoolAllocator, poolproof_recorder

            class Forking(TokenToKVPoolAllocator):
                def alloc(self, need_size):
                    if os.fork() == 0:
                        return "child"
                    os.wait()
                    return super().alloc(need_size)

            pool = Forking(64)
            recorder = poolproof_recorder.attach(pool, sys.argv[1], layout="token")
            answer = pool.alloc(1)
            if isinstance(answer, str):
                os._exit(0)
            print(answer.tolist())
            """
        )
        self.assertEqual(out, "[1]\n")
        self.assertEqual(len(read_log(self.logs())[1]), 1)


SCRIPT = """
    import sys
    from sglang.srt.mem_cache.memory_pool import ReqToTokenPool
    import importlib
    home = importlib.import_module("sglang.srt.mem_cache." + {home!r})
    slots = ReqToTokenPool(4)
    pool = home.SWATokenToKVPoolAllocator(32, 24, 4)
    slots.alloc_rows(1)
    pool.full_attn_allocator.alloc(4)
    print("poolproof_recorder" in sys.modules, getattr(sys.modules.get("sitecustomize"), "theirs", None))
"""


@unittest.skipIf(torch is None, NO_TORCH)
class ByEnvironment(ProcessTest):
    """A miniature of the engine's packages, in the places of old and of new releases."""

    def setUp(self):
        super().setUp()
        self.packages = os.path.join(self.folder, "packages")
        self.write("sglang/__init__.py", "__version__ = '9.9.9'")
        self.write("sglang/srt/__init__.py", "")
        self.write("sglang/srt/mem_cache/__init__.py", "")
        self.write(
            "sglang/srt/mem_cache/memory_pool.py",
            """
            from test_recorder_support import SlotsByRow

            class ReqToTokenPool(SlotsByRow):
                def __init__(self, size):
                    super().__init__(size)
            """,
        )

    def write(self, name, text):
        path = os.path.join(self.packages, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))

    def write_old_release(self):
        self.write(
            "sglang/srt/mem_cache/allocator.py",
            """
            from test_recorder_support import BaseTokenToKVPoolAllocator, SWATokenToKVPoolAllocator
            """,
        )

    def write_new_release(self):
        """The hybrid class is defined after its base has been seen."""
        self.write("sglang/srt/mem_cache/allocator/__init__.py", "from .base import BaseTokenToKVPoolAllocator")
        base = "from test_recorder_support import BaseTokenToKVPoolAllocator"
        self.write("sglang/srt/mem_cache/allocator/base.py", base)
        self.write(
            "sglang/srt/mem_cache/allocator/swa.py",
            """
            import test_recorder_support as support

            class SWATokenToKVPoolAllocator(support.SWATokenToKVPoolAllocator):
                def __init__(self, size, size_swa, page_size):
                    super().__init__(size, size_swa, page_size)
                    self.late = True
            """,
        )

    def recorded(self, home, **variables):
        """(printed, header, records) of a server that is switched on by environment."""
        out = self.run_to_end(SCRIPT.format(home=home), SITE, self.packages, POOLPROOF_RECORD=self.path, **variables)
        logs = self.logs()
        self.assertEqual(len(logs), 1, "one session: the pools inside are no allocators of their own")
        header, records = read_file(logs[0])
        return out, header, records

    def check(self, header, records):
        self.assertEqual(header["class"], "SWATokenToKVPoolAllocator")
        self.assertEqual(header["geometry"]["reqs"], 4)
        self.assertTrue(header["fresh"])
        self.assertEqual(
            without_times(records),
            [
                {"call": "take_slot", "slot": 4, "full": 32, "swa": 24},
                {"lost": 1, "call": "full_attn_allocator.alloc", "tokens": 4, "locs": [[4, 4]], "full": 28, "swa": 24},
            ],
        )

    def test_an_old_release(self):
        self.write_old_release()
        _, header, records = self.recorded("allocator")
        self.check(header, records)

    def test_a_new_release(self):
        self.write_new_release()
        _, header, records = self.recorded("allocator.swa")
        self.check(header, records)
        self.assertEqual(header["engine"], "sglang 9.9.9")

    def test_options(self):
        self.write_old_release()
        variables = {
            "POOLPROOF_RECORD": self.path,
            "POOLPROOF_RECORD_WINDOW": "12",
            "POOLPROOF_RECORD_MAX_FILES": "many",
        }
        process = self.start(SCRIPT.format(home="allocator"), SITE, self.packages, **variables)
        _, errors = process.communicate(timeout=120)
        header, _ = read_file(self.logs()[0])
        self.assertEqual((header["geometry"]["window"], header["window_known"]), (12, True))
        self.assertIn("POOLPROOF_RECORD_MAX_FILES=many is no whole number", errors)

    def test_another_sitecustomize_is_run_as_well(self):
        self.write_old_release()
        self.write("sitecustomize.py", "theirs = 'run'")
        out, header, records = self.recorded("allocator")
        self.assertEqual(out, "True run\n")
        self.check(header, records)

    def test_without_the_variable_nothing_is_loaded(self):
        self.write_old_release()
        self.write("sitecustomize.py", "theirs = 'run'")
        script = "import sys; print('poolproof_recorder' in sys.modules, sys.modules['sitecustomize'].theirs)"
        self.assertEqual(self.run_to_end(script, SITE, self.packages), "False run\n")

    def test_a_failing_constructor_fails_as_before(self):
        self.write_old_release()
        script = """
            from sglang.srt.mem_cache import allocator
            try:
                allocator.SWATokenToKVPoolAllocator(32)
            except TypeError as error:
                print(error)
            allocator.SWATokenToKVPoolAllocator(32, 24, 4).clear()
        """
        out = self.run_to_end(script, SITE, self.packages, POOLPROOF_RECORD=self.path)
        self.assertIn("missing 2 required positional arguments", out)
        self.assertEqual(len(read_log(self.logs())[1]), 1)

    def test_modules_that_were_imported_before(self):
        self.write_old_release()
        script = """
            import sys
            from sglang.srt.mem_cache import allocator
            import poolproof_recorder
            poolproof_recorder.install(sys.argv[1])
            pool = allocator.SWATokenToKVPoolAllocator(32, 24, 4)
            pool.clear()
        """
        self.run_to_end(script, ADAPTERS, self.packages)
        self.assertEqual([r["call"] for r in read_log(self.logs())[1]], ["clear"])


if __name__ == "__main__":
    unittest.main()
