"""One measurement of llama.cpp through its Python binding; prints JSON. Run by peer.py in its venv."""

import argparse
import ctypes
import json
import time

import llama_cpp as lc


def decode(ctx, tokens, first_pos):
    batch = lc.llama_batch_init(len(tokens), 0, 1)
    batch.n_tokens = len(tokens)
    for i, token in enumerate(tokens):
        batch.token[i] = token
        batch.pos[i] = first_pos + i
        batch.n_seq_id[i] = 1
        batch.seq_id[i][0] = 0
        batch.logits[i] = i == len(tokens) - 1
    code = lc.llama_decode(ctx, batch)
    lc.llama_synchronize(ctx)
    lc.llama_batch_free(batch)
    if code != 0:
        raise SystemExit(f"llama_decode gave {code}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--prefill", type=int, required=True)
    parser.add_argument("--decode", type=int, required=True)
    parser.add_argument("--flash-attn", type=int, required=True)
    args = parser.parse_args()

    silent = lc.llama_log_callback(lambda level, text, data: None)
    lc.llama_log_set(silent, ctypes.c_void_p(0))
    lc.llama_backend_init()
    params = lc.llama_model_default_params()
    model = lc.llama_load_model_from_file(args.model.encode(), params)
    settings = lc.llama_context_default_params()
    settings.n_ctx = 4096
    settings.n_batch = 2048
    settings.n_ubatch = 512
    settings.n_threads = settings.n_threads_batch = args.threads
    settings.flash_attn_type = args.flash_attn
    ctx = lc.llama_new_context_with_model(model, settings)

    prompt = [(i * 7919 + 13) % 40000 + 20 for i in range(args.prefill)]
    result = {}
    for _ in range(2):  # the first round warms caches and threads
        lc.llama_memory_clear(lc.llama_get_memory(ctx), True)
        start = time.perf_counter()
        decode(ctx, prompt, 0)
        result["prefill"] = args.prefill / (time.perf_counter() - start)
        lc.llama_memory_clear(lc.llama_get_memory(ctx), True)
        start = time.perf_counter()
        for i in range(args.decode):
            decode(ctx, [prompt[i % len(prompt)]], i)
        result["decode"] = args.decode / (time.perf_counter() - start)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
