"""Writes GGUF files without tensors, for comparisons."""

import struct

TYPES = {"u8": (0, "B"), "i32": (5, "i"), "u32": (4, "I"), "f32": (6, "f"), "bool": (7, "?"), "str": (8, None)}


def put_text(text):
    raw = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(raw)) + raw


def put_value(kind, value):
    return put_text(value) if kind == "str" else struct.pack("<" + TYPES[kind][1], value)


def write(path, keys):
    """@keys: of name, type and value; an array's type is in brackets."""
    with open(path, "wb") as out:
        out.write(b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys)))
        for name, kind, value in keys:
            out.write(put_text(name))
            element = kind.strip("[]")
            if element == kind:
                out.write(struct.pack("<I", TYPES[kind][0]) + put_value(kind, value))
            else:
                out.write(struct.pack("<IIQ", 9, TYPES[element][0], len(value)))
                out.write(b"".join(put_value(element, item) for item in value))
