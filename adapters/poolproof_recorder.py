"""Records the calls that a live engine makes to its KV-cache pool allocator.

The log is what docs/recording.md describes: import it into a trace, replay and shrink it on your desk.

By hand, in the process that owns the allocator:

    import poolproof_recorder
    recorder = poolproof_recorder.attach(allocator, path="/var/log/kv", req_to_token_pool=pool, window=4096)
    ...
    recorder.detach()

Without touching the engine (SGLang), by environment:

    PYTHONPATH=adapters/poolproof_sitecustomize POOLPROOF_RECORD=/var/log/kv python -m sglang.launch_server ...

What it promises the server:

- Nothing is thrown at it. An exception of the recorder is counted, noted in the log, and after `max_failures` of them
  the recorder switches itself off. Exceptions of the allocator are recorded and passed on unchanged.
- Nothing waits for the device. CUDA index tensors are copied to pinned memory in stream order, and read once the
  copy's event has passed. CPU tensors are copied at the call, since callers overwrite their index arrays.
- Little of the GIL is taken. The call itself copies and queues; a thread packs what is queued ten times a second and
  hands it to a process of the recorder's own, which writes it down, compresses it and rotates the files.
- Memory is bounded: at most `queue_bytes` wait for the writer, then calls are dropped and the log says how many.
- Disk is bounded: `max_files` files of `max_file_bytes`; the oldest is deleted.
- What was written is readable after a SIGKILL: a zstd frame ends at least every `flush_seconds`.

Only outermost calls are recorded: what the allocator calls on itself, or on the pools inside it, is its own affair.
A child made by os.fork() records nothing; it may attach again, under its own process id.

Compression takes the `zstandard` package, else the system's libzstd.so.1, else none (plain .jsonl, said in a warning).
Python 3.9 or later with torch and numpy, which are imported at the first attach.
"""

import atexit
import collections
import ctypes
import functools
import inspect
import itertools
import json
import logging
import marshal
import numbers
import os
import select
import signal
import struct
import subprocess
import sys
import threading
import time
import uuid
import weakref

__all__ = ["Recorder", "attach", "detach_all", "install"]

_log = logging.getLogger("poolproof_recorder")

KIB = 1024
MIB = 1024 * KIB

# ---------------------------------------------------------------------------------------------------------------------
# Compression: one complete frame a piece of text, so that a killed process leaves whole frames.


class _PlainFrames:
    """No compression: the fallback when there is no zstd at all."""

    suffix = ".jsonl"

    def frame(self, text):
        return text


class _PackageFrames:
    """zstd by the `zstandard` package."""

    suffix = ".jsonl.zst"

    def __init__(self):
        import zstandard

        self._compressor = zstandard.ZstdCompressor(level=3)

    def frame(self, text):
        return self._compressor.compress(text)


class _LibraryFrames:
    """zstd by the system's shared library; the call runs without the GIL."""

    suffix = ".jsonl.zst"
    _LEVEL = 3

    def __init__(self):
        size, pointer = ctypes.c_size_t, ctypes.c_void_p
        library = ctypes.CDLL("libzstd.so.1")
        library.ZSTD_createCCtx.restype = pointer
        library.ZSTD_compressBound.restype = size
        library.ZSTD_compressBound.argtypes = [size]
        library.ZSTD_compressCCtx.restype = size
        library.ZSTD_compressCCtx.argtypes = [pointer, pointer, size, ctypes.c_char_p, size, ctypes.c_int]
        library.ZSTD_isError.restype = ctypes.c_uint
        library.ZSTD_isError.argtypes = [size]
        library.ZSTD_freeCCtx.argtypes = [pointer]
        self._library = library
        self._context = library.ZSTD_createCCtx()
        if not self._context:
            raise MemoryError("libzstd has no memory for a compression context")
        weakref.finalize(self, library.ZSTD_freeCCtx, self._context).atexit = False

    def frame(self, text):
        room = self._library.ZSTD_compressBound(len(text))
        out = ctypes.create_string_buffer(room)
        length = self._library.ZSTD_compressCCtx(self._context, out, room, text, len(text), self._LEVEL)
        if self._library.ZSTD_isError(length):
            raise OSError("libzstd could not compress a frame of %d bytes" % len(text))
        return ctypes.string_at(out, length)


def _frames():
    """The best compression there is here."""
    for kind in (_PackageFrames, _LibraryFrames):
        try:
            return kind()
        except (ImportError, OSError):
            continue
    return _PlainFrames()


# ---------------------------------------------------------------------------------------------------------------------
# Files: NAME-PID-00000.jsonl.zst, -00001, ...


class _LogFiles:
    """The rotating files of one session."""

    def __init__(self, stem, frames, header, max_file_bytes, max_files):
        self._stem = stem
        self._frames = frames
        self._header = header
        self._max_file_bytes = max_file_bytes
        self._max_files = max_files
        self._descriptor = None
        self._bytes = 0
        self._numbers = itertools.count()
        self.paths = collections.deque()
        self.written_bytes = 0
        self._open(0)

    def write(self, text, first_call):
        """Appends one frame; `first_call` is the number of the first call in it."""
        frame = self._frames.frame(text)
        if self._bytes > self._header_bytes and self._bytes + len(frame) > self._max_file_bytes:
            self.close()
        if self._descriptor is None:
            self._open(first_call)
        self._append(frame)

    def close(self):
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)

    def _open(self, first_call):
        number = next(self._numbers)
        path = "%s-%05d%s" % (self._stem, number, self._frames.suffix)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        self._bytes = 0
        self.paths.append(path)
        self._append(self._frames.frame(self._header(number, first_call)))
        self._header_bytes = self._bytes
        while len(self.paths) > self._max_files:
            _remove(self.paths.popleft())

    def _append(self, frame):
        """All of the frame or, when the disk refuses, nothing of it: half a frame would spoil what follows."""
        rest = memoryview(frame)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            os.ftruncate(self._descriptor, self._bytes)
            os.lseek(self._descriptor, self._bytes, os.SEEK_SET)
            raise
        self._bytes += len(frame)
        self.written_bytes += len(frame)


def _remove(path):
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass  # somebody tidied up before us, which is what we wanted


def _free_stem(prefix):
    """PREFIX-PID, or PREFIX.2-PID, ... when this process, or a former one of the same id, has used it."""
    directory = os.path.dirname(os.path.abspath(prefix))
    os.makedirs(directory, exist_ok=True)
    taken = os.listdir(directory)
    base = os.path.basename(prefix)
    for number in itertools.count(1):
        name = "%s-%d" % (base if number == 1 else "%s.%d" % (base, number), os.getpid())
        if not any(file.startswith(name + "-") for file in taken):
            return os.path.join(directory, name)


# ---------------------------------------------------------------------------------------------------------------------
# Taking copies of index tensors at the call.

# Up to here a list of Python numbers is cheaper to take than a copy of the tensor.
_LIST_ELEMENTS = 64
# What a queued call weighs beside its tensors: the objects that hold it.
_CALL_BYTES = 640
# Rough weight of a Python number in a list.
_NUMBER_BYTES = 40

# Marshals, and is never an argument.
_MISSING = ...


class _NoRoom(Exception):
    """The pinned blocks are all in flight: the call is dropped."""


class _Staged:
    """A CUDA tensor on its way into pinned blocks; readable once the call's event has passed."""

    __slots__ = ("pieces", "wide")

    def __init__(self, pieces, wide):
        self.pieces = pieces  # [(block, elements)]
        self.wide = wide  # 64-bit elements, else 32-bit


class _Block:
    """A stretch of pinned memory, seen as 64-bit and as 32-bit numbers, by torch and by numpy."""

    __slots__ = ("words", "wide", "narrow", "wide_numpy", "narrow_numpy", "_start", "_start_of")

    def __init__(self, tensor, torch):
        self.words = tensor.numel()
        self.wide = tensor
        self.narrow = tensor.view(torch.int32)
        self.wide_numpy = tensor.numpy()
        self.narrow_numpy = self.narrow.numpy()
        self._start = self._start_of = None

    def start(self, wide, count):
        """The first `count` numbers. A view costs some microseconds, and batches of one size follow each other."""
        if self._start_of != (wide, count):
            self._start = (self.wide if wide else self.narrow)[:count]
            self._start_of = (wide, count)
        return self._start


class _PinnedBlocks:
    """Pinned blocks of a few sizes, allocated once: pinning memory at a call would stall the device.

    Lists that are appended to and popped from are safe between threads, so there is no lock.
    """

    # Words of a block, and its share of the memory.
    _SHARES = ((512, 0.25), (8 * KIB, 0.35), (128 * KIB, 0.4))

    def __init__(self, torch, total_bytes):
        self._torch = torch
        self._free = []
        # Blocks made in inference mode could not be written outside of it.
        with torch.inference_mode(False):
            for words, share in self._SHARES:
                count = max(1, int(total_bytes * share) // (8 * words))
                slab = torch.empty(count * words, dtype=torch.int64, pin_memory=True)
                self._free.append((words, [_Block(block, torch) for block in slab.split(words)]))
        self._events = []

    def stage(self, tensor, taken):
        """Starts the copy of a CUDA tensor; the blocks it uses are added to `taken`."""
        wide = tensor.dtype is not self._torch.int32
        flat = tensor if tensor.dim() == 1 else tensor.reshape(-1)
        pieces = []
        begin, left = 0, flat.numel()
        while left:
            block = self._take(left if wide else (left + 1) // 2, taken)
            room = block.words if wide else 2 * block.words
            count = min(left, room)
            piece = flat if count == flat.numel() else flat[begin : begin + count]
            block.start(wide, count).copy_(piece, non_blocking=True)
            pieces.append((block, count))
            begin += count
            left -= count
        return _Staged(pieces, wide)

    def _take(self, words, taken):
        """The smallest free block that holds `words`, else the largest that is free."""
        for size, blocks in self._free:
            if size >= words and blocks:
                return self._pop(blocks, taken)
        for size, blocks in reversed(self._free):
            if size < words and blocks:
                return self._pop(blocks, taken)
        raise _NoRoom

    @staticmethod
    def _pop(blocks, taken):
        try:
            block = blocks.pop()
        except IndexError:  # another thread took the last
            raise _NoRoom from None
        taken.append(block)
        return block

    def mark(self):
        """An event behind all copies that were started on the current stream."""
        event = self._events.pop() if self._events else self._torch.cuda.Event(blocking=True)
        event.record()
        return event

    def give_back(self, taken, event):
        for block in taken:
            for words, blocks in self._free:
                if words == block.words:
                    blocks.append(block)
        self._events.append(event)


class _Copies:
    """Copies what a call was given, on the caller's thread. Cheap, and never waits for a device."""

    def __init__(self, torch, blocks):
        self._tensor = torch.Tensor
        self._torch = torch
        self._blocks = blocks

    def numbers(self, value, call):
        """A copy of an index tensor (or list) that nobody else can change."""
        if not isinstance(value, self._tensor):
            return [int(number) for number in value]
        if value.is_cuda:
            return self._staged(value, call)
        if not value.is_cpu:
            raise TypeError("a tensor on %s: only cpu and cuda tensors can be recorded" % value.device)
        count = value.numel()
        if count <= _LIST_ELEMENTS:
            call.weight += _NUMBER_BYTES * count
            return value.tolist() if value.dim() == 1 else value.reshape(-1).tolist()
        call.weight += value.element_size() * count
        return value.clone() if value.dim() == 1 else value.reshape(-1).clone()

    def number(self, value, call):
        if type(value) is int:
            return value
        if isinstance(value, self._tensor):
            return self.numbers(value, call)
        return int(value)

    def _staged(self, value, call):
        if self._torch.cuda.is_current_stream_capturing():
            # Our copy would become part of the graph and be run again at every replay.
            raise RuntimeError("called while a CUDA graph is captured")
        if self._blocks is None:
            raise TypeError("a CUDA tensor given to an allocator on the CPU")
        call.weight += value.element_size() * value.numel()
        if not call.blocks:
            call.blocks = []
        return self._blocks.stage(value, call.blocks)

    def mark(self):
        return self._blocks.mark()

    def give_back(self, call):
        if call.event is not None:
            self._blocks.give_back(call.blocks, call.event)


# ---------------------------------------------------------------------------------------------------------------------
# Writing numbers down, on the writer's side.

_RUNS_A_PIECE = 256
# Up to here runs are found faster in a list than by numpy.
_LOOP_ELEMENTS = 16


def _packed(value):
    """What was copied at the call, in what marshal knows: a tensor becomes (numpy's name of its type, its bytes)."""
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return [(_packed(locs), _packed(start)) for locs, start in value]
    if value is None or value is _MISSING or isinstance(value, (int, list)):
        return value
    if isinstance(value, _Staged):
        pieces = [(b.wide_numpy if value.wide else b.narrow_numpy)[:count] for b, count in value.pieces]
        return ("<i8" if value.wide else "<i4", b"".join([piece.tobytes() for piece in pieces]))
    array = value.numpy()
    return (array.dtype.str, array.tobytes())


def _runs_of_list(numbers):
    runs = []
    first = count = 0
    for number in numbers:
        if count and number == first + count:
            count += 1
            continue
        if count:
            runs.append("[%d,%d]" % (first, count))
        first, count = number, 1
    if count:
        runs.append("[%d,%d]" % (first, count))
    return ",".join(runs)


def _runs_of_array(numbers, numpy):
    breaks = (numbers[1:] - numbers[:-1] != 1).nonzero()[0]
    runs = numpy.empty((len(breaks) + 1, 2), numpy.int64)
    runs[0, 0] = numbers[0]
    runs[1:, 0] = numbers[breaks + 1]
    counts = runs[:, 1]
    counts[:-1] = breaks
    counts[-1] = len(numbers) - 1
    counts[1:] -= breaks
    counts[0] += 1
    pieces = []
    for begin in range(0, len(runs), _RUNS_A_PIECE):
        piece = runs[begin : begin + _RUNS_A_PIECE]
        # One format for all of them: the loop is C's.
        pieces.append(("[%d,%d]," * len(piece))[:-1] % tuple(piece.ravel().tolist()))
    return ",".join(pieces)


class _Text:
    """JSON of what was packed."""

    def __init__(self, numpy):
        self._numpy = numpy

    def runs(self, value):
        numbers = self._numbers(value)
        if len(numbers) > _LOOP_ELEMENTS:
            return "[%s]" % _runs_of_array(self._numpy.asarray(numbers), self._numpy)
        return "[%s]" % _runs_of_list(numbers if isinstance(numbers, list) else numbers.tolist())

    def integers(self, value):
        numbers = self._numbers(value)
        numbers = numbers if isinstance(numbers, list) else numbers.tolist()
        return "[%s]" % (("%d," * len(numbers))[:-1] % tuple(numbers))

    def integer(self, value):
        return str(int(self._numbers(value)[0]))

    def segments(self, value):
        parts = ['{"locs":%s,"start_pos":%s}' % (self.runs(locs), self.integer(start)) for locs, start in value]
        return "[%s]" % ",".join(parts)

    def _numbers(self, value):
        if isinstance(value, list):
            return value
        if isinstance(value, int):
            return [value]
        return self._numpy.frombuffer(value[1], value[0])


# ---------------------------------------------------------------------------------------------------------------------
# The calls: which arguments a method has, and how they are written.


class _Argument:
    """One argument: its key in the log, how it is copied and written, and where it is among the method's own.

    `names` in order of preference: a CPU twin of a CUDA tensor is cheaper to copy. `place` is where to look when the
    method calls it something else.
    """

    def __init__(self, key, kind, *names, place=None):
        self.key = key
        self.kind = kind
        self.names = names
        self.place = place


def _locs(key="locs", *names, place=0):
    return _Argument(key, "runs", *(names or ("free_index", "free_indices")), place=place)


_TOKENS = _Argument("tokens", "integer", "need_size", place=0)
_PREFIX_LENS = _Argument("prefix_lens", "integers", "prefix_lens_cpu", "prefix_lens")
_SEQ_LENS = _Argument("seq_lens", "integers", "seq_lens_cpu", "seq_lens")
_LAST_LOCS = _Argument("last_locs", "runs", "last_loc")
_SEGMENTS = _Argument("segments", "segments", "segments", place=0)


class _Method:
    """A method of the allocator and the call that it is written as.

    `foreign`: the log's format has no such call. It is written as a missing call, which any reader understands, that
    says beside it what it was.
    """

    def __init__(self, call, *arguments, lends=False, foreign=False):
        self.call = call
        self.arguments = arguments
        self.lends = lends
        self.foreign = foreign


def _segment_method(call):
    start = _Argument("start_pos", "integer", "start_pos", place=1)
    return _Method(call, _locs(), start)


_METHODS = {
    "alloc": _Method("alloc", _TOKENS, lends=True),
    "alloc_extend": _Method("alloc_extend", _PREFIX_LENS, _SEQ_LENS, _LAST_LOCS, lends=True),
    "alloc_decode": _Method("alloc_decode", _SEQ_LENS, _LAST_LOCS, lends=True),
    "alloc_extend_swa_tail": _Method(
        "alloc_extend_swa_tail",
        _PREFIX_LENS,
        _SEQ_LENS,
        _LAST_LOCS,
        _Argument("tail_len", "integer", "swa_tail_len"),
        _Argument("tail_end", "integer", "swa_tail_end"),
        lends=True,
    ),
    "free": _Method("free", _locs()),
    "free_swa": _Method("free_swa", _locs()),
    "free_full": _Method("free_full", _locs()),
    "free_segment": _segment_method("free_segments"),
    "free_swa_segment": _segment_method("free_swa_segments"),
    "free_full_segment": _segment_method("free_full_segments"),
    "free_segments": _Method("free_segments", _SEGMENTS),
    "free_swa_segments": _Method("free_swa_segments", _SEGMENTS),
    "free_full_segments": _Method("free_full_segments", _SEGMENTS),
    "free_group_begin": _Method("free_group_begin"),
    "free_group_end": _Method("free_group_end"),
    "set_full_to_swa_mapping": _Method(
        "set_full_to_swa_mapping", _locs("locs", "full_indices"), _locs("swa_locs", "swa_indices", place=1)
    ),
    "clear_full_to_swa_mapping": _Method("clear_full_to_swa_mapping", _locs("locs", "full_indices")),
    "clear": _Method("clear"),
    "resize": _Method("resize"),
    "backup_state": _Method("backup_state"),
    "restore_state": _Method("restore_state", _Argument("key", "state", "state", "free_pages", place=0)),
    # The pools inside a hybrid allocator, where the engine calls them past it (cache load-back, tombstone recovery).
    "full_attn_allocator.alloc": _Method("full_attn_allocator.alloc", _TOKENS, lends=True, foreign=True),
    "full_attn_allocator.free": _Method("free_full", _locs()),
    "full_attn_allocator.free_segment": _segment_method("free_full_segments"),
    "swa_attn_allocator.alloc": _Method("swa_attn_allocator.alloc", _TOKENS, lends=True, foreign=True),
    "swa_attn_allocator.free": _Method("swa_attn_allocator.free", _locs(), foreign=True),
}

class _Slot:
    """Where an argument is found in a call's args and kwargs."""

    __slots__ = ("key", "kind", "index", "name", "instead")

    def __init__(self, key, kind, index, name, instead):
        self.key = key
        self.kind = kind
        self.index = index
        self.name = name
        self.instead = instead


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_KEYWORD_ONLY_INDEX = sys.maxsize


def _slots_of(method, function):
    """Where each argument of `method` is in this release's signature."""
    parameters = list(inspect.signature(function).parameters.values())
    index_of = {}
    for index, parameter in enumerate(parameters):
        index_of[parameter.name] = index if parameter.kind in _POSITIONAL else _KEYWORD_ONLY_INDEX
    return [_slot_of(argument, index_of, parameters) for argument in method.arguments]


def _slot_of(argument, index_of, parameters):
    slot = None
    for name in reversed([name for name in argument.names if name in index_of]):
        slot = _Slot(argument.key, argument.kind, index_of[name], name, slot)
    if slot is not None:
        return slot
    place = argument.place
    if place is not None and place < len(parameters) and parameters[place].kind in _POSITIONAL:
        return _Slot(argument.key, argument.kind, place, parameters[place].name, None)
    return _Slot(argument.key, argument.kind, _KEYWORD_ONLY_INDEX, argument.names[-1], None)


def _find(slot, args, kwargs):
    while slot is not None:
        value = args[slot.index] if slot.index < len(args) else kwargs.get(slot.name, _MISSING)
        if value is not _MISSING and value is not None:
            return value
        slot = slot.instead
    return _MISSING


class _Call:
    """One recorded call, from the caller's thread to the writer's. What most calls lack is a default of the class."""

    result = _MISSING
    error = None
    full = None  # available sizes after the call
    swa = None
    blocks = ()  # pinned blocks that its copies are in
    event = None  # behind the last of these copies
    weight = _CALL_BYTES
    lost_before = 0  # calls dropped between the one before and this
    note_before = None
    note = None
    done = None  # of a flush: set when it is over
    finished = False  # of a flush: everything was written

    def __init__(self, name, time_ns):
        self.name = name
        self.time_ns = time_ns
        self.values = []


# Names of entries in the queue that are no calls.
_DROPPED = "(dropped)"
_FLUSH = "(flush)"
_CLOSE = "(close)"


# ---------------------------------------------------------------------------------------------------------------------
# What is recorded: the allocator's geometry and its available sizes.

_LAYOUTS = {
    "TokenToKVPoolAllocator": "token",
    "PagedTokenToKVPoolAllocator": "paged",
    "SWATokenToKVPoolAllocator": "hybrid",
    "PureSWATokenToKVPoolAllocator": "pure_swa",
}


class _Unsupported(Exception):
    """This allocator cannot be recorded; the text says why and what helps."""


def _layout_of(allocator, layout):
    if layout is not None:
        if layout not in _LAYOUTS.values():
            raise _Unsupported("layout %r is none of %s" % (layout, ", ".join(sorted(_LAYOUTS.values()))))
        return layout
    name = type(allocator).__name__
    if name not in _LAYOUTS:
        raise _Unsupported(
            "%s is not one of %s; when it behaves as one of them, give layout= (POOLPROOF_RECORD_LAYOUT)"
            % (name, ", ".join(sorted(_LAYOUTS)))
        )
    return _LAYOUTS[name]


def _kvcache_of(allocator):
    return getattr(allocator, "_kvcache", None)


def _ring_of(allocator):
    """Rows a request slot, 0 without a ring. It is the allocator that must work with a ring, not the KV cache alone."""
    kvcache = _kvcache_of(allocator)
    if getattr(allocator, "_swa_req_ring", False):
        return int(kvcache.swa_req_ring_size)
    if getattr(allocator, "_unified_kv", False):
        return int(kvcache.unified_swa_ring_size)
    return 0


def _window_of(allocator, window):
    """(window, known): the allocators do not know it, some KV caches do."""
    if window is not None:
        return int(window), True
    found = getattr(_kvcache_of(allocator), "sliding_window", None)
    if isinstance(found, int) and found > 0:
        return found, True
    return 1, False


def _request_slots_of(pool):
    if pool is None:
        return 0
    rows = getattr(pool, "_alloc_size", None)  # with the padding row
    return int(rows) - 1 if rows is not None else int(pool.size) + int(getattr(pool, "pre_alloc_size", 0))


def _whole_pages(tokens, page):
    return int(tokens) // page * page


def _sizes_of(allocator, layout):
    """(full, swa) capacity in tokens, as the geometry has it."""
    page = int(allocator.page_size)
    full = getattr(allocator, "size_full", None)
    full = _whole_pages(allocator.size if full is None else full, page)
    if layout != "hybrid":
        return full, 0
    if _ring_of(allocator):
        # size_swa counts request slots then; the paged pool behind it is idle.
        return full, _whole_pages(allocator.swa_attn_allocator.size, page)
    return full, _whole_pages(allocator.size_swa, page)


def _geometry_of(allocator, layout, window, pool):
    full, swa = _sizes_of(allocator, layout)
    geometry = {"layout": layout, "page": int(allocator.page_size), "full": full, "swa": swa, "ring": 0}
    if layout == "hybrid":
        geometry["ring"] = _ring_of(allocator)
    geometry["window"] = window if layout in ("hybrid", "pure_swa") else 0
    geometry["reqs"] = _request_slots_of(pool)
    geometry["need_sort"] = bool(getattr(allocator, "need_sort", False))
    return geometry


def _is_fresh(geometry, gauges, pool):
    fresh = gauges.get("full_available") == geometry["full"]
    if geometry["layout"] == "hybrid" and not geometry["ring"]:
        fresh = fresh and gauges.get("swa_available") == geometry["swa"]
    if pool is not None:
        fresh = fresh and int(pool.available_size()) == geometry["reqs"]
    return fresh


def _definer(cls, name):
    for base in cls.__mro__:
        if name in base.__dict__:
            return base
    raise _Unsupported("%s has no method %s" % (cls.__name__, name))


def _size_readers(allocator, layout):
    """The functions (full, swa) that read the available sizes; None where reading could wait for the device.

    The engine's own classes take the length of a tensor, which is known on the host. What a class that we do not know
    does is anybody's guess: on a GPU it is not called.
    """
    names = ("full_available_size", "swa_available_size") if layout == "hybrid" else ("available_size",)
    known = set(_LAYOUTS) | {"BaseTokenToKVPoolAllocator"}
    readers = []
    for name in names:
        definer = _definer(type(allocator), name)
        certain = definer.__name__ in known or _device_type(allocator) == "cpu"
        readers.append(definer.__dict__[name] if certain else None)
    return readers[0], readers[1] if len(readers) > 1 else None


def _device_type(allocator):
    return str(getattr(allocator, "device", "cpu")).split(":")[0]


def _device_index(allocator, torch):
    """The GPU of the allocator; "cuda" alone means the current one of the thread that attaches."""
    index = torch.device(allocator.device).index
    return torch.cuda.current_device() if index is None else index


def _engine_of(allocator):
    package = type(allocator).__module__.split(".")[0]
    version = getattr(sys.modules.get(package), "__version__", None)
    return "%s %s" % (package, version) if version else package


# ---------------------------------------------------------------------------------------------------------------------
# The recorder.

_POLL_SECONDS = 0.1
# What is packed in one go, with the GIL held: handing it over lets the GIL go.
_BATCH_BYTES = 256 * KIB
_BATCH_CALLS = 64
_KEPT_STATES = 4
# Of a state that was backed up before the recording began, or too long ago, or not at all.
_UNKNOWN_STATE = -1
_ERROR_TEXT_CHARACTERS = 500


class _Depth(threading.local):
    """True while this thread is inside a recorded call."""

    inside = False


def _limit(name, value, least):
    if not isinstance(value, (int, float)) or value < least:
        raise _Unsupported("%s is %r: it must be a number, at least %s" % (name, value, least))
    return value


# ---------------------------------------------------------------------------------------------------------------------
# The writer: packed calls in, files out. It has a process of its own, else the forwarding thread.

_SLOT_CALLS = ("take_slot", "give_slot")
_Record = collections.namedtuple("_Record", "name t values result error full swa note lost lost_note")


def _lost(count, note):
    """A record of calls that are missing, as a packed call."""
    return (None, 0, [], _MISSING, None, None, None, None, count, note)


class _LogWriter:
    """Numbers the calls, writes them down, and the text to files frame by frame."""

    def __init__(self, setup, failed):
        import numpy

        self._setup = setup
        self._failed = failed  # called with (where, error)
        self._text = _Text(numpy)
        self._buffer = []
        self._buffer_bytes = 0
        self._buffer_since = 0.0
        self._buffer_first = 0
        self._next_number = 0
        self._lost = 0
        self._gauges = self._frame_gauges = setup["gauges"]
        self._files = _LogFiles(setup["stem"], _frames(), self._header, setup["max_file_bytes"], setup["max_files"])

    def take(self, batch):
        for fields in batch:
            record = _Record(*fields)
            if record.lost:
                self._add_lost(record.lost, record.lost_note)
            if record.name is not None:
                self._add_record(record)
            self.write_if_due()

    def write_if_due(self):
        if not self._buffer:
            return
        due = time.monotonic() - self._buffer_since >= self._setup["flush_seconds"]
        if due or self._buffer_bytes >= self._setup["frame_bytes"]:
            self._write_frame()

    def flush(self):
        self._write_frame()
        return self.report()

    def close(self):
        try:
            self._write_frame()
        finally:
            self._files.close()
        return self.report()

    def abandon(self):
        """Lets go of the file. In a forked child too, which must leave it alone."""
        self._files.close()

    def report(self):
        return {"paths": list(self._files.paths), "written_bytes": self._files.written_bytes, "lost": self._lost}

    def _header(self, number, first_call):
        about = dict(self._setup["about"], file=number, n=first_call, gauges=self._frame_gauges)
        return (json.dumps(about) + "\n").encode()

    def _add_record(self, record):
        try:
            lines = self._lines(record)
        except Exception as error:
            self._add_lost(1, "writing down %s: %s" % (record.name, _described(error)))
            self._failed("writing down " + record.name, error)
            return
        for line in lines:
            self._add(('{"n":%d,' % self._next_number + line).encode())
            self._next_number += 1

    def _add_lost(self, count, note):
        text = ',"note":' + json.dumps(note) if note else ""
        self._add(('{"n":%d,"lost":%d%s}\n' % (self._next_number, count, text)).encode())
        self._next_number += count
        self._lost += count

    def _add(self, line):
        if not self._buffer:
            self._buffer_since = time.monotonic()
            self._buffer_first = self._next_number
        self._buffer.append(line)
        self._buffer_bytes += len(line)

    def _write_frame(self):
        if not self._buffer:
            return
        text = b"".join(self._buffer)
        first, count = self._buffer_first, self._next_number - self._buffer_first
        self._buffer = []
        self._buffer_bytes = 0
        try:
            self._files.write(text, first)
        except Exception as error:
            self._next_number = first
            self._add_lost(count, "writing the log: " + _described(error))
            self._failed("writing the log", error)
        self._frame_gauges = self._gauges

    def _lines(self, record):
        head = '"t":%d,' % record.t
        tail = self._tail(record)
        if record.name in _SLOT_CALLS:
            return self._slot_lines(head, record, tail)
        return [head + self._arguments(record) + tail]

    def _slot_lines(self, head, record, tail):
        """One line a slot; the sizes and the error belong to the last."""
        named = [head + '"call":"%s","slot":%s' % (record.name, json.dumps(slot)) for slot in record.values or [None]]
        return [line + "}\n" for line in named[:-1]] + [named[-1] + tail]

    def _arguments(self, record):
        method = _METHODS[record.name]
        named = self._named(method, record)
        if "start_pos" in named:
            named = {"segments": '[{"locs":%s,"start_pos":%s}]' % (named["locs"], named["start_pos"])}
        elif record.name == "alloc_extend_swa_tail":
            # Where the engine cannot say otherwise, its tail is the end of the extend.
            named.setdefault("tail_end", named["seq_lens"].strip("[]") or "0")
        elif record.name in ("backup_state", "restore_state"):
            named = {"key": str(record.values[0] if record.values else _UNKNOWN_STATE)}
        elif record.name == "resize":
            named = {key: str(size) for key, size in zip(("full_size", "swa_size"), record.values)}
        if record.result is not _MISSING:
            named["locs"] = "null" if record.result is None else self._text.runs(record.result)
        parts = ['"lost":1'] if method.foreign else []
        parts.append('"call":"%s"' % method.call)
        parts.extend('"%s":%s' % item for item in named.items())
        return ",".join(parts)

    def _named(self, method, record):
        """The written arguments. A call that lacks one was made wrongly and has raised: all are written as empty."""
        given = {argument.key: (argument.kind, value) for argument, value in zip(method.arguments, record.values)}
        if given.get("tail_end", (None, 0))[1] is _MISSING:
            del given["tail_end"]
        if any(value is _MISSING for _, value in given.values()):
            return {key: "0" if kind == "integer" else "[]" for key, (kind, _) in given.items()}
        return {key: getattr(self._text, kind)(value) for key, (kind, value) in given.items() if kind != "state"}

    def _tail(self, record):
        parts = []
        if record.error is not None:
            parts.append('"error":' + json.dumps(record.error))
        if record.full is not None:
            self._gauges = {"full_available": record.full}
            parts.append('"full":%d' % record.full)
        if record.swa is not None:
            self._gauges = dict(self._gauges, swa_available=record.swa)
            parts.append('"swa":%d' % record.swa)
        if record.note is not None:
            parts.append('"note":' + json.dumps(record.note))
        return "".join("," + part for part in parts) + "}\n"


# Between the two processes: marshalled messages behind their length, and JSON lines back.
_LENGTH = struct.Struct("<I")


class _WriterProcess:
    """A _LogWriter in a process of its own: the server's GIL is not needed to write a log."""

    _START_SECONDS = 20

    def __init__(self, setup):
        # The child must not record itself.
        environment = {k: v for k, v in os.environ.items() if not k.startswith("POOLPROOF_RECORD")}
        self._process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--write"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # the server's Ctrl-C is not for it
        )
        try:
            self._send("setup", setup)
            if not select.select([self._process.stdout], [], [], self._START_SECONDS)[0]:
                raise TimeoutError("the writer process did not start within %d s" % self._START_SECONDS)
            self._first_report = self._reply()
        except Exception:
            self._process.kill()
            self._process.wait()
            raise

    def report(self):
        return self._first_report

    def take(self, batch):
        self._send("take", batch)

    def write_if_due(self):
        """It looks at the clock itself."""

    def flush(self):
        self._send("flush", None)
        return self._reply()

    def close(self):
        self._send("close", None)
        report = self._reply()
        self.abandon()
        self._process.wait()
        return report

    def abandon(self):
        """Lets go of the pipes. In a forked child too, or the writer would not see the server's end."""
        self._process.stdin.close()
        self._process.stdout.close()

    def _send(self, kind, content):
        message = marshal.dumps((kind, content))
        rest = memoryview(_LENGTH.pack(len(message)) + message)
        while rest:
            rest = rest[os.write(self._process.stdin.fileno(), rest) :]

    def _reply(self):
        line = self._process.stdout.readline()
        if not line:
            raise BrokenPipeError("the writer process ended with status %s" % self._process.wait())
        reply = json.loads(line)
        if "error" in reply:
            raise OSError(reply["error"])
        return reply


class _WriterService:
    """The other end: runs in the writer's process until its input ends, the server's death included."""

    def __init__(self):
        self._writer = None
        self._failures = 0
        self._max_failures = 1
        self._input = bytearray()

    def run(self):
        # It ends when the server does: signals to the whole group come too early.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while self._failures < self._max_failures:
            if select.select([0], [], [], _POLL_SECONDS)[0]:
                data = os.read(0, MIB)
                if not data:
                    break
                self._input += data
                if not self._answer_messages():
                    return
            if self._writer is not None:
                self._writer.write_if_due()
        if self._writer is not None:
            self._writer.close()

    def _answer_messages(self):
        """False when the session was closed, or could not begin."""
        at, begin = 0, _LENGTH.size
        while len(self._input) - at >= begin:
            (length,) = _LENGTH.unpack_from(self._input, at)
            if len(self._input) - at - begin < length:
                break
            kind, content = marshal.loads(self._input[at + begin : at + begin + length])
            at += begin + length
            if not self._answer(kind, content):
                return False
        del self._input[:at]
        return True

    def _answer(self, kind, content):
        if kind == "take":
            self._writer.take(content)
            return True
        if kind == "setup":
            return self._set_up(content)
        self._reply(self._writer.flush() if kind == "flush" else self._writer.close())
        return kind != "close"

    def _set_up(self, setup):
        self._max_failures = setup["max_failures"]
        try:
            self._writer = _LogWriter(setup, self._failed)
        except Exception as error:
            self._reply({"error": _described(error)})
            return False
        self._reply(self._writer.report())
        return True

    def _failed(self, where, error):
        self._failures += 1
        if self._failures in (1, self._max_failures):
            sys.stderr.write(
                "poolproof recorder: %s: %s (failure %d, the writer ends at %d)\n"
                % (where, _described(error), self._failures, self._max_failures)
            )

    @staticmethod
    def _reply(reply):
        os.write(1, (json.dumps(reply) + "\n").encode())


class Recorder:
    """One session: the calls of one allocator, and its files. Made by attach()."""

    def __init__(self):
        self.active = False
        self.reason = None  # why it is not active
        self.calls = 0  # calls handed to the writer
        self.lost = 0  # calls dropped at the call
        self.failures = 0  # the recorder's own exceptions
        self._writer = None
        self._report = {"paths": [], "written_bytes": 0, "lost": 0}
        self._thread = None
        self._wrapped = []
        self._orphan_watch = None
        self._depth = _Depth()

    # -- What a user calls.

    @property
    def paths(self):
        """The log files there were at the last flush, oldest first."""
        return list(self._report["paths"])

    @property
    def written_bytes(self):
        """Bytes in all files of the session at the last flush, deleted ones included."""
        return self._report["written_bytes"]

    def flush(self, timeout=10.0):
        """Waits until all calls made so far are in the file; False when the time is up."""
        return self._through_queue(_FLUSH, timeout)

    def detach(self, timeout=10.0):
        """Gives the allocator its methods back and writes out what is queued; False when the time is up."""
        self._unwrap()
        if not self.active:
            return True
        self.active = False
        self.reason = "detached"
        _forget(self)
        finished = self._through_queue(_CLOSE, timeout)
        if not finished:
            _log.warning("poolproof recorder: the log was not written out within %s s", timeout)
        return finished

    # -- Starting.

    def _start(self, allocator, path, pool, options):
        import torch

        layout = _layout_of(allocator, options["layout"])
        device = _device_type(allocator)
        if device not in ("cpu", "cuda"):
            raise _Unsupported("the allocator is on %s: only cpu and cuda are supported" % device)
        self._torch = torch
        self._device_index = _device_index(allocator, torch) if device == "cuda" else None
        self._layout = layout
        self._package = type(allocator).__module__.split(".")[0]
        self._read_full, self._read_swa = _size_readers(allocator, layout)
        self._queue_bytes = int(_limit("queue_bytes", options["queue_bytes"], 64 * KIB))
        self._max_failures = int(_limit("max_failures", options["max_failures"], 1))
        blocks = _PinnedBlocks(torch, self._queue_bytes // 2) if device == "cuda" else None
        self._copies = _Copies(torch, blocks)
        self._queue = collections.deque()
        # Reentrant: a signal handler that calls the allocator must not lock itself out.
        self._lock = threading.RLock()
        self._put_bytes = 0
        self._done_bytes = 0
        self._dropped = 0
        self._drop_note = None
        self._states = collections.deque(maxlen=_KEPT_STATES)
        self._state_keys = itertools.count()
        self._wake = threading.Event()

        setup = self._setup(allocator, pool, options)
        self._writer = self._start_writer(path, setup, options["writer"])
        self._report = self._writer.report()
        self._path = self.paths[0]
        if self._path.endswith(_PlainFrames.suffix):
            _warn("poolproof recorder: neither the zstandard package nor libzstd.so.1 is here: the log is plain "
                  ".jsonl, some ten times as large (install python3-zstandard or libzstd1)")  # fmt: skip
        self._allocator_ref = weakref.ref(allocator)
        self.active = True
        self._wrap_allocator(allocator)
        if pool is not None:
            self._wrap_pool(pool)
        self._orphan_watch = weakref.finalize(allocator, self._orphaned)
        self._orphan_watch.atexit = False
        self._thread = threading.Thread(target=self._forward_until_closed, name="poolproof-recorder", daemon=True)
        self._thread.start()

    def _setup(self, allocator, pool, options):
        """What the writer must know."""
        max_file_bytes = int(_limit("max_file_bytes", options["max_file_bytes"], 4 * KIB))
        frame_bytes = int(_limit("frame_bytes", options["frame_bytes"], KIB))
        gauges = {}
        for key, read in (("full_available", self._read_full), ("swa_available", self._read_swa)):
            if read is not None:
                gauges[key] = int(read(allocator))
        return {
            "about": self._describe(allocator, pool, options["window"], gauges),
            "gauges": gauges,
            "max_file_bytes": max_file_bytes,
            "max_files": int(_limit("max_files", options["max_files"], 1)),
            "frame_bytes": min(frame_bytes, max_file_bytes // 2),  # it must fit into a file beside the header
            "flush_seconds": float(_limit("flush_seconds", options["flush_seconds"], 0.0)),
            "max_failures": self._max_failures,
        }

    def _describe(self, allocator, pool, window, gauges):
        """What every header of the session says."""
        window, window_known = _window_of(allocator, window)
        geometry = _geometry_of(allocator, self._layout, window, pool)
        self._began_ns = time.monotonic_ns()
        return {
            "poolproof_log": 1,
            "session": uuid.uuid4().hex,
            "class": type(allocator).__name__,
            "engine": _engine_of(allocator),
            "geometry": geometry,
            "window_known": window_known,
            "fresh": _is_fresh(geometry, gauges, pool),
            "time_ns": self._began_ns,
            "wall": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }

    def _start_writer(self, path, setup, where):
        if where not in ("process", "thread"):
            raise _Unsupported("writer is %r: it must be process or thread" % (where,))
        if where == "process":
            try:
                return _WriterProcess(dict(setup, stem=_free_stem(path)))
            except (OSError, TypeError, ValueError) as error:
                _warn("poolproof recorder: no writer process (%s): a thread writes, which slows a busy server more",
                      _described(error))  # fmt: skip
        return _LogWriter(dict(setup, stem=_free_stem(path)), self._count_failure)

    def _discard(self):
        """After a failed start."""
        self.active = False
        self._unwrap()
        if self._writer is not None:
            self._writer.close()

    # -- Wrapping. The recorder itself holds the wrapped objects by weak references: it must not keep a pool alive.

    def _wrap_allocator(self, allocator):
        for name in _METHODS:
            if callable(getattr(allocator, name, None)):
                self._wrap(allocator, name, self._recorded(allocator, allocator, name, name))
        if self._layout == "pure_swa":
            self._wrap_inner(allocator, allocator.swa_attn_allocator, "")
        elif self._layout == "hybrid":
            self._wrap_inner(allocator, allocator.full_attn_allocator, "full_attn_allocator.")
            self._wrap_inner(allocator, allocator.swa_attn_allocator, "swa_attn_allocator.")

    def _wrap_inner(self, allocator, inner, prefix):
        for name in ("alloc", "free", "free_segment"):
            if prefix + name in _METHODS and callable(getattr(inner, name, None)):
                self._wrap(inner, name, self._recorded(allocator, inner, name, prefix + name))

    def _wrap_pool(self, pool):
        # Newer pools lend rows without a request; their alloc and free go through these.
        by_rows = hasattr(pool, "alloc_rows")
        take, give = ("alloc_rows", "free_rows") if by_rows else ("alloc", "free")
        self._wrap(pool, take, self._recorded_slots("take_slot", getattr(pool, take), _watch_take))
        self._wrap(pool, give, self._recorded_slots("give_slot", getattr(pool, give), _watch_give))
        watch_clear = functools.partial(_watch_clear, pool)
        self._wrap(pool, "clear", self._recorded_slots("give_slot", pool.clear, watch_clear))

    def _wrap(self, owner, name, wrapper):
        """Sets `wrapper` on the instance; what the instance itself had there (another tool's wrapper) is kept."""
        wrapper = functools.wraps(getattr(owner, name))(wrapper)
        wrapper.poolproof_recorder = self
        wrapper.poolproof_before = owner.__dict__.get(name, _MISSING)
        setattr(owner, name, wrapper)
        self._wrapped.append((weakref.ref(owner), name))

    def _unwrap(self):
        wrapped, self._wrapped = self._wrapped, []
        for owner_ref, name in reversed(wrapped):
            owner = owner_ref()
            wrapper = owner.__dict__.get(name) if owner is not None else None
            # Somebody may have wrapped it again: then ours stays below theirs, and only passes on.
            if getattr(wrapper, "poolproof_recorder", None) is not self:
                continue
            if wrapper.poolproof_before is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, wrapper.poolproof_before)

    def _recorded(self, allocator, owner, name, call_name):
        """A wrapper of a method of the allocator, or of a pool inside it."""
        original = getattr(owner, name)
        method = _METHODS[call_name]
        slots = _slots_of(method, original)
        lends = method.lends
        depth = self._depth

        def wrapper(*args, **kwargs):
            if depth.inside or not self.active:
                return original(*args, **kwargs)
            depth.inside = True
            try:
                call, args, kwargs = self._before(call_name, slots, args, kwargs)
                try:
                    result = original(*args, **kwargs)
                except BaseException as error:
                    self._after(allocator, call, None, False, error)
                    raise
                self._after(allocator, call, result, lends, None)
                return result
            finally:
                depth.inside = False

        return wrapper

    def _recorded_slots(self, call_name, original, watch):
        """A wrapper of a method of the request pool: `watch` looks before the call, and says after it which slots."""
        depth = self._depth

        def wrapper(*args, **kwargs):
            if depth.inside or not self.active:
                return original(*args, **kwargs)
            depth.inside = True
            try:
                call, slots_after = self._before_slots(call_name, watch, args, kwargs)
                try:
                    result = original(*args, **kwargs)
                except BaseException as error:
                    self._after_slots(call, slots_after, None, error)
                    raise
                self._after_slots(call, slots_after, result, None)
                return result
            finally:
                depth.inside = False

        return wrapper

    # -- On the caller's thread.

    def _before(self, name, slots, args, kwargs):
        """(call, args, kwargs): copies of the arguments, and what to call the allocator with. Throws nothing."""
        call = _Call(name, time.monotonic_ns())
        try:
            for slot in slots:
                value = _find(slot, args, kwargs)
                if value is _MISSING:
                    call.values.append(value)
                elif slot.kind == "segments":
                    value, args, kwargs = self._copy_segments(call, slot, value, args, kwargs)
                    call.values.append(value)
                elif slot.kind == "integer":
                    call.values.append(self._copies.number(value, call))
                elif slot.kind == "state":
                    call.values.append(self._key_of_state(value))
                else:
                    call.values.append(self._copies.numbers(value, call))
        except _NoRoom:
            self._drop(call)
            call = None
        except Exception as error:
            self._failed(name, error)
            self._drop_blocks(call)
            call = None
        return call, args, kwargs

    def _copy_segments(self, call, slot, segments, args, kwargs):
        """Segments in a list are copied now. A generator is copied as the allocator draws from it."""
        copies = []
        if isinstance(segments, (list, tuple)):
            for locs, start in segments:
                copies.append((self._copies.numbers(locs, call), self._copies.number(start, call)))
            return copies, args, kwargs
        drawn = self._drawn(call, segments, copies)
        if slot.index < len(args):
            args = args[: slot.index] + (drawn,) + args[slot.index + 1 :]
        else:
            kwargs = dict(kwargs, **{slot.name: drawn})
        return copies, args, kwargs

    def _drawn(self, call, segments, copies):
        for segment in segments:
            try:
                locs, start = segment
                copies.append((self._copies.numbers(locs, call), self._copies.number(start, call)))
            except Exception as error:
                call.note = _described(error)
            yield segment

    def _after(self, allocator, call, result, lends, error):
        """Completes a call and queues it. Throws nothing."""
        if call is None or not self.active:
            return
        try:
            if call.note is not None:  # of a segment that could not be copied
                raise ValueError(call.note)
            if error is not None:
                call.error = _error_text(error, self._package)
            else:
                self._add_answer(call, result, lends)
            if call.name == "resize":
                call.values.extend(_sizes_of(allocator, self._layout))
            self._read_sizes(allocator, call)
            self._put(call)
        except _NoRoom:
            self._drop(call)
        except Exception as failure:
            self._failed(call.name, failure)
            self._drop_blocks(call)

    def _add_answer(self, call, result, lends):
        if lends:
            call.result = None if result is None else self._copies.numbers(result, call)
        elif call.name == "backup_state":
            call.values.append(self._new_state(result))

    def _before_slots(self, name, watch, args, kwargs):
        call = _Call(name, time.monotonic_ns())
        try:
            return call, watch(args, kwargs)
        except Exception as error:
            self._failed(name, error)
            return None, None

    def _after_slots(self, call, slots_after, result, error):
        if call is None or not self.active:
            return
        try:
            call.values = slots_after(result)
            if error is not None:
                call.error = _error_text(error, self._package)
            allocator = self._allocator_ref()
            if allocator is not None:
                self._read_sizes(allocator, call)
            # A call that moved no slot (all requests had theirs) is none.
            if call.values != [] or error is not None:
                self._put(call)
        except Exception as failure:
            self._failed(call.name, failure)

    def _read_sizes(self, allocator, call):
        """A broken allocator may not be able to say; the record then says why there are no sizes."""
        try:
            if self._read_full is not None:
                call.full = int(self._read_full(allocator))
            if self._read_swa is not None:
                call.swa = int(self._read_swa(allocator))
        except Exception as error:
            call.full = call.swa = None
            call.note = "available sizes: " + _described(error)

    def _new_state(self, state):
        key = next(self._state_keys)
        self._states.append((state, key))
        return key

    def _key_of_state(self, state):
        for known, key in self._states:
            if known is state:
                return key
        return _UNKNOWN_STATE

    def _put(self, call):
        if call.blocks:
            call.event = self._copies.mark()
        with self._lock:
            if self._put_bytes - self._done_bytes + call.weight > self._queue_bytes:
                dropped = True
            else:
                dropped = False
                self._put_bytes += call.weight
                call.lost_before, call.note_before = self._dropped, self._drop_note
                self._dropped, self._drop_note = 0, None
                self._queue.append(call)
                self.calls += 1
        if dropped:
            self._drop(call)

    def _drop(self, call):
        """No room: the next call that is written says that this one is missing."""
        with self._lock:
            self._dropped += 1
            self.lost += 1
        self._drop_blocks(call)

    def _drop_blocks(self, call):
        """Copies may be in flight to the blocks of a dropped call: they go back by way of the queue."""
        if not call.blocks:
            return
        try:
            if call.event is None:
                call.event = self._copies.mark()
        except Exception as error:
            self._failed(call.name, error)  # the blocks are given up: the device may still write to them
            return
        call.name = _DROPPED
        call.weight = 0
        self._queue.append(call)

    def _failed(self, where, error):
        """The call could not be recorded: it is lost, and the next one says why."""
        with self._lock:
            self._dropped += 1
            self.lost += 1
            self._drop_note = "%s: %s" % (where, _described(error))
        self._count_failure(where, error)

    def _count_failure(self, where, error):
        """Counts an exception of the recorder's own; too many switch it off."""
        with self._lock:
            self.failures += 1
            failures = self.failures
        if failures == 1:
            _warn("poolproof recorder: could not record %s (%s); at %d such failures it switches itself off",
                  where, _described(error), self._max_failures)  # fmt: skip
        if failures >= self._max_failures and self.active:
            self._switch_off("switched off after %d failures, the last: %s: %s" % (failures, where, _described(error)))

    def _switch_off(self, reason):
        """The wrappers only pass on from here; the writer ends after what is queued."""
        self.active = False
        self.reason = reason
        _forget(self)
        with self._lock:
            self._drop_note = reason
        self._queue_marker(_CLOSE)
        _warn("poolproof recorder: %s (log: %s)", reason, self._path)

    def _orphaned(self):
        """The allocator is gone: its session is over. Run by the garbage collector, in the middle of anything."""
        if self.active:
            self.active = False
            self.reason = "the allocator is gone"
            _forget(self)
            self._queue_marker(_CLOSE)

    def _abandon(self):
        """In a forked child: no thread, no lock and no file here is ours."""
        self.active = False
        self.reason = "a forked child does not record"
        self._queue.clear()
        self._thread = None
        if self._writer is not None:
            self._writer.abandon()

    def _queue_marker(self, name):
        """Queues a flush or the end. The writer finds it at its next poll: setting an event is not reentrant."""
        marker = _Call(name, time.monotonic_ns())
        marker.weight = 0
        marker.done = threading.Event()
        with self._lock:
            marker.lost_before, marker.note_before = self._dropped, self._drop_note
            self._dropped, self._drop_note = 0, None
            self._queue.append(marker)
        return marker

    def _through_queue(self, name, timeout):
        if self._thread is None or not self._thread.is_alive():
            return False
        marker = self._queue_marker(name)
        self._wake.set()
        return marker.done.wait(timeout) and marker.finished

    # -- On the forwarding thread.

    def _forward_until_closed(self):
        closed = prepared = False
        while not closed:
            try:
                if self._device_index is not None and not prepared:
                    # Asking for an event from a thread without a device would wake up device 0.
                    self._torch.cuda.set_device(self._device_index)
                prepared = True
                closed = self._forward()
                self._writer.write_if_due()
            except Exception as error:
                closed = True
                self._end(error)
            if not closed:
                self._wake.wait(_POLL_SECONDS)
                self._wake.clear()

    def _forward(self):
        """Hands the writer what is queued; True when the session is over."""
        batch, weight = [], 0
        while self._queue:
            call = self._queue.popleft()
            if call.done is None:
                self._add_packed(batch, call)
                weight += call.weight
                if weight < _BATCH_BYTES and len(batch) < _BATCH_CALLS:
                    continue
            elif call.lost_before:
                batch.append(_lost(call.lost_before, call.note_before))
            self._hand_over(batch, weight, call)
            batch, weight = [], 0
            if call.name == _CLOSE:
                return True
        self._hand_over(batch, weight, None)
        return False

    def _hand_over(self, batch, weight, call):
        """Gives the writer a batch, and after it what `call` asks for, when it is a flush or the end."""
        try:
            if batch:
                self._writer.take(batch)
            self._done_bytes += weight
            if call is not None and call.done is not None:
                self._report = self._writer.close() if call.name == _CLOSE else self._writer.flush()
                call.finished = True
        finally:
            if call is not None and call.done is not None:
                call.done.set()

    def _add_packed(self, batch, call):
        try:
            # Nearly always it has passed; waiting would let the GIL go and have to win it back.
            if call.event is not None and not call.event.query():
                call.event.synchronize()
            if call.name != _DROPPED:
                batch.append(self._record(call))
        except Exception as error:
            batch.append(_lost(1, "%s: %s" % (call.name, _described(error))))
            self._count_failure(call.name, error)
        finally:
            self._copies.give_back(call)

    def _record(self, call):
        values = call.values if call.name in _SLOT_CALLS else [_packed(value) for value in call.values]
        return (
            call.name, call.time_ns - self._began_ns, values, _packed(call.result), call.error, call.full, call.swa,
            call.note, call.lost_before, call.note_before,
        )  # fmt: skip

    def _end(self, error):
        """The writer is gone, or cannot be reached: nothing can be recorded any more."""
        if self.active:
            self.active = False
            self.reason = "the writer ended: " + _described(error)
            _forget(self)
            _warn("poolproof recorder: %s (log: %s)", self.reason, self._path)
        self._writer.abandon()
        for call in list(self._queue):
            if call.done is not None:
                call.done.set()


def _warn(text, *values):
    """A handler of the server's logging may itself be broken: that must not reach the server from here."""
    try:
        _log.warning(text, *values)
    except Exception:
        sys.stderr.write("poolproof recorder: the logging module failed\n")


def _described(error):
    return "%s: %s" % (type(error).__name__, str(error)[:_ERROR_TEXT_CHARACTERS])


def _error_text(error, package):
    return {
        "type": type(error).__name__,
        "text": str(error)[:_ERROR_TEXT_CHARACTERS],
        "where": _where(error, package),
    }


def _where(error, package):
    """FILE:LINE of the deepest frame inside the engine's package, else of the deepest frame."""
    deepest = deepest_inside = ""
    trace = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        deepest = "%s:%d" % (os.path.basename(frame.f_code.co_filename), trace.tb_lineno)
        if frame.f_globals.get("__name__", "").split(".")[0] == package:
            deepest_inside = deepest
        trace = trace.tb_next
    return deepest_inside or deepest


# -- Request slots: releases differ in what alloc and free are given.


def _slot_held(request):
    holder = getattr(request, "kv", None)
    holder = holder if hasattr(holder, "req_pool_idx") else request
    return holder.req_pool_idx


def _first_argument(args, kwargs):
    return args[0] if args else next(iter(kwargs.values()))


def _watch_take(args, kwargs):
    wanted = _first_argument(args, kwargs)
    # Requests that have a slot keep it, and are among the answer.
    held = None if isinstance(wanted, numbers.Integral) else [_slot_held(request) for request in wanted]

    def slots_after(answer):
        if answer is None:
            return None
        if held is None:
            return [int(slot) for slot in answer]
        return [int(slot) for slot, before in zip(answer, held) if before is None]

    return slots_after


def _watch_give(args, kwargs):
    given = _first_argument(args, kwargs)
    given = given if isinstance(given, (list, tuple)) else [given]
    slots = [int(slot) if isinstance(slot, numbers.Integral) else int(_slot_held(slot)) for slot in given]
    return lambda _answer: slots


def _watch_clear(pool, _args, _kwargs):
    before = set(pool.free_slots)
    return lambda _answer: sorted(int(slot) for slot in set(pool.free_slots) - before)


# ---------------------------------------------------------------------------------------------------------------------
# Attaching, and the life of the process.

_recorders = []


def _forget(recorder):
    if recorder in _recorders:
        _recorders.remove(recorder)


def attach(
    allocator,
    path,
    req_to_token_pool=None,
    *,
    window=None,
    layout=None,
    queue_bytes=64 * MIB,
    max_file_bytes=64 * MIB,
    max_files=16,
    flush_seconds=0.4,
    frame_bytes=256 * KIB,
    max_failures=10,
    writer="process",
):
    """Records `allocator` to PATH-PID-00000.jsonl.zst, ... and answers the Recorder. Throws nothing at the server.

    `window`: the model's sliding window, when the KV cache does not know it. `layout`: token, paged, hybrid or
    pure_swa, for a class of your own. `writer`: process, or thread for a place where no process can be started; the
    thread competes with the server for the GIL. When recording is not possible, `active` is false, `reason` says why,
    and a warning is logged.
    """
    recorder = Recorder()
    options = {
        "window": window,
        "layout": layout,
        "queue_bytes": queue_bytes,
        "max_file_bytes": max_file_bytes,
        "max_files": max_files,
        "flush_seconds": flush_seconds,
        "frame_bytes": frame_bytes,
        "max_failures": max_failures,
        "writer": writer,
    }
    try:
        if any(other._allocator_ref() is allocator for other in _recorders):
            raise _Unsupported("this allocator is being recorded already")
        recorder._start(allocator, os.fspath(path), req_to_token_pool, options)
        _recorders.append(recorder)
        _log.info("poolproof recorder: recording %s to %s", type(allocator).__name__, recorder._path)
    except Exception as error:
        recorder._discard()
        recorder.reason = _described(error) if not isinstance(error, _Unsupported) else str(error)
        _warn("poolproof recorder: %s is not recorded: %s", type(allocator).__name__, recorder.reason)
    return recorder


def detach_all():
    """Ends all recordings of this process; also done when it exits."""
    for recorder in list(_recorders):
        recorder.detach()


def _after_fork_in_child():
    for recorder in _recorders:
        recorder._abandon()
    _recorders.clear()


atexit.register(detach_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


# ---------------------------------------------------------------------------------------------------------------------
# Recording without touching the engine: SGLang's classes are watched as their modules are imported.

# Class to watch, with all its subclasses: the modules that define it, by release.
_ALLOCATOR_BASE = "BaseTokenToKVPoolAllocator"
_REQUEST_POOL = "ReqToTokenPool"
_WATCHED = {
    "sglang.srt.mem_cache.allocator": (_ALLOCATOR_BASE,),
    "sglang.srt.mem_cache.allocator.base": (_ALLOCATOR_BASE,),
    "sglang.srt.mem_cache.memory_pool": (_REQUEST_POOL,),
}

_OPTION_VARIABLES = {
    "window": ("POOLPROOF_RECORD_WINDOW", int),
    "layout": ("POOLPROOF_RECORD_LAYOUT", str),
    "writer": ("POOLPROOF_RECORD_WRITER", str),
    "queue_bytes": ("POOLPROOF_RECORD_QUEUE_BYTES", int),
    "max_file_bytes": ("POOLPROOF_RECORD_MAX_FILE_BYTES", int),
    "max_files": ("POOLPROOF_RECORD_MAX_FILES", int),
}


def _options_from_environment():
    options = {}
    for option, (variable, kind) in _OPTION_VARIABLES.items():
        text = os.environ.get(variable)
        if text:
            try:
                options[option] = kind(text)
            except ValueError:
                _warn("poolproof recorder: %s=%s is no whole number; it is ignored", variable, text)
    return options


class _Watcher:
    """Attaches a recorder to each allocator as its construction ends."""

    def __init__(self, path, options):
        self._path = path
        self._options = options
        self._construction = threading.local()
        self._request_pool = None
        self._seen = weakref.WeakSet()

    def watch_module(self, module):
        for name in _WATCHED[module.__name__]:
            cls = getattr(module, name, None)
            if cls is not None and cls not in self._seen:
                ready = self._pool_ready if name == _REQUEST_POOL else self._allocator_ready
                self._watch_class(cls, ready)
                self._watch_later_subclasses(cls, ready)

    def _watch_class(self, cls, ready):
        """Wraps the constructor of `cls` and of all subclasses there are."""
        if cls in self._seen:
            return
        self._seen.add(cls)
        if "__init__" in cls.__dict__:
            cls.__init__ = self._constructor(cls.__init__, ready)
        for subclass in cls.__subclasses__():
            self._watch_class(subclass, ready)

    def _watch_later_subclasses(self, cls, ready):
        earlier = cls.__dict__.get("__init_subclass__")

        def __init_subclass__(subclass, **kwargs):
            if earlier is not None:
                earlier.__get__(None, subclass)(**kwargs)
            else:
                super(cls, subclass).__init_subclass__(**kwargs)
            self._watch_class(subclass, ready)

        cls.__init_subclass__ = classmethod(__init_subclass__)

    def _constructor(self, original, ready):
        """The pools that a hybrid allocator builds inside its constructor are part of it, and not recorded."""
        construction = self._construction

        @functools.wraps(original)
        def __init__(instance, *args, **kwargs):
            outermost = getattr(construction, "of", None) is None
            if outermost:
                construction.of = instance
            try:
                original(instance, *args, **kwargs)
            finally:
                if outermost:
                    construction.of = None
            if outermost:
                ready(instance)

        return __init__

    def _pool_ready(self, pool):
        self._request_pool = weakref.ref(pool)

    def _allocator_ready(self, allocator):
        pool = getattr(allocator, "_req_to_token_pool", None)
        if pool is None and self._request_pool is not None:
            # The engine builds the request pool just before the allocator.
            pool = self._request_pool()
        attach(allocator, self._path, pool, **self._options)


class _ImportHook:
    """Finds nothing itself: it has the watcher look at the watched modules when they have been run."""

    def __init__(self, watcher):
        self._watcher = watcher

    def find_spec(self, name, path=None, target=None):
        if name not in _WATCHED:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = None if finder is self or find is None else find(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    self._follow(spec.loader, name)
                return spec
        return None

    def _follow(self, loader, name):
        run = loader.exec_module

        def exec_module(module):
            run(module)
            if module.__name__ == name:
                self._look(module)

        loader.exec_module = exec_module

    def _look(self, module):
        try:
            self._watcher.watch_module(module)
        except Exception as error:
            _warn("poolproof recorder: %s is not watched: %s", module.__name__, _described(error))


def install(path=None):
    """Records every SGLang allocator that this process will build, to `path` (default: POOLPROOF_RECORD)."""
    path = path or os.environ.get("POOLPROOF_RECORD")
    if not path:
        _warn("poolproof recorder: nothing to install: set POOLPROOF_RECORD=/path/prefix")
        return
    hook = _ImportHook(_Watcher(path, _options_from_environment()))
    sys.meta_path.insert(0, hook)
    for name in _WATCHED:
        if name in sys.modules:
            hook._look(sys.modules[name])


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("poolproof_recorder.py is a module: import it, and call attach() (docs/recording.md)")
    _WriterService().run()
