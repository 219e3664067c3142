#!/usr/bin/env python3
"""Writes a model of tests/data/models again in several files, with the writer of the PyPI package
gguf, into tests/data/models/split: ./make-split-model.py tiny-llama-tied"""
import pathlib
import sys

import gguf

MODELS = pathlib.Path(__file__).resolve().parents[1] / "data" / "models"
TENSORS_PER_FILE = 9


def copy_key(writer, field):
    kind = field.types[0]
    if field.name.startswith("GGUF.") or field.name == "general.architecture":
        return
    sub = field.types[1] if kind == gguf.GGUFValueType.ARRAY else None
    writer.add_key_value(field.name, field.contents(), kind, sub)


def main():
    name = sys.argv[1]
    reader = gguf.GGUFReader(MODELS / (name + ".gguf"))
    arch = reader.get_field("general.architecture").contents()
    target = MODELS / "split" / (name + ".gguf")
    target.parent.mkdir(exist_ok=True)
    writer = gguf.GGUFWriter(target, arch, split_max_tensors=TENSORS_PER_FILE)
    for field in reader.fields.values():
        copy_key(writer, field)
    for t in reader.tensors:
        writer.add_tensor(t.name, t.data, raw_dtype=t.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main()
