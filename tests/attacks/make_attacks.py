#!/usr/bin/env python3
"""Writes files that once took a command down: make_attacks.py FOLDER [--large [PART]]

Without --large those that stand in files/ here, with it those that are too large to keep. Where PART is given, what only
takes time has one in PART: it is for sanitizers, with which time does not count. The formats are those of docs/formats.md;
checksums are right, so that what lies behind them is reached."""

import ctypes
import pathlib
import struct
import sys
import zlib

xxhash = ctypes.CDLL("libxxhash.so.0")
xxhash.XXH3_64bits.restype = ctypes.c_uint64
xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]

# ---- the formats -----------------------------------------------------------------------------------------------------

DATA, CONFIG = b"\x89CWD\r\n\x1a\n", b"\x89CWC\r\n\x1a\n"
RANGE, PM, PC, TRACE = 0, 1, 2, 4
NO_HASH = b"\0" * 16


def u8(value): return struct.pack("<B", value)
def u32(value): return struct.pack("<I", value)
def u64(value): return struct.pack("<Q", value)
def f64(value): return struct.pack("<d", value)
def many(items): return u32(len(items)) + b"".join(items)
def pairs(items): return many([string(key) + string(value) for key, value in items])


def string(text):
    text = text.encode()
    return u32(len(text)) + text


def header(magic, minor=0, major=1):
    return magic + struct.pack("<HHI", major, minor, 0)


def chunk(name, payload, optional=False):
    head = name.encode() + struct.pack("<IQ", optional, len(payload))
    whole = head + payload
    return head + u64(xxhash.XXH3_64bits(whole, len(whole))) + payload


def schema(counters=(), metrics=(), chip="GH100", profiler=RANGE, passes=1):
    return (string(chip) + u8(profiler) + NO_HASH + string("x") + u32(passes) +
            many([string(name) + u8(whole) + many([u32(p) for p in of]) for name, whole, of in counters]) +
            many([string(m) for m in metrics]))


SIMULATED = (("name", "G"), ("chip", "GH100"), ("backend", "sim"), ("simulated", "yes"))
ONE_FACT = u32(1) + f64(1) * 4  # instances and peaks of a counter


def device(attributes=SIMULATED, facts=0, number=0):
    return u32(number) + pairs(attributes) + ONE_FACT * facts


def one_range(name="n", kernel="k", values=(), durations=(1.0,), sizes=(1,) * 6, start=1, end=2):
    return (string(name) + string(kernel) + u32(0) + u32(1) + u64(1) + u64(1) + b"".join(u32(s) for s in sizes) +
            u64(start) + u64(end) + b"".join(f64(d) for d in durations) + b"".join(values))


def end(ranges=0):
    return chunk("ENDC", u64(ranges) + u64(0) + u8(0) + u32(0))


TIME = ("gpu__time_duration", 1, [0])
FIVE = u8(3) + f64(5)


def ranges(*payloads, metrics=("gpu__time_duration.sum",), attributes=SIMULATED, counters=(TIME,), chip="GH100"):
    """A capture of ranges, each of which has a value for each counter."""
    return (header(DATA) + chunk("SCHM", schema(counters, metrics, chip)) +
            chunk("DEVC", device(attributes, len(counters))) + b"".join(chunk("RNGE", p) for p in payloads) +
            end(len(payloads)))


def instructions(functions, records, modules=(), reasons=("r",), serialized=0):
    """A capture of PC samples."""
    batch = (u32(0) + u32(1) + u64(1) + u64(2) + u8(serialized) + u8(10) + u8(0) + u64(10) + u64(0) + u64(0) +
             many([string(r) for r in reasons]) + many([string(f) for f in functions]) + many(records))
    return (header(DATA) + chunk("SCHM", schema(profiler=PC, passes=0)) + chunk("DEVC", device()) +
            b"".join(chunk("MODL", u64(crc) + code, True) for crc, code in modules) + chunk("PCSM", batch, True) +
            end())


def record(module=1, offset=0, function=0, launch=0, stalls=((0, 5),)):
    return (u64(module) + u64(offset) + u32(function) + u32(0) + u32(launch) +
            many([u32(reason) + u32(samples) for reason, samples in stalls]))


def varint(number):
    more = number >> 7
    return u8(number & 127 | 128 * bool(more)) + (varint(more) if more else b"")


TEXT = 4


def packed(records, texts, name, fields, columns):
    """A file of packed chunks of one kind, all in one group; fields are of (how many, kind)."""
    part = name.encode() + u32(0) + many([varint(8 * count + kind) for count, kind in fields])
    group = u32(records) + many([part]) + columns
    return (header(DATA, 0, 2) + chunk("SCHM", schema([TIME], ["gpu__time_duration.sum"])) +
            chunk("DEVC", device(facts=1)) +
            chunk("PACK", u32(records) + many([string(t) for t in texts]) + many([group]) + b"\0\0") + end())


# ---- traces ----------------------------------------------------------------------------------------------------------

MINOR = 5
NUMBER, TIME_OF, TEXT_OF, DEVICE_OF = 0, 1, 3, 5
TYPES = {"start": TIME_OF, "end": TIME_OF, "name": TEXT_OF, "domain": TEXT_OF, "type": TEXT_OF, "device": DEVICE_OF}
KINDS = {"kernel": ("start", "end", "device", "context", "stream", "correlation", "shape"),
         "launch_shape": ("id", "name", "grid_x"),
         "runtime": ("start", "end", "thread", "correlation", "name"),
         "nvtx_range": ("start", "end", "thread", "end_thread", "type", "domain", "name")}
BEGIN = 1700000000000000000


def trace_of(kinds, texts, rows):
    """A trace of one process: kinds with their fields, of (name, type), and rows of (kind, how many, columns)."""
    names = list(kinds)
    return (header(DATA, MINOR) + chunk("SCHM", schema(profiler=TRACE, passes=0)) + chunk("DEVC", device()) +
            chunk("TKND", many([string(name) + many([string(field) + u8(type) for field, type in kinds[name]])
                                for name in names]), True) +
            chunk("TPRC", u32(0) + u32(100) + pairs((("program", "p"), ("host", "h"))) + many([u32(0) + u32(0)]), True) +
            chunk("TSTR", u32(0) + u32(1) + many([string(text) for text in texts]), True) +
            b"".join(chunk("TREC", u32(0) + u32(names.index(kind)) + u32(count) + columns, True)
                     for kind, count, columns in rows) + end())


def column(*numbers):
    return u8(1) + b"".join(varint(number) for number in numbers)


def trace(texts, rows):
    """A trace of one process: text 1 is texts[0]; rows by kind, each a number for each of its fields."""
    kinds = {kind: [(field, TYPES.get(field, NUMBER)) for field in fields] for kind, fields in KINDS.items()}
    return trace_of(kinds, texts, [(kind, len(of), b"".join(column(*(row[i] for row in of)) for i in range(len(KINDS[kind]))))
                                   for kind, of in rows.items()])


def nested(names, depth, leaves=()):
    """Ranges one in another, with names in turn, and leaves that follow one another in the innermost."""
    texts, inner = ["push"] + list(names) + list(leaves), 1000 * len(leaves)
    ranges_of = [(BEGIN + i, BEGIN + 2 * depth + inner - i, 7, 7, 1, 0, 2 + i % len(names)) for i in range(depth)]
    ranges_of += [(BEGIN + depth + 1000 * i, BEGIN + depth + 1000 * i + 999, 7, 7, 1, 0, 2 + len(names) + i)
                  for i in range(len(leaves))]
    return trace(texts, {"nvtx_range": ranges_of})


def repeated_kernel(name, count):
    return trace([name, "cudaLaunchKernel"],
                 {"launch_shape": [(1, 1, 1)],
                  "kernel": [(BEGIN + 10 * i, BEGIN + 10 * i + 9, 0, 1, 7, i + 1, 1) for i in range(count)],
                  "runtime": [(BEGIN + 10 * i - 5, BEGIN + 10 * i - 1, 7, i + 1, 2) for i in range(count)]})


def letters(number):
    """A name without digits."""
    return "".join(chr(97 + number // 26 ** i % 26) for i in range(4))


# ---- plans -----------------------------------------------------------------------------------------------------------

def plan(parameters=(), counters=(("sm__inst_executed", [0]),), raws=1, passes=((0,),), limits=()):
    """A config image: counters with the raw counters that they need, passes with those that they collect, limits with the
    most groups and the group of each raw counter."""
    held, collecting = [], {}
    for i, collected in enumerate(passes):
        for raw in set(collected):
            collecting.setdefault(raw, []).append(i)
    for name, needs in counters:
        passes_of = sorted({i for raw in needs for i in collecting.get(raw, ())})
        held.append((name, len(passes_of) == 1 and set(needs) <= set(passes[passes_of[0]]), passes_of))
    prefix = header(DATA) + chunk("SCHM", schema(held, ["sm__inst_executed.sum"], passes=len(passes)))
    return (header(CONFIG) +
            chunk("PLAN", string("GH100") + u8(RANGE) + NO_HASH + string("x") + pairs(parameters)) +
            chunk("DOMN", many([u32(1) + string("d")])) + chunk("RAWC", many([u64(raw + 1) for raw in range(raws)])) +
            chunk("PASS", many([many([u32(raw) + u32(0) for raw in collected]) for collected in passes])) +
            chunk("CNTR", many([string(name) + u32(0) + f64(float("nan")) + many([u32(raw) for raw in needs])
                                for name, needs in counters])) +
            chunk("METR", many([string("sm__inst_executed.sum")])) +
            chunk("LIMT", many([u32(most) + many([u32(raw) + u32(0) + u32(group) for raw, group in members])
                                for most, members in limits])) + chunk("PRFX", prefix))


# ---- names that grow when they are made readable ---------------------------------------------------------------------

def substitution(number):
    """The text that stands for what was named before, number 0 first."""
    digits, text = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", ""
    if number == 0:
        return "S_"
    number -= 1
    while True:
        text = digits[number % 36] + text
        number //= 36
        if number == 0:
            return "S" + text + "_"


def growing_name(steps):
    """f(A<B, B>, A<that, that>, A<that, that>, ...): each step is twice as long."""
    name = "_Z1f1AI1BS0_E"
    for step in range(steps):
        last = substitution(step + 2)
        name += "S_I%s%sE" % (last, last)
    return name


# ---- modules ---------------------------------------------------------------------------------------------------------

COMPRESSED = 0x800
SPECIAL_ROW, FILE_1, FILE_2 = b"\x20", b"\x04\x01", b"\x04\x02"


def elf(sections):
    """(name, type, flags, data, link, entry size) each."""
    names, offsets, body, heads = b"\0", [], b"", []
    sections = [("", 0, 0, b"", 0, 0)] + sections + [(".shstrtab", 3, 0, None, 0, 0)]
    for name, *_ in sections:
        offsets.append(len(names) if name else 0)
        names += name.encode() + b"\0" if name else b""
    for offset, (name, kind, flags, data, link, entry) in zip(offsets, sections):
        data = names if data is None else data
        body += b"\0" * (-len(body) % 8)
        heads.append(struct.pack("<IIQQQQIIQQ", offset, kind, flags, 0, 64 + len(body) if kind else 0, len(data), link,
                                 0, 8 if kind else 0, entry))
        body += data
    body += b"\0" * (-len(body) % 8)
    head = struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, len(sections),
                       len(sections) - 1)
    return b"\x7fELF" + bytes([2, 1, 1, 0x33]) + b"\0" * 8 + head + body + b"".join(heads)


def squeeze(data, compressed):
    return struct.pack("<IIQQ", 1, 0, len(data), 1) + zlib.compress(data, 9) if compressed else data


def line_table(files, rows):
    """A .debug_line of DWARF 2."""
    head = bytes([1, 1, 0xfb, 14, 10]) + bytes([0, 1, 1, 1, 1, 0, 0, 0, 1]) + b"\0"
    head += b"".join(name + b"\0\0\0\0" for name in files) + b"\0"
    program = b"\0\x09\x02" + u64(0) + rows + b"\0\x01\x01"
    unit = struct.pack("<HI", 2, len(head)) + head + program
    return u32(len(unit)) + unit


def module(lines=b"", symbols=1, names=b"\0f\0", squeeze_names=False, squeeze_lines=False):
    """Its functions all have the first name."""
    nothing, symbol = (struct.pack("<IBBHQQ", *of, 0, 16) for of in ((0, 0, 0, 0), (1, 0x12, 0, 1)))
    sections = [(".text.f", 1, 6, b"\0" * 16, 0, 0),
                (".strtab", 3, COMPRESSED * squeeze_names, squeeze(names, squeeze_names), 0, 0),
                (".symtab", 2, 0, nothing + symbol * symbols, 2, 24)]
    if lines:
        sections.append((".debug_line", 1, COMPRESSED * squeeze_lines, squeeze(lines, squeeze_lines), 0, 0))
    return elf(sections)


def sampled(code):
    return instructions(["f"], [record(7)], [(7, code)])


def two_long_files(length, rows):
    return line_table([b"a" * length, b"b" * length], (FILE_1 + SPECIAL_ROW + FILE_2 + SPECIAL_ROW) * rows)


# ---- YAML ------------------------------------------------------------------------------------------------------------

CHIP = """schema: 1
chip: GH100
source: [x]
time: gpu__time_duration
units:
  gpu: {instances: 1, active: sm__cycles_active, elapsed: sm__cycles_elapsed}
  sm: {instances: 4, active: sm__cycles_active, elapsed: sm__cycles_elapsed}
domains:
  trace: 1
  gpu_sm_a: 32
raw_counters:
  0x0000000000000011: [gpu_sm_a]
  0x0000000000000022: [gpu_sm_a, trace]
  0x0000000000000033: [trace]
%s
counters:
  gpu__time_duration: {unit: gpu, dim: nanoseconds, peak: 1, raw: [0x33]}
  sm__cycles_active: {unit: sm, dim: gpc_cycles, peak: 1, raw: [0x11]}
  sm__cycles_elapsed: {unit: sm, dim: gpc_cycles, peak: 1, raw: [0x11]}
  sm__inst_executed: {unit: sm, dim: instructions, peak: 4, raw: [0x22]}
ratios: {}
throughputs:
  sm__throughput: {unit: sm, dim: percent, counters: [sm__inst_executed, sm__cycles_active], raw: [0x11, 0x22]}
%s"""


def throughputs(depth):
    """Each of the one before, twice."""
    text = "  t0__throughput: {unit: sm, dim: percent, counters: [sm__inst_executed], raw: [0x22]}\n"
    for i in range(1, depth):
        text += ("  t%d__throughput: {unit: sm, dim: percent, throughputs: [t%d__throughput, t%d__throughput], "
                 "raw: [0x22]}\n" % (i, i - 1, i - 1))
    return text


def classes(names, depth):
    """Each of the one before, twice."""
    text = "classes:\n"
    for name, raw in names:
        text += "  %s0: {domain: gpu_sm_a, raw: [%s]}\n" % (name, raw)
    for i in range(1, depth):
        for name, _ in names:
            text += "  %s%d: {of: [%s%d, %s%d]}\n" % (name, i, name, i - 1, name, i - 1)
    return text


def metrics(text):
    return "schema: 1\nmetrics:" + text


def metric(formula, more=""):
    return "schema: 1\nmetrics: {mine: {formula: %s%s}}\n" % (formula, more)


# ---- the files -------------------------------------------------------------------------------------------------------

ESCAPES = "\x1b]0;PWNED\x07\x1b[31mred\x1b[2J"


def captures():
    yield "esc", ranges(one_range(ESCAPES + "name", ESCAPES + "kern", [FIVE]))
    yield "escattr", ranges(one_range("n", "k", [FIVE]), attributes=(
        ("name", ESCAPES), ("chip", "GH100"), (ESCAPES, "v\nfake: line"), ("backend", "sim"), ("simulated", "yes")))
    yield "c1", ranges(one_range("a\u009b31mb", "k", [FIVE]))
    yield "csv", ranges(one_range("=cmd|' /C calc'!A0", "@SUM(1+1)*cmd|' /C calc'!A0", [FIVE]))
    yield "nl", ranges(one_range("a\nb\r\nrange 7", "x\ty", [FIVE]))
    yield "utf", ranges(one_range("\u202egnp.exe\u2066", "k", [FIVE]), attributes=())
    yield "chip_esc", ranges(one_range("n", "k", [FIVE]), attributes=(), chip="\x1b[31mX")
    yield "met_esc", ranges(one_range("n", "k", [FIVE]), attributes=(), metrics=["\x1b[31mX\u202e.sum"])
    yield "escpc", instructions([ESCAPES], [record()], reasons=(ESCAPES,))
    huge = 2**64 - 1
    yield "times", ranges(one_range("n", "k", [u8(3) + f64(float("nan"))], [float("nan")], [2**32 - 1] * 6, huge, huge),
                          attributes=())
    ends = [u8(3) + f64(value) for value in (-5, float("inf"), float("-inf"), float("nan"), 5e-324, -0.0)]
    yield "negative", ranges(*[one_range("n", "k", [value]) for value in ends * 10], attributes=())
    for passes in 0xffffffff, 0xfffffffe, 0x10000000:
        yield "passes_%x" % passes, (header(DATA) + chunk("SCHM", schema([TIME], ["gpu__time_duration.sum"],
                                                                         passes=passes)) +
                                     chunk("DEVC", device(facts=1)) + end())
    yield "dupattr", ranges(one_range("n", "k", [FIVE]), attributes=[("name", "a"), ("name", "b")] * 2000)
    # rows of a kind that only files have, fewer than it says: a table that lost all columns
    yield "trace_rows", trace_of({"runtime": [("start", 1), ("end", 1), ("thread", 0)], "context": [("context", 0)]}, [],
                              [("runtime", 1, column(1000) + column(2000) + column(1)), ("context", 3, column(1))])
    yield "trace_cut", trace_of({"runtime": [("start", 1), ("end", 1), ("thread", 0)]}, [], [("runtime", 3, column(1000))])
    yield "quad_64k", ranges(*[one_range("", "", [u8(2)])] * 280, metrics=["gpu__time_duration.sum"] * 1200)
    counters = [TIME] + [(name, 1, [0]) for name in ("sm__cycles_active", "sm__inst_executed", "sm__cycles_elapsed")]
    yield "dagcap", ranges(one_range("a", "b", [FIVE] * 4), counters=counters,
                           metrics=["t30__throughput.avg.pct_of_peak_sustained_elapsed"])
    for steps in 10, 16, 20, 24, 28, 40:
        yield "bomb%d" % steps, instructions([growing_name(steps)], [record()])
    yield "elf_ok", sampled(module(line_table([b"a.cu"], b"\x05\x00\x14" + SPECIAL_ROW * 4)))
    for mb in 1, 16:
        yield "elf_rows%dM" % mb, sampled(module(line_table([b"a.cu"], SPECIAL_ROW * (mb << 20)), squeeze_lines=True))
    for length in 100000, 400000:
        yield "elf_flipz%d" % length, sampled(module(two_long_files(length, length // 12), squeeze_lines=True))
    yield "nest_100_20000", nested(["L" * 20000], 100)
    yield "elf_symsz", sampled(module(symbols=2000, names=b"\0" + b"f" * 4000000 + b"\0", squeeze_names=True))


def yamls():
    yield "dag", CHIP % ("", throughputs(31))
    yield "dag24", CHIP % ("", throughputs(25))
    both = classes([("a", "0x11"), ("b", "0x22")], 21)
    yield "pairs", CHIP % (both + "limits:\n  - {max: 1, pairs: {a20: [b20]}}\n", "")
    yield "classes", CHIP % (classes([("a", "0x11")], 24), "")
    yield "alias", "a: &a [x,x]\nb: &b [*a,*a]\n"
    yield "paren", "schema: 1\nmetrics: {a: {formula: \"%s1%s\"}}\n" % ("(" * 2000, ")" * 2000)
    yield "neg", "schema: 1\nmetrics: {a: {formula: \"%s1\"}}\n" % ("-" * 4000)
    chain = "".join("  k%d: {formula: k%d + k%d}\n" % (i, i + 1, i + 1) for i in range(60))
    yield "chain", metrics("\n" + chain + "  k60: {formula: 1}\n")
    yield "cyc1", metrics(" {a: {formula: b}}\n")
    yield "cyc2", metrics(" {b: {formula: a}}\n")
    yield "self", metrics(" {b: {formula: b}}\n")
    yield "escdesc", metric("sm__inst_executed.sum", ", description: \"\\e[31mred\\e[2J\\nline2\", unit: \"x\"")
    yield "escunit", metric("sm__inst_executed.sum", ", unit: \"\\e[31m\"")
    yield "set_esc", "schema: 1\nset: set_esc\ntitle: \"\\e[31mred\\e[2J\"\nmetrics: [\"\\e]0;x\\a.sum\"]\n"
    yield "bom16", "schema: 1\nmetrics: {a: {formula: 1}}\n".encode("utf-16")
    yield "nulls", "schema: 1\0\nmetrics: {}"


def large_captures(part):
    yield "longname", ranges(one_range("n" * 5000000, "k", [FIVE]))
    yield "quad_1M", ranges(*[one_range("", "", [u8(2)])] * (4400 // part), metrics=["gpu__time_duration.sum"] * 19000)
    yield "quad_names", ranges(*[one_range("", "", [u8(2)])] * (4400 // part), metrics=["m%d.sum" % i for i in range(19000)])
    reasons = ["smsp__pcsamp_warps_issue_stalled_%s%s" % (r, twin) for r in ("long_scoreboard", "wait")
               for twin in ("", "_not_issued")]
    launches = [record(launch=i, stalls=[(r, 1) for r in range(4)]) for i in range(25000)]
    yield "twins", instructions(["f"], launches, reasons=reasons, serialized=1)
    bombs = ["_Z%dg%08d%s" % (9, i, growing_name(20)[4:]) for i in range(2000 // part)]
    yield "bombs", instructions(bombs, [record(function=i) for i in range(len(bombs))])
    yield "elf_flip", sampled(module(two_long_files(50000, 8000)))
    yield "elf_syms", sampled(module(symbols=5000, names=b"\0" + b"f" * 120000 + b"\0"))
    yield "elf_rows", sampled(module(line_table([b"a.cu"], SPECIAL_ROW * ((1 << 20) // part))))
    modules = [(i, module(two_long_files(20000, 100))) for i in range(50)]
    yield "elf_many", instructions(["f"], [record(m) for m, _ in modules], modules)
    yield "modules", instructions(["f"], [record(m) for m in range(20000)], [(m, b"") for m in range(20000)])
    long_names = ["f" * 50000 + str(i) for i in range(40)]
    yield "long_functions", instructions(long_names, [record(function=i % 40, offset=16 * i) for i in range(400)])
    counters = [("c%d" % i, 1, [0]) for i in range(2000)]
    samples = u32(0) + u64(0) + u8(0) + u32(2000) + b"".join(u64(i) for i in range(2000)) * 2 + b"\2" * len(counters)
    yield "samples", (header(DATA, 1) + chunk("SCHM", schema(counters, ["sm__cycles_active.avg"], profiler=PM)) +
                      chunk("DEVC", device(SIMULATED + (("sampling_interval", "1000 ns"),), len(counters))) +
                      chunk("SMPL", samples, True) + end())
    yield "nest300", nested(["L" * 60000], 300)
    yield "nest_leaves", nested(["L" * 200 + letters(i) for i in range(200)], 250,
                                [letters(i) for i in range(20000 // part)])
    yield "nest_long_leaves", nested(["L"], 1, [letters(i) * 1000 for i in range(500)])
    yield "same_kernel", repeated_kernel("k" * 60000, 20000 // part)
    yield "long_range", ranges(one_range("n" * 50000, "k" * 50000, [FIVE]),
                               metrics=["gpu__time_duration" + r for r in (".sum", ".avg", ".min", ".max")])
    launch = [u32(0) + u32(i) + u64(1) * 4 for i in range(1, 50000)]
    yield "launches", (header(DATA, 1) + chunk("SCHM", schema([("sm__cycles_active", 1, [0])],
                                                              ["sm__cycles_active.avg"], profiler=PM)) +
                       chunk("DEVC", device(facts=1)) +
                       chunk("LNCH", u32(1) + u64(0) + many([string("k")]) + many(launch), True) + end())
    launches = [chunk("RATT", pairs([("rank", str(i))]), True) + chunk("RNGE", one_range("", "k", [u8(2)]))
                for i in range(60000 // part)]
    yield "ranks", (header(DATA) + chunk("SCHM", schema([TIME], ["gpu__time_duration.sum"])) +
                    chunk("DEVC", device(facts=1)) + b"".join(launches) + end(len(launches)))
    yield "packed_texts", packed(65536, ["a"], "RATT", [(300000, TEXT)], b"\0\x63" * 300000)


def large_plans(part):
    counters = [("c%d" % i, [0, 1]) for i in range(500 // part)]
    yield "copies", plan(counters=counters, raws=2, passes=[(0, 1)] * 4096)
    yield "mixed", plan(counters=[("c%d" % i, [0, 1]) for i in range(20000 // part)], raws=2, passes=[(0,), (1,)] + [()] * 4094)
    pairs_of = [("p%d" % i, [i % 4000, (7 * i + i // 4000 + 1) % 4000]) for i in range(20000 // part)]
    yield "spread", plan(counters=[("c%d" % i, [i]) for i in range(4000)] + pairs_of, raws=4000, passes=[(i,) for i in range(4000)])
    wide = 100000 // part
    yield "limits", plan(counters=[("c", range(wide))], raws=wide, passes=[tuple(range(wide))],
                         limits=[(wide, [(i, i // 2) for i in range(wide)])])


def write(folder, name, content):
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def main():
    folder, large, part = pathlib.Path(sys.argv[1]), "--large" in sys.argv[2:], int((sys.argv[3:] or [1])[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in large_captures(part) if large else captures():
        write(folder, name + ".cwd", content)
    for name, content in large_plans(part) if large else ():
        write(folder, name + ".cwc", content)
    if large:
        write(folder, "set.yaml", "schema: 1\nset: set\ntitle: x\nmetrics:\n" +
              "".join("  - sm__x%d.sum\n" % i for i in range(150000 // part)))
        write(folder, "same_metrics.txt", "sm__inst_executed.sum\n" * (200000 // part))
    if not large:
        for name, content in yamls():
            write(folder, name + ".yaml", content)
        write(folder, "ok.cwc", plan())
        write(folder, "param.cwc", plan([("device_counter", "0x" + "f" * 5000), ("x" * 100, "\x1b[2J")]))


if __name__ == "__main__":
    main()
