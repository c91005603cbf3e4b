"""Reads captures by docs/formats.md alone: no code of the project was its model."""
import ctypes
import struct

import numpy

XXH3 = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
XXH3.restype, XXH3.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t]
PACKED = "BIQd"  # fields of packed chunks, by their kinds: u8, u32, u64, f64


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        assert self.at + size <= len(self.data), "the payload is too short"
        self.at += size
        return self.data[self.at - size:self.at]

    def read(self, form):
        got = struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))
        return got[0] if len(got) == 1 else got

    def many(self, form, count):
        kinds = {"d": "<f8", "I": "<u4", "Q": "<u8"}
        return numpy.frombuffer(self.take(count * struct.calcsize("<" + form)), kinds[form])

    def text(self):
        return self.take(self.read("I")).decode()

    def list(self, item):
        return [item(self) for _ in range(self.read("I"))]

    def pairs(self):
        return dict(self.list(lambda c: (c.text(), c.text())))

    def varint(self):
        number = shift = 0
        while True:
            byte = self.read("B")
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    def bits(self, width, rows):
        taken = int.from_bytes(self.take((width * rows + 7) // 8), "little")
        return [taken >> (width * i) & ((1 << width) - 1) for i in range(rows)]

    def column(self, kind, rows, before):
        """A column of packed values, as the numbers of their fields; `before` has the columns of the fields before."""
        form, is_f64 = self.read("B"), kind == 3
        whole, form = (form >= 16, form % 16)
        if form == 0:
            numbers = [self.varint()] * rows
        elif form in (1, 2):
            least, width = self.varint(), self.read("B")
            numbers = [least + bits for bits in self.bits(width, rows)]
            if form == 2:
                numbers = [number + last for number, last in zip(numbers, before[-1])]
        elif form == 3:
            known = [self.varint() for _ in range(self.varint())]
            numbers = [known[i] for i in self.bits((len(known) - 1).bit_length(), rows)]
        else:
            back, times, by = self.varint(), self.varint(), self.varint()
            return [as_bits(as_f64(number) * times / by) for number in before[-back]]
        numbers = [number % 2 ** 64 for number in numbers]
        return [as_bits(float(number)) for number in numbers] if whole and is_f64 else numbers


def as_f64(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def as_bits(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def unpack(payload):
    """The chunks of a PACK, in their order."""
    cursor, records = Cursor(payload), []
    count, texts = cursor.read("I"), cursor.list(lambda c: c.take(c.read("I")))

    def group(c):
        rows = c.read("I")
        chunks = c.list(lambda c: (c.read("II"), c.list(Cursor.varint)))
        kinds = [runs % 8 for _, fields in chunks for runs in fields for _ in range(runs // 8)]
        columns = []
        for kind in kinds:
            columns.append(c.column(kind, rows, columns))
        return chunks, columns
    groups = cursor.list(group)
    rows = [0] * len(groups)
    for chosen in cursor.column(1, count, []):
        chunks, columns = groups[chosen]
        field = 0
        for (kind, _), fields in chunks:
            made = b""
            for runs in fields:
                for _ in range(runs // 8):
                    number = columns[field][rows[chosen]]
                    field += 1
                    if runs % 8 == 4:
                        made += struct.pack("<I", len(texts[number])) + texts[number]
                    else:
                        size = struct.calcsize("<" + PACKED[runs % 8])
                        made += struct.pack("<Q", number)[:size]
            records.append((struct.pack("<I", kind), made))
        rows[chosen] += 1
    assert not any(cursor.data[cursor.at:]), "a PACK ends with zeros"
    return records


def chunks_of(data):
    assert data[:8] == b"\x89CWD\r\n\x1a\n" and data[8:10] in (b"\1\0", b"\2\0") and data[12:16] == b"\0" * 4
    at = 16
    while at < len(data):
        kind, flags, length, checksum = struct.unpack_from("<4sIQQ", data, at)
        payload = data[at + 24:at + 24 + length]
        assert len(payload) == length and XXH3(data[at:at + 16] + payload, 16 + length) == checksum, kind
        yield from unpack(payload) if kind == b"PACK" else [(kind, payload)]
        at += 24 + length


def read_value(c):
    form = c.read("B")
    if form in (0, 1):
        return form, (numpy.nan,) * 4
    if form == 2:
        return form, (0.0,) * 4
    if form == 3:
        return form, (c.read("d"),) * 4
    if form == 6:
        all_of = c.many("d", c.read("I"))
        if numpy.isnan(all_of).any():
            return form, (numpy.nan,) * 4
        total = float(numpy.add.accumulate(all_of)[-1])
        return form, (total, total / len(all_of), all_of.min(), all_of.max())
    return form, c.read("4d")


class Capture:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.devices, self.ranges, self.fact_names, self.repeats, next_range = {}, [], [], [], {}
        for kind, payload in chunks_of(data):
            c = Cursor(payload)
            if kind == b"SCHM":
                self.chip, self.profiler, _, _, self.passes = c.text(), c.read("B"), c.take(16), c.text(), c.read("I")
                self.counters = c.list(lambda c: (c.text(), c.read("B"), c.list(lambda c: c.read("I"))))
                self.metrics = c.list(Cursor.text)
            elif kind == b"FNAM":
                self.fact_names = c.list(Cursor.text)
            elif kind == b"RPTS":
                self.repeats = c.list(lambda c: c.read("II"))
            elif kind == b"DEVC":
                number, attributes = c.read("I"), c.pairs()
                self.devices[number] = attributes, [(c.read("I"), c.read("4d")) for _ in self.counters]
            elif kind == b"RATT":
                next_range["attributes"] = c.pairs()
            elif kind == b"RVAL":
                next_range["repeats"] = [read_value(c) for _ in self.repeats]
            elif kind == b"RFCT":
                facts = c.many("I" if c.read("B") == 0 else "d", len(self.fact_names))
                if facts.dtype == "u4":
                    facts = numpy.where(facts == 2 ** 31, numpy.nan, facts.astype("i4"))
                next_range["facts"] = dict(zip(self.fact_names, facts))
            elif kind == b"RNGE":
                r = dict(next_range, name=c.text(), kernel=c.text())
                r["device"], r["process"], r["context"], r["stream"] = c.read("IIQQ")
                r["grid"], r["block"], r["start_ns"], r["end_ns"] = c.read("3I"), c.read("3I"), *c.read("QQ")
                r["durations"] = c.many("d", self.passes)
                r["values"] = [read_value(c) for _ in self.counters]
                self.ranges.append(r)
                next_range = {}
            else:
                continue
            assert c.at == len(payload), f"{kind} ends elsewhere than its last field"


# Samples, instructions and traces


def read_instruction(c):
    return c.read("QQII")


def read_pc(c):
    batch = dict(zip(("device", "process", "start_ns", "end_ns", "mode", "period", "full", "total", "dropped", "other"),
                     c.read("IIQQBBBQQQ")))
    batch["reasons"], batch["functions"] = c.list(Cursor.text), c.list(Cursor.text)
    batch["records"] = c.list(lambda c: (read_instruction(c), c.read("I"), c.list(lambda c: c.read("II"))))
    return batch


def read_sass(c):
    batch = dict(zip(("device", "process", "start_ns", "end_ns", "dropped"), c.read("IIQQQ")))
    batch["metrics"] = c.list(lambda c: (c.text(), c.read("B")))
    batch["functions"] = c.list(Cursor.text)
    count = len(batch["metrics"])
    batch["records"] = c.list(lambda c: (read_instruction(c), [c.list(lambda c: c.read("Q")) for _ in range(count)]))
    return batch


def read_samples(c, counters):
    samples = dict(zip(("device", "lost", "overflow", "samples"), c.read("IQBI")))
    count = samples["samples"]
    samples["start_ns"], samples["end_ns"] = c.many("Q", count), c.many("Q", count)
    samples["columns"] = []
    for _ in range(counters):
        form = c.read("B")
        sizes = {3: ("I", 1), 4: ("d", 1), 5: ("d", 4)}
        columns = [c.many(sizes[form][0], count) for _ in range(sizes[form][1])] if form in sizes else []
        samples["columns"].append((form, columns))
    return samples


def read_launches(c):
    process, dropped, names = c.read("I"), c.read("Q"), c.list(Cursor.text)
    return {"process": process, "dropped": dropped,
            "launches": c.list(lambda c: (names[c.read("I")], *c.read("IQQQQ")))}


def zigzag(number):
    return number >> 1 ^ -(number & 1)


def read_trace_column(c, rows, before):
    form = c.read("B")
    if form == 0:
        return [c.varint()] * rows
    if form == 1:
        return [c.varint() for _ in range(rows)]
    if form in (2, 3):
        numbers, last = [], 0
        for row in range(rows):
            last = (zigzag(c.varint()) + (last if form == 2 else before[row])) % 2 ** 64
            numbers.append(last)
        return numbers
    if form == 4:
        known = [c.varint() for _ in range(c.varint())]
        return [known[i] for i in c.take(rows)]
    if form == 5:
        numbers = []
        while len(numbers) < rows:
            count = c.varint()
            numbers += [c.varint()] * count
        return numbers
    return [int(number) for number in c.many("Q", rows)]


UNKNOWN = {0: 2 ** 64 - 1, 1: 0, 2: 2 ** 64 - 1, 3: 0, 4: 2 ** 64 - 1, 5: 2 ** 64 - 1, 6: 2 ** 64 - 1, 7: 2 ** 63}


class Samples:
    """PM samples, PC samples, SASS metrics and traces: all chunks in their order, and the rows of a trace by kind."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.order, self.devices, self.batches, self.kinds, self.rows = [], {}, [], [], []
        self.processes, self.texts, self.end, counters = {}, {}, None, 0
        for kind, payload in chunks_of(data):
            c, name = Cursor(payload), kind.decode()
            self.order.append(name)
            if name == "SCHM":
                self.chip, self.profiler, _, _, self.passes = c.text(), c.read("B"), c.take(16), c.text(), c.read("I")
                self.counters = c.list(lambda c: (c.text(), c.read("B"), c.list(lambda c: c.read("I"))))
                self.metrics, counters = c.list(Cursor.text), len(self.counters)
            elif name == "DEVC":
                number, attributes = c.read("I"), c.pairs()
                self.devices[number] = attributes, [(c.read("I"), c.read("4d")) for _ in range(counters)]
            elif name == "TKND":
                self.kinds += c.list(lambda c: (c.text(), c.list(lambda c: (c.text(), c.read("B")))))
            elif name == "TPRC":
                number = c.read("I")
                self.processes[number] = c.read("I"), c.pairs(), c.list(lambda c: c.read("II"))
            elif name == "TSTR":
                process, first, texts = c.read("I"), c.read("I"), c.list(Cursor.text)
                known = self.texts.setdefault(process, [None])
                assert first == len(known), "texts leave no gap"
                known += texts
            elif name == "TREC":
                process, number, rows = c.read("III")
                columns = []
                for _ in self.kinds[number][1]:
                    columns.append(read_trace_column(c, rows, columns[-1] if columns else None))
                self.rows.append((process, number, columns))
            elif name in ("CLCK", "WNDW"):
                form = {"CLCK": "IQQQ", "WNDW": "IQQ"}[name]
                self.batches.append((name, c.read(form)))
            elif name in ("PCSM", "SASS", "LNCH"):
                self.batches.append((name, {"PCSM": read_pc, "SASS": read_sass, "LNCH": read_launches}[name](c)))
            elif name == "SMPL":
                self.batches.append((name, read_samples(c, counters)))
            elif name == "ENDC":
                self.end = c.read("QQBI")
            else:
                continue
            assert c.at == len(payload), f"{name} ends elsewhere than its last field"

    def of(self, name):
        return [batch for kind, batch in self.batches if kind == name]

    def table(self):
        """All rows of each kind, as {kind: {field: (type, numbers)}}."""
        tables = {}
        for _, number, columns in self.rows:
            kind, fields = self.kinds[number]
            table = tables.setdefault(kind, {name: (its, []) for name, its in fields})
            for (name, _), column in zip(fields, columns):
                table[name][1].extend(column)
        return tables


# Writing


def chunk(kind, payload, flags):
    head = struct.pack("<4sIQ", kind, flags, len(payload))
    return head + struct.pack("<Q", XXH3(head + payload, 16 + len(payload))) + payload


def raw_chunks(data):
    """Kind, payload and flags of each chunk, without a look into PACK."""
    at = 16
    while at < len(data):
        kind, flags, length = struct.unpack_from("<4sIQ", data, at)
        yield kind, data[at + 24:at + 24 + length], flags
        at += 24 + length


def parts_of(data):
    """A capture as its beginning, its devices, its records, and its end. A record is a range with the chunks before it that
    are its own, or another chunk."""
    begin, devices, records, end, before = data[:16], b"", [], b"", b""
    for kind, payload, flags in raw_chunks(data):
        whole = chunk(kind, payload, flags)
        if kind in (b"SCHM", b"FNAM", b"RPTS", b"MEAN"):
            begin += whole
        elif kind in (b"DEVC", b"CLCK", b"GCLK", b"MODL"):
            devices += whole
        elif kind in (b"RATT", b"RVAL", b"RFCT"):
            before += whole
        elif kind == b"ENDC":
            end = payload
        else:
            records.append((kind, before + whole))
            before = b""
    return begin, devices, records, end


def write(path, begin, devices, records, end):
    ranges = sum(kind == b"RNGE" for kind, _ in records)
    with open(path, "wb") as file:
        file.write(begin + devices + b"".join(record for _, record in records))
        file.write(chunk(b"ENDC", struct.pack("<Q", ranges) + end[8:], 0))
