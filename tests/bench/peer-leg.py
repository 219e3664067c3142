"""One measuring program of a peer, llama.cpp or ik_llama.cpp, through its Python binding.

Speaks as bench-leg does: one line of JSON once it is ready, then for each line of the input, a number
of seconds, one with tokens per second. Run by peer.py in the peer's own environment.
"""

import argparse
import ctypes
import json
import sys
import time

# As in bench-leg.c.
N_CTX, N_MORE, N_DECODE, N_PROMPT, N_GREEDY, WARM_SECONDS = 4096, 256, 32, 16, 16, 1.0
N_BATCH, N_UBATCH, MAX_TOKENS = 2048, 512, 40000
TYPES = {"f16": 1, "q8_0": 8}


class Llama:
    """llama.cpp; what differs between the two is set in one place each."""

    def __init__(self):
        import llama_cpp as lc

        self.lc = lc
        self.library = lc.llama_cpp._lib
        self.log_type = lc.llama_log_callback

    def set_model_params(self, params, args):
        pass

    def set_context_params(self, params, args):
        params.flash_attn_type = args.flash_attn

    def load(self, path, params):
        return self.lc.llama_model_load_from_file(path, params)

    def clear(self, ctx):
        self.lc.llama_memory_clear(self.lc.llama_get_memory(ctx), True)

    def remove(self, ctx, first):
        self.lc.llama_memory_seq_rm(self.lc.llama_get_memory(ctx), 0, first, -1)

    def count_vocabulary(self, model):
        return self.lc.llama_vocab_n_tokens(self.lc.llama_model_get_vocab(model))


class IkLlama(Llama):
    """ik_llama.cpp, which kept the interface of an older llama.cpp."""

    def __init__(self):
        from ik_llama_cpp import _ctypes_api

        self.lc = _ctypes_api
        self.library = _ctypes_api._lib
        self.log_type = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
        self.library.llama_kv_cache_seq_rm.argtypes = [ctypes.c_void_p] + [ctypes.c_int32] * 3
        self.library.llama_kv_cache_seq_rm.restype = ctypes.c_bool
        self.library.llama_synchronize.argtypes = [ctypes.c_void_p]

    def set_model_params(self, params, args):
        params.repack_tensors = bool(args.repack)
        params.flash_attn = bool(args.flash_attn)

    def set_context_params(self, params, args):
        params.flash_attn = bool(args.flash_attn)

    def clear(self, ctx):
        self.lc.llama_kv_cache_clear(ctx)

    def remove(self, ctx, first):
        self.library.llama_kv_cache_seq_rm(ctx, 0, first, -1)


class Leg:
    def __init__(self, peer, args):
        self.peer, self.lc, self.args = peer, peer.lc, args
        self.silent = peer.log_type(lambda level, text, data: None)
        peer.library.llama_log_set(self.silent, ctypes.c_void_p(0))
        self.lc.llama_backend_init()
        begin = time.perf_counter()
        params = self.lc.llama_model_default_params()
        peer.set_model_params(params, args)
        self.model = peer.load(args.model.encode(), params)
        self.ctx = self.lc.llama_init_from_model(self.model, self.make_context_params())
        if not self.ctx:
            raise SystemExit("the context could not be made")
        self.single = self.lc.llama_batch_init(1, 0, 1)
        self.n_vocab = peer.count_vocabulary(self.model)
        self.decode([N_PROMPT], 0)
        self.pick_best(0)
        self.load_ms = (time.perf_counter() - begin) * 1e3
        self.tokens = [(i * 7919 + 13) % (min(self.n_vocab, MAX_TOKENS) - 20) + 20
                       for i in range(N_CTX + max(args.depth, args.prefill))]

    def make_context_params(self):
        args, params = self.args, self.lc.llama_context_default_params()
        params.n_ctx = max(N_CTX, max(args.depth, args.prefill) + N_MORE)
        params.n_batch, params.n_ubatch = N_BATCH, N_UBATCH
        params.n_threads = params.n_threads_batch = args.threads
        params.type_k = params.type_v = TYPES[args.type]
        self.peer.set_context_params(params, args)
        return params

    def decode(self, tokens, first):
        """Logits of the last token only."""
        single = len(tokens) == 1
        batch = self.single if single else self.lc.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i] = token
            batch.pos[i] = first + i
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = 0
            batch.logits[i] = i == len(tokens) - 1
        code = self.lc.llama_decode(self.ctx, batch)
        self.peer.library.llama_synchronize(self.ctx)
        if not single:
            self.lc.llama_batch_free(batch)
        if code != 0:
            raise SystemExit(f"llama_decode gave {code}")

    def read_prompt(self, n):
        for at in range(0, n, N_BATCH):
            self.decode(self.tokens[at:min(at + N_BATCH, n)], at)

    def pick_best(self, index):
        logits = self.lc.llama_get_logits_ith(self.ctx, index)
        values = memoryview(ctypes.cast(logits, ctypes.POINTER(ctypes.c_float * self.n_vocab))[0])
        values = values.cast("B").cast("f")
        return max(range(self.n_vocab), key=values.__getitem__)

    def write_greedy(self):
        self.peer.clear(self.ctx)
        self.read_prompt(N_PROMPT)
        written = [self.pick_best(-1)]
        while len(written) < N_GREEDY:
            self.decode(written[-1:], N_PROMPT + len(written) - 1)
            written.append(self.pick_best(-1))
        return written

    def run_once(self):
        if self.args.prefill > 0:
            self.peer.clear(self.ctx)
            self.read_prompt(self.args.prefill)
            return self.args.prefill
        depth = self.args.depth
        self.peer.remove(self.ctx, depth)
        for i in range(N_DECODE):
            self.decode(self.tokens[i:i + 1], depth + i)
        return N_DECODE

    def measure(self, seconds):
        begin, n = time.perf_counter(), 0
        while True:
            n += self.run_once()
            passed = time.perf_counter() - begin
            if passed >= seconds:
                return n / passed

    def serve(self):
        self.peer.clear(self.ctx)
        self.read_prompt(self.args.depth)
        self.measure(WARM_SECONDS)
        for line in sys.stdin:
            print(json.dumps({"rate": self.measure(float(line))}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--peer", choices=("llama", "ik"), required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--prefill", type=int, default=0)
    parser.add_argument("--decode", action="store_true")
    parser.add_argument("--load", action="store_true")
    parser.add_argument("--depth", type=int, default=0)
    parser.add_argument("--type", choices=TYPES, default="f16")
    parser.add_argument("--flash-attn", type=int, default=1)
    parser.add_argument("--repack", type=int, default=0)
    args = parser.parse_args()

    leg = Leg(IkLlama() if args.peer == "ik" else Llama(), args)
    card = {"load_ms": leg.load_ms}
    if not args.load:
        card["greedy"] = leg.write_greedy()
    print(json.dumps(card), flush=True)
    if not args.load:
        leg.serve()


if __name__ == "__main__":
    main()
