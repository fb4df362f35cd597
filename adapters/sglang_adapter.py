#!/usr/bin/env python3
"""Drives SGLang's own KV-cache pool allocators for poolproof, over the protocol of docs/external.md.

    poolproof check --impl exec:'python3 adapters/sglang_adapter.py --sglang DIR'

DIR is a folder that holds an unpacked `sglang` package (a wheel is a zip file); without --sglang the installed one is
used. `--list` prints what the release offers and exits. Needs Python 3.9 or newer and PyTorch.

Sections: options; importing the allocators alone; kernels without Triton; the release; stand-ins; pools; what a release
offers; locs as runs; the protocol.
"""

import __future__

import abc
import argparse
import ast
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import inspect
import json
import logging
import os
import re
import sys
import traceback
import types

try:
    import torch
except ImportError:
    print("sglang_adapter.py: PyTorch is not installed for this Python; the allocators need it", file=sys.stderr)
    sys.exit(3)

PROTOCOL_VERSION = 1
LARGEST_PAGE = 65536


class AdapterError(Exception):
    """Something that the person who started the adapter can put right; the text says how."""


# ---------------------------------------------------------------------------------------------------------------------
# Options


def parse_options(argv):
    parser = argparse.ArgumentParser(
        prog="sglang_adapter.py",
        description="Drives SGLang's KV-cache pool allocators over poolproof's adapter protocol.",
    )
    parser.add_argument("--sglang", metavar="DIR", help="a folder with the unpacked sglang package")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where pools live (default cpu)")
    parser.add_argument(
        "--import",
        dest="how",
        choices=("auto", "whole", "alone"),
        default="auto",
        help="whole: sglang as it is; alone: the allocator modules, the rest stubbed; auto: whole, else alone",
    )
    parser.add_argument("--debug", action="store_true", help="turn on the engine's own checks")
    parser.add_argument(
        "--patch", metavar="FILE", action="append", default=[], help="a Python file to execute after the import"
    )
    parser.add_argument(
        "--without",
        metavar="CALLS",
        type=lambda text: {name.strip() for name in text.split(",")},
        default=set(),
        help="names of calls, by comma, that are not offered: to look past a finding that is known",
    )
    parser.add_argument(
        "--spare-indices",
        action="store_true",
        help="leave the index arrays given to frees alone after the call (by default they are overwritten)",
    )
    parser.add_argument(
        "--index-dtype",
        choices=("int64", "int32"),
        default="int64",
        help="dtype of the index arrays given to frees; the engine's req_to_token is int32",
    )
    parser.add_argument("--list", action="store_true", help="print what the release offers, for people, and exit")
    return parser.parse_args(argv)


# The engine's switches for its own checks. Names that a release does not know do nothing there.
DEBUG_ENVIRONMENT = {
    "SGLANG_DEBUG_MEMORY_POOL": "1",
    "SGLANG_INVARIANT_CHECK": "2",
    "SGLANG_ENABLE_ASYNC_ASSERT": "1",
}


# ---------------------------------------------------------------------------------------------------------------------
# Importing the allocators alone
#
# The allocators need little of the engine, but their modules import much: kernels, quantization, web servers. Where
# sglang cannot be imported whole, the modules below are executed as they are and everything else that they ask for is a
# stub: a class that tolerates whatever a module does with it while it is imported, and raises when it is called later.
# So nothing that is missing can change what an allocator does unnoticed. Where a statement of a module raises, the
# module goes on without it.

PACKAGE = "sglang"

# Executed as they are, with what lies below them. What these import directly is executed too.
ALLOCATOR_MODULES = (
    "sglang.srt.mem_cache.allocator",
    "sglang.srt.mem_cache.swa_memory_pool",
    "sglang.srt.mem_cache.base_swa_memory_pool",
    "sglang.srt.mem_cache.triton_ops.allocator",
    "sglang.kernels.ops.memory",
)
# Executed as they are, without a wider circle.
SUPPORT_MODULES = (
    "sglang.srt.mem_cache.memory_pool",
    "sglang.srt.constants",
    "sglang.srt.environ",
    "sglang.srt.platforms",
    "sglang.srt.torch_memory_saver_adapter",
    "sglang.srt.utils",
)
# Beside an allocator, but not needed for the ones that are driven here.
SKIPPED_MODULES = (
    "sglang.srt.mem_cache.allocator.hisparse",
    "sglang.srt.mem_cache.allocator.mamba",
    "sglang.srt.mem_cache.radix_cache",
    "sglang.srt.layers",
    "sglang.srt.utils.hf_transformers_patches",
)


def lies_in(name, prefixes):
    return any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes)


class StubCalled(RuntimeError):
    """The engine called something that is not there."""


class _StubType(abc.ABCMeta):
    """The type of stubs: classes, so that they can be inherited from, called, subscripted and used as decorators."""

    importing = True

    def __new__(mcs, name, bases, namespace, **_options):
        return super().__new__(mcs, name, bases, namespace)

    def __init__(cls, name, bases, namespace, **_options):
        super().__init__(name, bases, namespace)

    def __getattr__(cls, name):
        if name.startswith("__") or name.startswith("_abc"):
            raise AttributeError(name)
        return make_stub(f"{cls.__qualname__}.{name}")

    def __call__(cls, *args, **kwargs):
        if "poolproof_stub" not in vars(cls):
            return super().__call__(*args, **kwargs)
        _complain_after_import(cls)
        # As a decorator it leaves what it decorates as it is.
        if len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type)):
            return args[0]
        return make_stub(f"{cls.__qualname__}()")

    def __bool__(cls):
        if "poolproof_stub" not in vars(cls):
            return True
        _complain_after_import(cls)
        return False

    def __iter__(cls):
        _complain_after_import(cls)
        return iter(())

    def __len__(cls):
        _complain_after_import(cls)
        return 0

    def __contains__(cls, _item):
        _complain_after_import(cls)
        return False

    def __getitem__(cls, _key):
        return cls

    def __or__(cls, _other):
        return cls

    __ror__ = __or__

    def __lt__(cls, _other):
        _complain_after_import(cls)
        return False

    __le__ = __gt__ = __ge__ = __lt__


def _complain_after_import(stub):
    if not _StubType.importing:
        raise StubCalled(f"{stub.__qualname__} was used, but it is a stub: sglang was imported without it")


class _StubInstance:
    """What the engine's own classes inherit when their base is a stub: keyword arguments become attributes."""

    def __init__(self, *_args, **kwargs):
        for name, value in kwargs.items():
            setattr(self, name, value)


def make_stub(name):
    stub = _StubType(name.rpartition(".")[2], (_StubInstance,), {"poolproof_stub": True})
    stub.__qualname__ = name
    return stub


class StubModule(types.ModuleType):
    """A module that is not there: any name in it is a stub."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        stub = make_stub(f"{self.__name__}.{name}")
        setattr(self, name, stub)
        return stub


class Resumption:
    """Executes the rest of a module whose execution raised: each further top-level statement that can be."""

    def __init__(self, module, path, log):
        self.module = module
        self.path = path
        self.log = log
        with open(path, encoding="utf-8") as file:
            self.tree = ast.parse(file.read(), path)
        self.flags = 0
        for statement in self.tree.body:
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                self.flags = __future__.annotations.compiler_flag

    def resume(self, error):
        """`error` is what the statement raised at which the execution stopped."""
        stopped_at = self._line_of(error)
        for statement in self.tree.body:
            if statement.end_lineno < stopped_at:
                continue
            if self._first_line(statement) <= stopped_at:
                self._leave_out(statement, error)
            else:
                self._execute(statement)

    def _line_of(self, error):
        frames = traceback.walk_tb(error.__traceback__)
        return next(line for frame, line in frames if frame.f_code.co_filename == self.path)

    @staticmethod
    def _first_line(statement):
        decorators = getattr(statement, "decorator_list", [])
        return min(node.lineno for node in [statement, *decorators])

    def _execute(self, statement):
        code = compile(ast.Module([statement], []), self.path, "exec", flags=self.flags, dont_inherit=True)
        try:
            exec(code, self.module.__dict__)
        except Exception as error:  # whatever a foreign statement may raise; it is reported in the notes
            self._leave_out(statement, error)

    def _leave_out(self, statement, error):
        """The names that it would have bound are stubs."""
        if isinstance(statement, ast.ImportFrom) and len(statement.names) > 1:
            self._import_one_by_one(statement)
            return
        where = f"{self.module.__name__}, line {statement.lineno}"
        self.log.left_out.append((where, f"{type(error).__name__}: {error}"))
        for name in self._bound_by(statement):
            self.module.__dict__.setdefault(name, make_stub(f"{self.module.__name__}.{name}"))

    def _import_one_by_one(self, statement):
        for alias in statement.names:
            alone = ast.ImportFrom(statement.module, [alias], statement.level)
            self._execute(ast.copy_location(alone, statement))

    def _bound_by(self, node):
        """The names that a statement binds in the module, not those inside its functions."""
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names if alias.name != "*")
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        else:
            for child in ast.iter_child_nodes(node):
                yield from self._bound_by(child)


class ImportLog:
    """What was not imported as it is; the hello's notes say so."""

    def __init__(self):
        self.missing = []  # third-party modules
        self.stubbed = []  # modules of the engine that were not executed
        self.left_out = []  # (module of the engine and line, what the statement there raised)
        self.shims = []


def importing_module():
    """The name of the module whose import statement runs now."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith("importlib") and name != __name__:
            return name
        frame = frame.f_back
    return ""


class _StubLoader(importlib.abc.Loader):
    def create_module(self, spec):
        module = StubModule(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module):
        pass


class _BarePackageLoader(importlib.abc.Loader):
    """A package whose modules can be imported, but whose own __init__ is not executed."""

    def __init__(self, path):
        self.path = path

    def create_module(self, spec):
        module = StubModule(spec.name)
        module.__path__ = [self.path]
        return module

    def exec_module(self, module):
        pass


class _LenientLoader(importlib.abc.Loader):
    """Executes a module, without those of its statements that raise."""

    def __init__(self, loader, path, log):
        self.loader = loader
        self.path = path
        self.log = log

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        try:
            self.loader.exec_module(module)
        except SyntaxError as error:  # written for a newer Python
            self.log.left_out.append((module.__name__, f"SyntaxError: {error}"))
            module.__class__ = StubModule
        except Exception as error:  # whatever a foreign module may raise; it is reported in the notes
            Resumption(module, self.path, self.log).resume(error)


class EngineFinder(importlib.abc.MetaPathFinder):
    """Decides for each module of the engine: as it is, a bare package, or a stub."""

    def __init__(self, root, log):
        self.root = root
        self.log = log

    def find_spec(self, name, path=None, target=None):
        if not _StubType.importing or not lies_in(name, (PACKAGE,)):
            return None
        location = os.path.join(self.root, *name.split("."))
        is_package = os.path.isfile(os.path.join(location, "__init__.py"))
        if not is_package and not os.path.isfile(location + ".py"):
            # A namespace package, or nothing at all: then the import fails as it would in the engine.
            return self._bare(name, location) if os.path.isdir(location) else None
        if lies_in(name, ALLOCATOR_MODULES + SUPPORT_MODULES) and not lies_in(name, SKIPPED_MODULES):
            return self._executed(name, location, is_package)
        if is_package and self._holds_executed(name):
            return self._bare(name, location)
        if lies_in(importing_module(), ALLOCATOR_MODULES) and not lies_in(name, SKIPPED_MODULES):
            return self._executed(name, location, is_package)
        self.log.stubbed.append(name)
        return importlib.machinery.ModuleSpec(name, _StubLoader(), is_package=True)

    @staticmethod
    def _holds_executed(name):
        return any(module.startswith(name + ".") for module in ALLOCATOR_MODULES + SUPPORT_MODULES)

    @staticmethod
    def _bare(name, location):
        return importlib.machinery.ModuleSpec(name, _BarePackageLoader(location), is_package=True)

    def _executed(self, name, location, is_package):
        path = os.path.join(location, "__init__.py") if is_package else location + ".py"
        loader = _LenientLoader(importlib.machinery.SourceFileLoader(name, path), path, self.log)
        where = [location] if is_package else None
        return importlib.util.spec_from_file_location(name, path, loader=loader, submodule_search_locations=where)


class MissingFinder(importlib.abc.MetaPathFinder):
    """Asked last: a module that nobody has, wanted by the engine, is a stub."""

    def __init__(self, log):
        self.log = log

    def find_spec(self, name, path=None, target=None):
        if not _StubType.importing or lies_in(name, (PACKAGE,)) or not lies_in(importing_module(), (PACKAGE,)):
            return None
        self.log.missing.append(name)
        return importlib.machinery.ModuleSpec(name, _StubLoader(), is_package=True)


def _same_function(function=None, **_options):
    return function if function is not None else _same_function


def add_shims(log):
    """Gives an old PyTorch the names that newer releases of the engine use while they are imported."""
    for name in ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"):
        if not hasattr(torch, name):
            setattr(torch, name, torch.float16)
            log.shims.append(f"torch.{name}")
    if not hasattr(torch, "xpu"):
        torch.xpu = types.SimpleNamespace(is_available=lambda: False)
        log.shims.append("torch.xpu")
    if not hasattr(torch.cpu, "is_available"):
        torch.cpu.is_available = lambda: True
        log.shims.append("torch.cpu.is_available")
    if not hasattr(torch, "compile"):
        torch.compile = _same_function
        log.shims.append("torch.compile")
    if not _accepts_assert_text():
        native = torch._assert_async

        def assert_async(condition, text=""):
            if condition.is_cuda:
                return native(condition)
            assert bool(condition), text

        torch._assert_async = assert_async
        log.shims.append("torch._assert_async with a text")


def _accepts_assert_text():
    try:
        torch._assert_async(torch.tensor(True), "text")
    except (TypeError, RuntimeError):
        return False
    return True


@contextlib.contextmanager
def stubs(root, log):
    """While it lasts, the engine's modules are imported alone."""
    engine = EngineFinder(root, log)
    missing = MissingFinder(log)
    add_shims(log)
    sys.meta_path.insert(0, engine)
    sys.meta_path.append(missing)
    _StubType.importing = True
    try:
        yield
    finally:
        _StubType.importing = False
        sys.meta_path.remove(engine)
        sys.meta_path.remove(missing)


def forget_engine_modules():
    for name in [name for name in sys.modules if lies_in(name, (PACKAGE,))]:
        del sys.modules[name]


# ---------------------------------------------------------------------------------------------------------------------
# Kernels without Triton
#
# The same locs as the engine's two kernels give, computed by PyTorch. A kernel reads beyond a free list that is too
# short, and the release then refuses and drops what was read; here that is something negative, no page twice.


class CpuKernel:
    """Takes the place of a Triton kernel: kernel[grid](arguments)."""

    def __init__(self, body):
        self.body = body

    def __getitem__(self, _grid):
        return self.body


def _free_page(free_pages, index):
    """free_pages[index], something else beyond its end."""
    count = free_pages.numel()
    padded = torch.cat((free_pages, free_pages.new_zeros(1)))
    return torch.where(index < count, padded[index.clamp(0, count)], -1 - index)


def _new_pages_before(new_pages):
    return torch.cumsum(new_pages, 0) - new_pages


def extend_on_cpu(prefix_lens, seq_lens, last_loc, free_pages, out, *rest):
    """rest: the old releases' ret_values, then the batch size rounded up, the page size, and more."""
    ret_values, page = (rest[0], rest[2]) if isinstance(rest[0], torch.Tensor) else (None, rest[1])
    prefix_lens, seq_lens, last_loc = (lens.to(torch.int64) for lens in (prefix_lens, seq_lens, last_loc))
    extend_lens = seq_lens - prefix_lens
    first_border = (prefix_lens + page - 1) // page
    new_pages = (seq_lens + page - 1) // page - first_border
    request = torch.repeat_interleave(torch.arange(len(seq_lens)), extend_lens)
    position = prefix_lens[request] + torch.arange(len(request)) - _new_pages_before(extend_lens)[request]
    rank = position // page - first_border[request]
    in_old_page = rank < 0
    page_index = (_new_pages_before(new_pages)[request] + rank).clamp(min=0)
    fresh = _free_page(free_pages, page_index) * page + position % page
    out.copy_(torch.where(in_old_page, last_loc[request] + 1 + position - prefix_lens[request], fresh))
    if ret_values is not None:
        ret_values.fill_(int(new_pages.sum()) << 32 | int(extend_lens.sum()))


def decode_on_cpu(seq_lens, last_loc, free_pages, out, *rest):
    ret_values, page = (rest[0], rest[2]) if isinstance(rest[0], torch.Tensor) else (None, rest[1])
    new_pages = ((seq_lens - 1) % page == 0).to(torch.int64)
    fresh = _free_page(free_pages, _new_pages_before(new_pages)) * page
    out.copy_(torch.where(new_pages.bool(), fresh, last_loc + 1))
    if ret_values is not None:
        ret_values.fill_(int(new_pages.sum()))


CPU_KERNELS = {"alloc_extend_kernel": CpuKernel(extend_on_cpu), "alloc_decode_kernel": CpuKernel(decode_on_cpu)}


# Releases with this switch can do without Triton by themselves.
NAIVE_SWITCH = "use_triton_kernels"


def replace_kernels(modules):
    """Answers the names of the kernels that were replaced."""
    replaced = set()
    for module in modules:
        for name, kernel in CPU_KERNELS.items():
            if name in vars(module):
                setattr(module, name, kernel)
                replaced.add(name)
    return sorted(replaced)


# ---------------------------------------------------------------------------------------------------------------------
# The release

CLASS_NAMES = (
    "TokenToKVPoolAllocator",
    "PagedTokenToKVPoolAllocator",
    "SWATokenToKVPoolAllocator",
    "PureSWATokenToKVPoolAllocator",
    "ReqToTokenPool",
    "SWAKVPool",
    "BaseSWAKVPool",
)
MEM_CACHE = "sglang.srt.mem_cache"
# Where releases keep these classes. A class that is in none of them is looked for in all files beside them.
HOME_MODULES = ("allocator", "allocator.swa", "swa_memory_pool", "base_swa_memory_pool", "memory_pool")


class Release:
    """The allocator classes of one release of the engine, and how they were imported."""

    def __init__(self, options):
        self.device = options.device
        if self.device == "cuda" and not torch.cuda.is_available():
            raise AdapterError("--device cuda: PyTorch finds no CUDA device; leave it out to run on the CPU")
        self.root = engine_root(options.sglang)
        self.log = ImportLog()
        self.notes = []
        self.kv_cache_classes = {}
        if options.debug:
            os.environ.update(DEBUG_ENVIRONMENT)
        self.alone = False
        self.modules = self._import(options)
        self.classes = self._find_classes()
        if not any(name.endswith("Allocator") for name in self.classes):
            raise AdapterError(f"no allocator class in {self.root}: is this a release of SGLang?")
        self.version = release_version(self.root)
        self._prepare_kernels()
        self._describe_import()
        for path in options.patch:
            self._patch(path)

    # Importing.

    def _import(self, options):
        if options.sglang is not None:
            sys.path.insert(0, self.root)
        if options.how != "alone":
            try:
                return self._import_homes()
            except Exception as error:  # any import of the whole engine may fail in any way
                forget_engine_modules()
                if options.how == "whole":
                    raise AdapterError(
                        f"sglang cannot be imported whole: {type(error).__name__}: {error}; try --import alone"
                    ) from error
        self.alone = True
        with stubs(self.root, self.log):
            return self._import_homes()

    def _import_homes(self):
        modules = {}
        for home in HOME_MODULES:
            name = f"{MEM_CACHE}.{home}"
            if self._file_of(name) is not None:
                modules[name] = importlib.import_module(name)
        return modules

    def _file_of(self, name):
        path = os.path.join(self.root, *name.split("."))
        for candidate in (path + ".py", os.path.join(path, "__init__.py")):
            if os.path.isfile(candidate):
                return candidate
        return None

    # Classes.

    def _find_classes(self):
        found = {}
        for name in CLASS_NAMES:
            cls = next((vars(m)[name] for m in self.modules.values() if name in vars(m)), None)
            if cls is None:
                cls = self._search_class(name)
            if isinstance(cls, type) and "poolproof_stub" not in vars(cls):
                found[name] = cls
        return found

    def _search_class(self, name):
        for module_name in self._modules_that_define(name):
            with stubs(self.root, self.log) if self.alone else contextlib.nullcontext():
                module = importlib.import_module(module_name)
                cls = getattr(module, name, None)
            self.modules[module_name] = module
            if cls is not None:
                return cls
        return None

    def _modules_that_define(self, name):
        folder = os.path.join(self.root, *MEM_CACHE.split("."))
        definition = re.compile(rf"^class {name}\b", re.MULTILINE)
        for path, _folders, files in os.walk(folder):
            for file in sorted(file for file in files if file.endswith(".py")):
                full = os.path.join(path, file)
                with open(full, encoding="utf-8") as source:
                    if definition.search(source.read()):
                        relative = os.path.relpath(full, self.root)[: -len(".py")]
                        yield relative.replace(os.sep, ".").replace(".__init__", "")

    def cls(self, name):
        return self.classes.get(name)

    def kv_cache(self, allocator_class, ring):
        """A stand-in for the KV cache that an allocator is built upon."""
        if allocator_class not in self.kv_cache_classes:
            self.kv_cache_classes[allocator_class] = kv_cache_class(self, allocator_class)
        return self.kv_cache_classes[allocator_class](ring or None)

    # What is changed in it, and what the hello says about that.

    def _prepare_kernels(self):
        if self.device == "cuda":
            return
        paged = self.cls("PagedTokenToKVPoolAllocator")
        if paged is not None and mentions(paged, NAIVE_SWITCH):
            self.notes.append("on cpu, the release's own code without Triton")
            return
        loaded = [m for name, m in sys.modules.items() if lies_in(name, (MEM_CACHE,)) and m is not None]
        replaced = replace_kernels(loaded)
        if replaced:
            self.notes.append("on cpu, PyTorch code of the adapter instead of Triton: " + ", ".join(replaced))

    def _describe_import(self):
        log = self.log
        self.notes.append("imported alone, the rest is stubbed" if self.alone else "imported whole")
        for text, names in (
            ("missing, stubbed: ", without_submodules(log.missing)),
            ("of the engine, stubbed: ", without_submodules(log.stubbed)),
            ("shims for this PyTorch: ", log.shims),
        ):
            if names:
                self.notes.append(text + ", ".join(names))
        for where, error in log.left_out:
            self.notes.append(f"left out, stubbed: {where} ({error})")

    def _patch(self, path):
        with open(path, encoding="utf-8") as file:
            code = compile(file.read(), path, "exec")
        modules = {name: module for name, module in sys.modules.items() if lies_in(name, (PACKAGE,))}
        names = {"__name__": "patch", "__file__": path, "modules": modules, "torch": torch, **self.classes}
        exec(code, names)
        # A class that the patch binds anew takes the place of the release's.
        self.classes.update({name: names[name] for name in CLASS_NAMES if name in names})
        self.notes.append(f"patched by {os.path.basename(path)}")


def modules_of(cls):
    """The engine's modules in which a class and its bases are written; a patch may have put its own before them."""
    return [sys.modules[base.__module__] for base in cls.__mro__ if lies_in(base.__module__, (PACKAGE,))]


def mentions(cls, word):
    for module in modules_of(cls):
        with open(module.__file__, encoding="utf-8") as source:
            if word in source.read():
                return True
    return False


def without_submodules(names):
    return sorted({name for name in names if name.rpartition(".")[0] not in names})


def engine_root(folder):
    """The folder that holds the package `sglang`."""
    if folder is None:
        spec = importlib.util.find_spec(PACKAGE)
        if spec is None or not spec.submodule_search_locations:
            raise AdapterError("sglang is not installed: give the folder of an unpacked one by --sglang DIR")
        return os.path.dirname(os.path.abspath(list(spec.submodule_search_locations)[0]))
    folder = os.path.abspath(folder)
    for candidate in (folder, os.path.dirname(folder)):
        if os.path.isdir(os.path.join(candidate, PACKAGE, "srt")):
            return candidate
    raise AdapterError(f"no sglang/srt in {folder}: --sglang takes the folder that holds the package `sglang`")


def release_version(root):
    """From the package's files; a release may be unpacked and not installed."""
    for file in ("_version.py", "version.py"):
        path = os.path.join(root, PACKAGE, file)
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as source:
                found = re.search(r"^__version__ = (?:version = )?['\"]([^'\"]+)['\"]", source.read(), re.MULTILINE)
            if found:
                return found.group(1)
    for distribution in importlib.metadata.distributions(path=[root]):
        if (distribution.metadata["Name"] or "").lower() == PACKAGE:
            return distribution.version
    return "unknown"


# ---------------------------------------------------------------------------------------------------------------------
# Stand-ins for what the allocators are given


def kv_cache_class(release, allocator_class):
    """A KV cache without buffers: the engine's own class as far as the mapping goes, which is all an allocator uses."""
    wanted = [vars(m).get(name) for name in ("BaseSWAKVPool", "SWAKVPool") for m in modules_of(allocator_class)]
    required = next((cls for cls in wanted if cls is not None), object)
    base = required
    own = release.cls("SWAKVPool")
    if own is not None and required is not object and issubclass(own, required):
        base = own

    class LightKVCache(base):
        def __init__(self, ring):
            self.full_kv_pool = None
            self.swa_kv_pool = None
            self.full_to_swa_index_mapping = None
            self.swa_req_ring_size = ring
            # Before that attribute, a flag and a size of another name stood for a ring.
            self._unified_kv = ring is not None
            self.unified_swa_ring_size = ring

    if not hasattr(base, "register_mapping") or getattr(base.register_mapping, "__isabstractmethod__", False):
        LightKVCache.register_mapping = _register_mapping
    translate = getattr(base, "translate_loc_from_full_to_swa", None)
    if translate is None or getattr(translate, "__isabstractmethod__", False):
        LightKVCache.translate_loc_from_full_to_swa = _translate
    LightKVCache.__abstractmethods__ = frozenset()
    return LightKVCache


def _register_mapping(self, full_to_swa_index_mapping):
    self.full_to_swa_index_mapping = full_to_swa_index_mapping


def _translate(self, kv_indices):
    return self.full_to_swa_index_mapping[kv_indices]


class LightRequest:
    """What a pool of request slots looks at in a request; newer releases look at `kv`, older ones at the request."""

    def __init__(self):
        self.req_pool_idx = None
        self.kv = self
        self.kv_allocated_len = self.kv_committed_len = 0
        self.is_chunked = self.inflight_middle_chunks = 0

    @property
    def holds_kv(self):
        return self.req_pool_idx is not None


class RequestSlots:
    """The engine's pool of request slots, whichever its release takes: counts or requests."""

    def __init__(self, pool):
        self.pool = pool
        self.takes_requests = "need_size" not in inspect.signature(pool.alloc).parameters
        self.requests = {}

    def take(self):
        """None when no slot is free."""
        request = LightRequest()
        taken = self.pool.alloc([request] if self.takes_requests else 1)
        if taken is None:
            return None
        slot = int(taken[0])
        self.requests[slot] = request
        return slot

    def give(self, slot):
        request = self.requests.pop(slot)
        self.pool.free(request if self.takes_requests else slot)

    def clear(self):
        self.pool.clear()
        self.requests.clear()

    def available(self):
        return self.pool.available_size()

    def total(self):
        return self.pool.size

    def free_slots(self):
        return [int(slot) for slot in self.pool.free_slots]


class StandInSlots:
    """For a ring in a release whose own pool of request slots is not found: the same counting, ours."""

    def __init__(self, count):
        self.size = count
        self.clear()

    def clear(self):
        self.free_slots = list(range(1, self.size + 1))

    def available_size(self):
        return len(self.free_slots)

    def alloc(self, need_size):
        if need_size > len(self.free_slots):
            return None
        taken, self.free_slots = self.free_slots[:need_size], self.free_slots[need_size:]
        return taken

    def free(self, slot):
        self.free_slots.append(slot)


def request_slots(release, geometry):
    """None where the release has none and nothing needs them."""
    cls = release.cls("ReqToTokenPool")
    if cls is not None:
        return RequestSlots(cls(geometry.reqs, 1, release.device, False))
    return RequestSlots(StandInSlots(geometry.reqs)) if geometry.ring else None


# ---------------------------------------------------------------------------------------------------------------------
# Pools


class Geometry:
    def __init__(self, layout, page=1, full=0, swa=0, ring=0, window=0, reqs=0, need_sort=False, **_more):
        self.layout = layout
        self.page = page
        self.full = full
        self.swa = swa
        self.ring = ring
        self.reqs = reqs
        self.need_sort = need_sort

    @property
    def hybrid(self):
        return self.layout == "hybrid"

    @property
    def sliding(self):
        return self.layout in ("hybrid", "pure_swa")


CLASS_OF_LAYOUT = {
    "token": "TokenToKVPoolAllocator",
    "paged": "PagedTokenToKVPoolAllocator",
    "hybrid": "SWATokenToKVPoolAllocator",
    "pure_swa": "PureSWATokenToKVPoolAllocator",
}

# Attributes in which releases keep what a free group defers, and the flags beside them.
GROUP_ATTRIBUTES = {
    "free_group",
    "free_page_ids_group",
    "free_page_reps_group",
    "full_free_group",
    "swa_free_group",
    "swa_page_ids_group",
    "is_not_in_free_group",
    "is_in_free_group",
}


def build_allocator(release, geometry, request_pool):
    """One allocator of the engine, by whatever arguments its constructor takes in this release."""
    cls = release.cls(CLASS_OF_LAYOUT[geometry.layout])
    offered = {
        "size": geometry.full,
        "size_swa": geometry.full if geometry.layout == "pure_swa" else geometry.swa,
        "page_size": geometry.page,
        "dtype": torch.float16,
        "device": release.device,
        "kvcache": release.kv_cache(cls, geometry.ring) if geometry.sliding else None,
        "need_sort": geometry.need_sort,
        "req_to_token_pool": request_pool,
    }
    arguments = {}
    for parameter in inspect.signature(cls).parameters.values():
        if parameter.name in offered:
            arguments[parameter.name] = offered[parameter.name]
        elif parameter.default is parameter.empty:
            raise AdapterError(
                f"{cls.__name__} of this release wants `{parameter.name}`, which this adapter does not know"
            )
    return cls(**arguments)


def sub_allocators(allocator):
    subs = [getattr(allocator, name, None) for name in ("full_attn_allocator", "swa_attn_allocator")]
    return [sub for sub in subs if sub is not None]


KNOWN_TO_EXTEND = {
    "prefix_lens",
    "prefix_lens_cpu",
    "seq_lens",
    "seq_lens_cpu",
    "last_loc",
    "extend_num_tokens",
}
KNOWN_TO_TAIL = KNOWN_TO_EXTEND | {"swa_tail_len", "swa_tail_end"}


class LendingCall:
    """alloc_extend and its kin: arguments by the names that the method of this release has."""

    def __init__(self, method, known):
        parameters = inspect.signature(method).parameters.values()
        required = {p.name for p in parameters if p.default is p.empty}
        self.method = method
        self.names = [p.name for p in parameters if p.name in known]
        # A method that is not told the lengths lends to fresh rows of whole pages alone, which is another call.
        self.fits = required <= known and "seq_lens" in self.names

    def takes(self, name):
        return name in self.names

    def __call__(self, arguments):
        return self.method(**{name: arguments[name] for name in self.names})


class Pool:
    """One allocator of the engine under the calls of the protocol."""

    def __init__(self, release, geometry, options, traits=None):
        self.geometry = geometry
        self.traits = traits
        self.spare_indices = options.spare_indices
        self.index_dtype = getattr(torch, options.index_dtype)
        self.device = release.device
        self.slots = request_slots(release, geometry)
        self.allocator = build_allocator(release, geometry, self.slots.pool if self.slots else None)
        self.subs = sub_allocators(self.allocator)
        if release.device == "cpu":
            for pool in [self.allocator, *self.subs]:
                if hasattr(pool, NAIVE_SWITCH):
                    setattr(pool, NAIVE_SWITCH, False)
        # With a page size of 1 the engine extends and decodes by alloc().
        self.by_alloc = geometry.page == 1
        self.backups = {}
        if not self.by_alloc:
            self.extend_call = LendingCall(self.allocator.alloc_extend, KNOWN_TO_EXTEND)
            self.decode_call = LendingCall(self.allocator.alloc_decode, KNOWN_TO_EXTEND)
            tail = getattr(self.allocator, "alloc_extend_swa_tail", None)
            self.tail_call = None if tail is None else LendingCall(tail, KNOWN_TO_TAIL)

    # Lending: the new locs, or None.

    def alloc(self, tokens):
        return self.allocator.alloc(tokens)

    def alloc_extend(self, prefix_lens, seq_lens, last_locs):
        if self.by_alloc:
            return self.allocator.alloc(sum(seq_lens) - sum(prefix_lens))
        return self.extend_call(self._lending(prefix_lens, seq_lens, last_locs))

    def alloc_decode(self, seq_lens, last_locs):
        if self.by_alloc:
            return self.allocator.alloc(len(seq_lens))
        return self.decode_call(self._lending(None, seq_lens, last_locs))

    def alloc_extend_swa_tail(self, prefix_len, seq_len, last_locs, tail_len, tail_end):
        if tail_end == seq_len or self.tail_call.takes("swa_tail_end"):
            return self._tail(prefix_len, seq_len, last_locs, tail_len, tail_end)
        return self._tail_in_two(prefix_len, seq_len, last_locs, tail_len, tail_end)

    def _tail(self, prefix_len, seq_len, last_locs, tail_len, tail_end):
        arguments = self._lending([prefix_len], [seq_len], last_locs)
        arguments["swa_tail_len"] = tail_len
        # The engine counts it from the first new token.
        arguments["swa_tail_end"] = tail_end - prefix_len
        return self.tail_call(arguments)

    def _tail_in_two(self, prefix_len, seq_len, last_locs, tail_len, tail_end):
        """For a release whose tail always ends with the extend: the tail, then an extend without one."""
        page = self.geometry.page
        full_pages = -(-seq_len // page) - -(-prefix_len // page)
        if not self.allocator.new_pages_available(full_pages, -(-tail_len // page)):
            return None
        if tail_end == prefix_len:
            return self._tail(prefix_len, seq_len, last_locs, 0, seq_len)
        head = self._tail(prefix_len, tail_end, last_locs, tail_len, tail_end)
        rest = self._tail(tail_end, seq_len, head[-1:], 0, seq_len)
        return torch.cat((head, rest))

    def _lending(self, prefix_lens, seq_lens, last_locs):
        arguments = {"last_loc": last_locs.to(self.device)}
        self._add_lens(arguments, "seq_lens", seq_lens)
        if prefix_lens is not None:
            self._add_lens(arguments, "prefix_lens", prefix_lens)
            arguments["extend_num_tokens"] = sum(seq_lens) - sum(prefix_lens)
        return arguments

    def _add_lens(self, arguments, name, lens):
        """Two arrays even on the CPU: in the engine they are distinct."""
        arguments[name] = torch.tensor(lens, dtype=torch.int64, device=self.device)
        arguments[name + "_cpu"] = torch.tensor(lens, dtype=torch.int64)

    # Giving back.

    @contextlib.contextmanager
    def lend_indices(self, *arrays):
        """The arrays on the device; afterwards they are overwritten, as a caller that reuses them would."""
        given = [array.to(device=self.device, dtype=self.index_dtype) for array in arrays]
        yield given
        if not self.spare_indices:
            for array in given:
                array.fill_(0)

    def free(self, side, locs):
        with self.lend_indices(locs) as (array,):
            getattr(self.allocator, FREE_OF_SIDE[side])(array)

    def free_segments(self, side, segments):
        single, several = SEGMENT_FREES_OF_SIDE[side]
        starts = [start for _locs, start in segments]
        with self.lend_indices(*[locs for locs, _start in segments]) as arrays:
            if hasattr(self.allocator, several):
                getattr(self.allocator, several)(list(zip(arrays, starts)))
                return
            free_segment = getattr(self.allocator, single)
            for array, start in zip(arrays, starts):
                free_segment(array, start_pos=start)

    def free_group_begin(self):
        self.allocator.free_group_begin()

    def free_group_end(self):
        self.allocator.free_group_end()

    # The mapping.

    def set_full_to_swa_mapping(self, full, swa):
        with self.lend_indices(full, swa) as (full, swa):
            self.allocator.set_full_to_swa_mapping(full, swa)

    def clear_full_to_swa_mapping(self, full):
        with self.lend_indices(full) as (full,):
            self.allocator.clear_full_to_swa_mapping(full)

    def translate(self, locs):
        return self.allocator.translate_loc_from_full_to_swa(locs.to(self.device))

    # The whole state.

    def clear(self):
        self.allocator.clear()
        self._forget()

    def resize(self, full, swa):
        config = types.SimpleNamespace(
            max_total_num_tokens=full,
            full_max_total_num_tokens=full,
            swa_max_total_num_tokens=swa if self.geometry.hybrid else full,
        )
        self.allocator.resize(config)
        self.geometry.full, self.geometry.swa = full, swa
        self._forget()

    def _forget(self):
        self.backups.clear()
        if self.slots is not None:
            self.slots.clear()

    def backup_state(self, key):
        self.backups[key] = self.allocator.backup_state()

    def restore_state(self, key):
        self.allocator.restore_state(self.backups[key])

    # What the checks look at.

    def gauges(self):
        allocator = self.allocator
        traits = self.traits
        gauges = {}
        if traits.available:
            gauges["available"] = int(allocator.available_size())
        if traits.size:
            gauges["size"] = int(allocator.size)
        if traits.size_full:
            gauges["full_size"] = int(allocator.size_full)
        if traits.full_available:
            gauges["full_available"] = int(allocator.full_available_size())
        if self.geometry.sliding:
            gauges["swa_available"] = int(allocator.swa_available_size())
            gauges["swa_size"] = int(allocator.size_swa)
        if self.geometry.hybrid:
            gauges["swa_pool_available"] = int(allocator.swa_attn_allocator.available_size())
            gauges["swa_pool_size"] = int(allocator.swa_attn_allocator.size)
            if traits.mapping_tail:
                gauges["mapping_tail"] = int(allocator.full_to_swa_index_mapping[-1])
        if self.slots is not None:
            gauges["slots_free"] = self.slots.available()
            gauges["slots"] = self.slots.total()
        return gauges

    def census(self):
        if self.geometry.hybrid:
            full, swa = self.subs
            census = {"full": pool_census(full), "swa": pool_census(swa)}
            census["mapping"] = self._mapping_census()
        else:
            inner = self.subs[0] if self.subs else self.allocator
            census = {"full": pool_census(inner)}
        if self.slots is not None:
            census["free_slots"] = runs_of(self.slots.free_slots())
        self._add_deferred(census)
        return census

    def _mapping_census(self):
        """The last entry is reached by index -1: it counts as the last of this geometry after a resize too."""
        mapping = self.allocator.full_to_swa_index_mapping
        last = self.geometry.full + self.geometry.page
        runs = mapping_runs(mapping[:-1][:last])
        if self.traits is not None and self.traits.mapping_tail:
            runs.append([last, int(mapping[-1]), 1])
        return runs

    def _add_deferred(self, census):
        if self.traits is None or not self.traits.deferred:
            return
        deferred = deferred_pages(self.allocator, self.geometry)
        for side, pages in zip(("full", "swa"), deferred):
            if side in census:
                census[side]["deferred"] = runs_of(pages)


FREE_OF_SIDE = {"both": "free", "swa": "free_swa", "full": "free_full"}
SEGMENT_FREES_OF_SIDE = {
    "both": ("free_segment", "free_segments"),
    "swa": ("free_swa_segment", "free_swa_segments"),
    "full": ("free_full_segment", "free_full_segments"),
}


def pool_census(pool):
    """Free and staged pages of one pool, in its own order."""
    census = {"free": runs_of(pool.free_pages)}
    staged = []
    if getattr(pool, "release_pages", None) is not None:
        staged.extend(pool.release_pages.tolist())
    for pages in getattr(pool, "staged_pages", ()):
        staged.extend(pages.tolist())
    census["staged"] = runs_of(staged)
    return census


def mapping_runs(mapping):
    """[full, swa, count] for each stretch of consecutive peers."""
    full = torch.nonzero(mapping).flatten().cpu()
    swa = mapping.cpu()[full]
    if full.numel() == 0:
        return []
    broken = (full[1:] - full[:-1] != 1) | (swa[1:] - swa[:-1] != 1)
    starts = torch.cat((torch.zeros(1, dtype=torch.int64), torch.nonzero(broken).flatten() + 1))
    ends = torch.cat((starts[1:], torch.tensor([full.numel()])))
    return torch.stack((full[starts], swa[starts], ends - starts), 1).tolist()


def in_free_group(allocator):
    if hasattr(allocator, "is_not_in_free_group"):
        return not allocator.is_not_in_free_group
    return allocator.free_group is not None


def deferred_pages(allocator, geometry):
    """Pages given back inside the open group: (full, SWA), a page that two calls name twice."""
    page = geometry.page
    if not in_free_group(allocator):
        return [], []
    if not geometry.hybrid:
        return _deferred_in(allocator, page), []
    full, swa = sub_allocators(allocator)
    peers_of = allocator.full_to_swa_index_mapping.__getitem__
    whole = allocator.free_group
    swa_alone = getattr(allocator, "swa_free_group", [])
    if hasattr(allocator, "is_not_in_free_group"):
        # These releases keep full locs here and look the peers up when the group ends.
        swa_alone = [peers_of(locs) for locs in swa_alone]
    peers = [peers[peers > 0] for peers in [*map(peers_of, whole), *swa_alone]]
    of_full = _pages_of_calls([*whole, *getattr(allocator, "full_free_group", [])], page)
    of_swa = _pages_of_calls(peers, page) + _page_ids(allocator, "swa_page_ids_group")
    return of_full + _deferred_in(full, page), of_swa + _deferred_in(swa, page)


def _deferred_in(pool, page):
    """What a single pool defers itself."""
    representatives = getattr(pool, "free_page_reps_group", ())
    return _pages_of_calls([*(pool.free_group or ()), *representatives], page) + _page_ids(pool, "free_page_ids_group")


def _pages_of_calls(calls, page):
    """A token pool keeps what it is given; a paged one counts a page of one call once."""
    pages = []
    for locs in calls:
        pages.extend(locs.tolist() if page == 1 else torch.unique(locs // page).tolist())
    return pages


def _page_ids(allocator, attribute):
    return [page for pages in getattr(allocator, attribute, ()) for page in pages.tolist()]


# ---------------------------------------------------------------------------------------------------------------------
# What a release offers
#
# Found out by building a small pool of each kind and trying: what is there, what raises NotImplementedError.


class Traits:
    """What one kind of pool has, beyond its calls."""

    def __init__(self, pool):
        allocator = pool.allocator
        self.notes = []
        self.available = _works(allocator.available_size)
        if not self.available:
            self.notes.append("no available_size() on hybrid pools")
        # Where a hybrid has no size of its own, the attribute that it inherits is the full pool's alone.
        self.size = not pool.geometry.hybrid or isinstance(getattr(type(allocator), "size", None), property)
        if not self.size:
            self.notes.append("`size` of a hybrid pool is not its own in this release: not reported")
        self.size_full = hasattr(allocator, "size_full")
        self.full_available = hasattr(allocator, "full_available_size")
        # Releases without paged hybrids have no entry for "no last loc": they never translate one.
        self.mapping_tail = pool.geometry.hybrid and _has_tail_entry(pool)
        if pool.slots is not None:
            _try_slots(pool.slots)
            if isinstance(pool.slots.pool, StandInSlots):
                self.notes.append("no pool of request slots in this release: the adapter's own")
        self.deferred = _groups_are_known(allocator)
        if not self.deferred:
            self.notes.append("free groups of a structure that is not known: no census inside one")


def _works(call, *arguments):
    try:
        call(*arguments)
    except NotImplementedError:
        return False
    return True


def _try_slots(slots):
    """A release whose requests must be more than the stand-in raises here."""
    slots.give(slots.take())
    slots.clear()


def _has_tail_entry(pool):
    return pool.allocator.full_to_swa_index_mapping.numel() == pool.geometry.full + pool.geometry.page + 1


def _groups_are_known(allocator):
    for pool in [allocator, *sub_allocators(allocator)]:
        names = {name for name in vars(pool) if "group" in name or "deferred" in name or "pending" in name}
        if "free_group" not in names or names - GROUP_ATTRIBUTES:
            return False
    return True


def probe_geometry(layout, page, ring):
    return Geometry(layout, page=page, full=8 * page, swa=6 * page, ring=2 * page + 1 if ring else 0, reqs=4)


def offered_calls(pool):
    """The names of the protocol's capabilities that this pool has."""
    allocator, geometry = pool.allocator, pool.geometry
    calls = []

    def offer(name, condition):
        if condition:
            calls.append(name)

    has = lambda name: hasattr(allocator, name)
    offer("alloc", not (geometry.hybrid and geometry.page > 1))
    offer("alloc_extend", pool.by_alloc or pool.extend_call.fits)
    offer("alloc_decode", pool.by_alloc or pool.decode_call.fits)
    offer("alloc_extend_swa_tail", geometry.hybrid and _has_tail_call(pool))
    offer("free", True)
    offer("free_segments", has("free_segment"))
    # Left to be found out: what a release makes of a page named twice, or of a loc whose peer is gone.
    offer("free_duplicates", True)
    offer("free_tombstones", geometry.hybrid)
    if geometry.sliding:
        for side in ("swa", "full"):
            offer(FREE_OF_SIDE[side], has(FREE_OF_SIDE[side]))
            offer(f"free_{side}_segments", has(SEGMENT_FREES_OF_SIDE[side][0]))
        offer("translate", has("translate_loc_from_full_to_swa"))
    offer("mapping", geometry.hybrid and has("set_full_to_swa_mapping") and has("clear_full_to_swa_mapping"))
    for name in ("free_group", "free_group_probe"):
        offer(name, has("free_group_begin") and has("free_group_end"))
    offer("clear", has("clear"))
    offer("resize", has("resize"))
    offer("snapshot", has("backup_state") and has("restore_state") and _works(allocator.backup_state))
    offer("slots", pool.slots is not None)
    offer("census", _census_works(pool))
    return calls


def _has_tail_call(pool):
    return not pool.by_alloc and pool.tail_call is not None and pool.tail_call.fits


def _census_works(pool):
    """Lists that read as a new pool's must: otherwise they are something else in this release."""
    census = pool.census()
    sides = {"full": pool.geometry.full, "swa": pool.geometry.swa}
    return all(
        census[side]["free"] == [[1, size // pool.geometry.page]] and census[side]["staged"] == []
        for side, size in sides.items()
        if side in census
    )


class Kind:
    """A kind of pool that the release can build: one entry of the hello's `pools`."""

    def __init__(self, release, options, layout, page, ring):
        self.layout = layout
        self.pages = (1, 1) if page == 1 else (2, LARGEST_PAGE)
        self.ring = ring
        cls = release.cls(CLASS_OF_LAYOUT[layout])
        self.need_sort = [False, True] if "need_sort" in inspect.signature(cls).parameters else [False]
        pool = Pool(release, probe_geometry(layout, page, ring), options)
        self.traits = Traits(pool)
        offered = offered_calls(pool)
        self.calls = [name for name in offered if name not in options.without]
        self.withheld = set(offered) & options.without

    def fits(self, geometry):
        return (
            geometry.layout == self.layout
            and self.pages[0] <= geometry.page <= self.pages[1]
            and bool(geometry.ring) == self.ring
            and geometry.need_sort in self.need_sort
        )

    def entry(self):
        return {
            "layout": self.layout,
            "page": list(self.pages),
            "ring": [self.ring],
            "need_sort": self.need_sort,
            "calls": self.calls,
        }


def ring_attributes(release):
    """The attributes of a KV cache by which the release's hybrid allocator recognizes a ring."""
    cls = release.cls(CLASS_OF_LAYOUT["hybrid"])
    if cls is None:
        return []
    return [name for name in ("swa_req_ring_size", "_unified_kv") if mentions(cls, name)]


def kinds_of(release, options):
    """All kinds of pools that can be built; one that cannot be, in a release that has its class, is told in a note."""
    kinds = []
    for layout, page, ring in candidates(release):
        try:
            kinds.append(Kind(release, options, layout, page, ring))
        except Exception as error:  # a release that this adapter does not know may refuse in any way
            name = f"{layout} of page size {page}{', ring' if ring else ''}"
            release.notes.append(f"{name}: cannot be built: {type(error).__name__}: {error}")
    return kinds


def candidates(release):
    """(layout, page size, with a ring) of the kinds that the release has a class for."""
    for layout, page in (("token", 1), ("paged", 4), ("hybrid", 1), ("hybrid", 4), ("pure_swa", 1)):
        cls = release.cls(CLASS_OF_LAYOUT[layout])
        if cls is None:
            continue
        if layout == "hybrid" and page > 1 and "page_size" not in inspect.signature(cls).parameters:
            continue
        yield layout, page, False
        if layout == "hybrid" and ring_attributes(release):
            yield layout, page, True


# ---------------------------------------------------------------------------------------------------------------------
# Locs as runs

# Up to here plain Python is faster than PyTorch.
SMALL = 128


def runs_of(locs):
    """[first, count] for each stretch of consecutive locs, of a list or a tensor."""
    if isinstance(locs, torch.Tensor):
        if locs.numel() > SMALL:
            return _runs_of_large(locs.to(device="cpu", dtype=torch.int64))
        locs = locs.tolist()
    elif len(locs) > SMALL:
        return _runs_of_large(torch.tensor(locs, dtype=torch.int64))
    runs = []
    following = None
    for loc in locs:
        if loc == following:
            runs[-1][1] += 1
        else:
            runs.append([loc, 1])
        following = loc + 1
    return runs


def _runs_of_large(locs):
    starts = torch.nonzero(locs[1:] != locs[:-1] + 1).flatten() + 1
    starts = torch.cat((torch.zeros(1, dtype=torch.int64), starts))
    ends = torch.cat((starts[1:], torch.tensor([locs.numel()])))
    return torch.stack((locs[starts], ends - starts), 1).tolist()


class Line:
    """The locs that the calls of one line have answered, for later calls that name them."""

    def __init__(self):
        self.locs = {}  # by the call's number: a list, or a tensor where there are many
        self.slots = {}

    def keep(self, call, answered):
        """Copies the locs out of the engine's tensor."""
        if answered.numel() <= SMALL:
            self.locs[call] = answered.tolist()
        else:
            self.locs[call] = answered.to(device="cpu", dtype=torch.int64, copy=True)
        return self.locs[call]

    def tensor(self, runs):
        """A fresh CPU tensor of the locs that the runs name."""
        if sum(run[-1] for run in runs) <= SMALL:
            locs = []
            for run in runs:
                locs.extend(self._piece(run))
            return torch.tensor(locs, dtype=torch.int64)
        return torch.cat([self._tensor_piece(run) for run in runs])

    def _piece(self, run):
        if len(run) != 3:
            return self._stretch(run)
        piece = self._of_call(*run)
        return piece if isinstance(piece, list) else piece.tolist()

    def _tensor_piece(self, run):
        if len(run) != 3:
            stretch = self._stretch(run)
            return torch.arange(stretch.start, stretch.stop, dtype=torch.int64)
        piece = self._of_call(*run)
        return torch.tensor(piece, dtype=torch.int64) if isinstance(piece, list) else piece

    def _stretch(self, run):
        """[first, count], or [call, index, shift, count]: from `shift` behind a loc that the call answered."""
        first, count = run[0], run[-1]
        if len(run) == 4:
            call, index, shift, _count = run
            first = int(self.locs[call][index]) + shift
        return range(first, first + count)

    def _of_call(self, call, first, count):
        piece = self.locs[call][first : first + count]
        if len(piece) != count:
            raise IndexError(f"call {call} of this line answered fewer than {first + count} locs")
        return piece

    def slot(self, request):
        return self.slots[request["slot_of"]] if "slot_of" in request else request["slot"]


# ---------------------------------------------------------------------------------------------------------------------
# The protocol

REFUSED = {"refused": True}


class Adapter:
    def __init__(self, release, options):
        self.release = release
        self.options = options
        self.kinds = kinds_of(release, options)
        unknown = options.without.difference(*[kind.withheld for kind in self.kinds])
        if unknown:
            names = ",".join(sorted(unknown))
            raise AdapterError(f"--without {names}: no pool of this release offers that; see --list")
        self.pool = None

    # Hello and reset.

    def hello(self):
        notes = list(self.release.notes)
        for kind in self.kinds:
            notes.extend(note for note in kind.traits.notes if note not in notes)
        return {
            "poolproof": PROTOCOL_VERSION,
            "name": "sglang",
            "version": self.release.version,
            "notes": notes,
            "pools": [kind.entry() for kind in self.kinds],
        }

    def reset(self, wanted):
        geometry = Geometry(**wanted)
        kind = next((kind for kind in self.kinds if kind.fits(geometry)), None)
        if kind is None:
            raise AdapterError(f"sglang {self.release.version} has no pool like {json.dumps(wanted)}; see the hello")
        self.pool = Pool(self.release, geometry, self.options, kind.traits)
        return {"ok": True}

    # Run.

    def run(self, calls):
        line = Line()
        answers = []
        for number, call in enumerate(calls):
            try:
                answer = CALLS[call["call"]](self.pool, call, line, number)
            except Exception as error:  # whatever the engine raises is its answer
                if isinstance(error, AssertionError) and call.get("again"):
                    answer = REFUSED
                else:
                    answers.append({"error": describe_error(error, self.release.root)})
                    break
            answers.append(answer)
        return {"answers": answers}

    def answer(self, request):
        if "hello" in request:
            return self.hello()
        if "reset" in request:
            try:
                return self.reset(request["reset"])
            except Exception as error:  # the constructor of the engine may raise as well
                return {"error": describe_error(error, self.release.root)}
        return self.run(request["run"])


def describe_error(error, root):
    """Type, text, and the innermost line inside the engine."""
    package = os.path.join(root, PACKAGE) + os.sep
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if frame.filename.startswith(package)]
    innermost = (inside or frames)[-1]
    where = f"{os.path.basename(innermost.filename)}:{innermost.lineno}"
    return {"type": type(error).__name__, "text": str(error), "where": where}


# One function a call: (pool, request, line, number of the call) -> answer.


def lent(line, number, answered):
    if answered is None:
        return REFUSED
    return {"locs": runs_of(line.keep(number, answered))}


def call_alloc(pool, request, line, number):
    return lent(line, number, pool.alloc(request["tokens"]))


def call_alloc_extend(pool, request, line, number):
    last_locs = line.tensor(request["last_locs"])
    return lent(line, number, pool.alloc_extend(request["prefix_lens"], request["seq_lens"], last_locs))


def call_alloc_decode(pool, request, line, number):
    return lent(line, number, pool.alloc_decode(request["seq_lens"], line.tensor(request["last_locs"])))


def call_alloc_extend_swa_tail(pool, request, line, number):
    (prefix_len,), (seq_len,) = request["prefix_lens"], request["seq_lens"]
    last_locs = line.tensor(request["last_locs"])
    tail = pool.alloc_extend_swa_tail(prefix_len, seq_len, last_locs, request["tail_len"], request["tail_end"])
    return lent(line, number, tail)


def call_free(side):
    def call(pool, request, line, _number):
        pool.free(side, line.tensor(request["locs"]))
        return {}

    return call


def call_free_segments(side):
    def call(pool, request, line, _number):
        segments = [(line.tensor(segment["locs"]), segment["start_pos"]) for segment in request["segments"]]
        pool.free_segments(side, segments)
        return {}

    return call


def call_plain(name):
    def call(pool, _request, _line, _number):
        getattr(pool, name)()
        return {}

    return call


def call_set_mapping(pool, request, line, _number):
    pool.set_full_to_swa_mapping(line.tensor(request["locs"]), line.tensor(request["swa"]))
    return {}


def call_clear_mapping(pool, request, line, _number):
    pool.clear_full_to_swa_mapping(line.tensor(request["locs"]))
    return {}


def call_translate(pool, request, line, number):
    return lent(line, number, pool.translate(line.tensor(request["locs"])))


def call_resize(pool, request, _line, _number):
    pool.resize(request["full"], request["swa"])
    return {}


def call_backup(pool, request, _line, _number):
    pool.backup_state(request["key"])
    return {}


def call_restore(pool, request, _line, _number):
    pool.restore_state(request["key"])
    return {}


def call_take_slot(pool, _request, line, number):
    slot = pool.slots.take()
    if slot is None:
        return REFUSED
    line.slots[number] = slot
    return {"slot": slot}


def call_give_slot(pool, request, line, _number):
    pool.slots.give(line.slot(request))
    return {}


CALLS = {
    "alloc": call_alloc,
    "alloc_extend": call_alloc_extend,
    "alloc_decode": call_alloc_decode,
    "alloc_extend_swa_tail": call_alloc_extend_swa_tail,
    "free": call_free("both"),
    "free_swa": call_free("swa"),
    "free_full": call_free("full"),
    "free_segments": call_free_segments("both"),
    "free_swa_segments": call_free_segments("swa"),
    "free_full_segments": call_free_segments("full"),
    "free_group_begin": call_plain("free_group_begin"),
    "free_group_end": call_plain("free_group_end"),
    "set_full_to_swa_mapping": call_set_mapping,
    "clear_full_to_swa_mapping": call_clear_mapping,
    "translate": call_translate,
    "clear": call_plain("clear"),
    "resize": call_resize,
    "backup_state": call_backup,
    "restore_state": call_restore,
    "take_slot": call_take_slot,
    "give_slot": call_give_slot,
    "gauges": lambda pool, _request, _line, _number: {"gauges": pool.gauges()},
    "census": lambda pool, _request, _line, _number: {"census": pool.census()},
}


def serve(adapter, requests, answers):
    for text in requests:
        answers.write(json.dumps(adapter.answer(json.loads(text)), separators=(",", ":")) + "\n")
        answers.flush()


def list_release(adapter):
    """What the release offers, for people."""
    hello = adapter.hello()
    print(f"sglang {hello['version']} on {adapter.release.device}, from {adapter.release.root}")
    for note in hello["notes"]:
        print(f"  {note}")
    for pool in hello["pools"]:
        smallest, largest = pool["page"]
        pages = f"page {smallest}" if smallest == largest else f"page {smallest}..{largest}"
        ring = ", ring" if pool["ring"] == [True] else ""
        need_sort = ", need_sort" if True in pool["need_sort"] else ""
        print(f"{pool['layout']} ({pages}{ring}{need_sort})")
        print(f"  {' '.join(pool['calls'])}")


def own_stdout():
    """stdout belongs to the protocol: whatever the engine prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def main(argv):
    options = parse_options(argv)
    answers = None if options.list else own_stdout()
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    try:
        adapter = Adapter(Release(options), options)
    except AdapterError as error:
        print(f"sglang_adapter.py: {error}", file=sys.stderr)
        return 3
    if options.list:
        list_release(adapter)
    else:
        serve(adapter, sys.stdin, answers)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
