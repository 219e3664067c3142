"""What llama.cpp makes of a text, and of Kvasir's continuation. Run by compare.py in the venv of the
peers: reads a JSON object, prints another."""

import ctypes
import json
import sys

import llama_cpp as lc
import numpy as np


def tokenize(vocab, text):
    data = text.encode()
    room = len(data) + 16
    ids = (lc.llama_token * room)()
    n = lc.llama_tokenize(vocab, data, len(data), ids, room, True, False)
    return list(ids[:n])


def open_context(path):
    params = lc.llama_model_default_params()
    model = lc.llama_load_model_from_file(path.encode(), params)
    settings = lc.llama_context_default_params()
    settings.n_ctx = settings.n_batch = 2048
    settings.n_threads = settings.n_threads_batch = 2
    return model, lc.llama_new_context_with_model(model, settings)


def read_rows(ctx, n_vocab, tokens):
    """The logits behind each token, from an empty cache on."""
    lc.llama_memory_clear(lc.llama_get_memory(ctx), True)
    batch = lc.llama_batch_init(len(tokens), 0, 1)
    batch.n_tokens = len(tokens)
    for i, token in enumerate(tokens):
        batch.token[i] = token
        batch.pos[i] = i
        batch.n_seq_id[i] = 1
        batch.seq_id[i][0] = 0
        batch.logits[i] = True
    if lc.llama_decode(ctx, batch) != 0:
        raise SystemExit("llama_decode failed")
    rows = np.ctypeslib.as_array(lc.llama_get_logits(ctx), shape=(len(tokens), n_vocab)).copy()
    lc.llama_batch_free(batch)
    return rows.astype(np.float64)


def score(rows, tokens):
    top = rows[:-1].max(axis=1)
    sums = np.log(np.exp(rows[:-1] - top[:, None]).sum(axis=1)) + top
    return float(np.mean(sums - rows[np.arange(len(tokens) - 1), tokens[1:]]))


def main():
    task = json.load(sys.stdin)
    silent = lc.llama_log_callback(lambda level, text, data: None)
    lc.llama_log_set(silent, ctypes.c_void_p(0))
    lc.llama_backend_init()
    model, ctx = open_context(sys.argv[1])
    vocab = lc.llama_model_get_vocab(model)
    n_vocab = lc.llama_vocab_n_tokens(vocab)
    text, prompt = tokenize(vocab, task["text"]), tokenize(vocab, task["prompt"])
    greedy = task["ours"]["greedy"]
    rows = read_rows(ctx, n_vocab, prompt + greedy)[len(prompt) - 1:-1]
    gaps = [float(row.max() - row[token]) for row, token in zip(rows, greedy)]
    print(json.dumps({"text": text, "prompt": prompt, "gaps": gaps,
                      "score": score(read_rows(ctx, n_vocab, text), text)}))


if __name__ == "__main__":
    main()
