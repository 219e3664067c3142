#!/usr/bin/env python3
"""What tests/differ/tokenize.c does, by llama.cpp: peer-tokenize.py GGUF < requests > answers. Needs llama_cpp."""

import ctypes
import struct
import sys

import llama_cpp

ADD_SPECIAL, PARSE_SPECIAL, FROM_IDS = 1, 2, 4


def tokenize(vocab, text, flags):
    n = len(text) + 16
    ids = (llama_cpp.llama_token * n)()
    found = llama_cpp.llama_tokenize(vocab, text, len(text), ids, n, bool(flags & ADD_SPECIAL), bool(flags & PARSE_SPECIAL))
    return struct.pack(f"<{found}i", *ids[:found])


def detokenize(vocab, raw, flags):
    n_ids = len(raw) // 4
    ids = (llama_cpp.llama_token * max(n_ids, 1)).from_buffer_copy(raw or b"\0\0\0\0")
    size = 64 + 300 * n_ids
    text = ctypes.create_string_buffer(size)
    n = llama_cpp.llama_detokenize(vocab, ids, n_ids, text, size, False, bool(flags & PARSE_SPECIAL))
    return text.raw[: max(n, 0)]


def main():
    callback = llama_cpp.llama_log_callback(lambda *args: None)
    llama_cpp.llama_log_set(callback, None)
    llama_cpp.llama_backend_init()
    params = llama_cpp.llama_model_default_params()
    params.vocab_only = True
    model = llama_cpp.llama_model_load_from_file(sys.argv[1].encode(), params)
    if not model:
        sys.exit(3)
    vocab = llama_cpp.llama_model_get_vocab(model)
    requests, out = sys.stdin.buffer, sys.stdout.buffer
    while head := requests.read(5):
        flags, n = struct.unpack("<BI", head)
        raw = requests.read(n)
        answer = detokenize(vocab, raw, flags) if flags & FROM_IDS else tokenize(vocab, raw, flags)
        out.write(struct.pack("<I", len(answer)) + answer)


main()
