#!/usr/bin/env python3
"""Computes with llama.cpp what tests/engine/model/test-archs.c expects of every architecture.

    make-arch-goldens.py SKETCH...      writes NAME.expected beside every NAME.sketch

A sketch is the text that tests/engine/model/model-sketch.h describes. Its weights are noise that depends on the
tensor's name alone, with the same arithmetic as tests/engine/model/arch-sketch.c, so no model needs to be kept.

Needs: pip install gguf numpy llama-cpp-python==0.3.36
"""

import ctypes
import os
import sys
import tempfile

import gguf
import llama_cpp as lc
import numpy as np

N_TOKENS = 24
EARLY = 9
REMOVED = (4, 10)
U64 = np.uint64

# Where llama.cpp's shift computes something else than a model that reads the rest at its new places: it turns keys
# that were never turned (ALiBi, a table of positions), or keys that were normalised and weighted after they had been
# turned.
OTHER_SHIFTS = {"baichuan-13b", "hunyuan-dense", "hunyuan-moe", "starcoder"}


def noise(name, count):
    """Numbers from -1 to 1: splitmix64 counted from the FNV-1a hash of the name, its upper 24 bits."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = ((seed ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    with np.errstate(over="ignore"):
        z = U64(seed) + np.arange(1, count + 1, dtype=U64) * U64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> U64(30))) * U64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> U64(27))) * U64(0x94D049BB133111EB)
        z = z ^ (z >> U64(31))
    return (z >> U64(40)).astype(np.float64) / (1 << 23) - 1


def weights(name, extents):
    u = noise(name, int(np.prod(extents)))
    if name.endswith("ssm_a"):
        values = -0.45 - 0.4 * u
    elif name.startswith("rope_f"):
        values = 1.5 + 0.5 * u
    elif "norm" in name and name.endswith(".weight"):
        values = 1 + 0.5 * u
    elif name.endswith(".scale"):
        values = 1 + 0.5 * u
    elif name.endswith(".bias"):
        values = 0.3 * u
    elif "_embd." in name or "token_types" in name:
        values = u
    else:
        values = 2 / np.sqrt(float(extents[0])) * u
    return values.astype(np.float32).reshape(tuple(reversed(extents)))


def nvfp4(name, extents, scale):
    """Blocks of 64 values: four scales from 1/128 to 15/256, then any half bytes. As plain values with the scale in
    them: llama.cpp rounds what it multiplies with NVFP4."""
    n_blocks = int(np.prod(extents)) // 64
    blocks = (np.floor((noise(name, 36 * n_blocks) + 1) * 128)).astype(np.uint8).reshape(n_blocks, 36)
    blocks[:, :4] = 16 + blocks[:, :4] % 16
    rows = blocks.reshape(tuple(reversed(extents[1:])) + (extents[0] // 64 * 36,))
    return (gguf.quants.dequantize(rows, gguf.GGMLQuantizationType.NVFP4) * scale).astype(np.float32)


def parse(path):
    lines = [line.split() for line in open(path) if line.strip()]
    n_layers = next(int(line[2]) for line in lines if line[1] == "block_count")
    out = []
    for line in lines:
        layers = range(n_layers) if "blk.N." in line[1] else [0]
        out += [[line[0], line[1].replace("blk.N.", f"blk.{il}."), *line[2:]] for il in layers]
    return out


def write(lines, path):
    arch = lines[0][1]
    w = gguf.GGUFWriter(path, arch)
    w.add_tokenizer_model("none")
    add = {
        "u32": lambda key, v: w.add_uint32(key, int(v[0])),
        "f32": lambda key, v: w.add_float32(key, float(v[0])),
        "bool": lambda key, v: w.add_bool(key, v[0] == "true"),
        "text": lambda key, v: w.add_string(key, v[0]),
        "i32s": lambda key, v: w.add_array(key, [int(x) for x in v]),
        "f32s": lambda key, v: w.add_array(key, [float(x) for x in v]),
    }
    folded = {line[1].replace(".weight", ".scale") for line in lines if line[-1] == "nvfp4"}
    for kind, name, *values in lines[1:]:
        if name in folded:
            continue
        if kind == "tensor" and values[-1] == "nvfp4":
            scale = name.replace(".weight", ".scale")
            has_scale = any(line[1] == scale for line in lines)
            w.add_tensor(name, nvfp4(name, [int(v) for v in values[:-1]], weights(scale, [1]) if has_scale else 1))
        elif kind == "tensor":
            w.add_tensor(name, weights(name, [int(v) for v in values]))
        else:
            add[kind](name if name.startswith(("tokenizer.", "xielu.")) else f"{arch}.{name}", values)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def make_batch(parts, outputs):
    """parts: (sequence, token, position)"""
    batch = lc.llama_batch_init(len(parts), 0, 1)
    batch.n_tokens = len(parts)
    for i, (seq, token, pos) in enumerate(parts):
        batch.token[i] = token
        batch.pos[i] = pos
        batch.n_seq_id[i] = 1
        batch.seq_id[i][0] = seq
        batch.logits[i] = i in outputs
    return batch


class Context:
    def __init__(self, model, n_ubatch, is_encoder):
        settings = lc.llama_context_default_params()
        settings.n_ctx = 256
        settings.n_seq_max = 2
        settings.n_batch = 64
        settings.n_ubatch = n_ubatch
        settings.n_threads = settings.n_threads_batch = 1
        settings.flash_attn_type = 0
        settings.type_k = settings.type_v = 0
        settings.kv_unified = True
        settings.swa_full = True
        settings.embeddings = is_encoder
        self.n_vocab = lc.llama_vocab_n_tokens(lc.llama_model_get_vocab(model))
        self.n_embd = lc.llama_model_n_embd(model)
        self.ctx = lc.llama_new_context_with_model(model, settings)
        self.memory = lc.llama_get_memory(self.ctx)

    def decode(self, parts, outputs):
        batch = make_batch(parts, outputs)
        code = lc.llama_decode(self.ctx, batch)
        if code != 0:
            raise SystemExit(f"llama_decode gave {code}")
        return {i: list(lc.llama_get_logits_ith(self.ctx, i)[: self.n_vocab]) for i in outputs}


def token(i, n_vocab):
    return (7 * i + 3) % n_vocab


def run_two(model):
    """Two texts that are read in turn."""
    context = Context(model, 8, False)
    text = [(seq, token(i + seq * N_TOKENS, context.n_vocab), i) for i in range(N_TOKENS) for seq in (0, 1)]
    last = 2 * N_TOKENS - 1
    out = context.decode(text, {last - 1, last})
    return {"first": out[last - 1], "second": out[last]}


def run_decoder(model, may_shift):
    rows = {}
    for name, n_ubatch in (("plain", 64), ("parts", 8)):
        context = Context(model, n_ubatch, False)
        text = [(0, token(i, context.n_vocab), i) for i in range(N_TOKENS)]
        out = context.decode(text, {EARLY, N_TOKENS - 1})
        if name == "plain":
            rows["early"] = out[EARLY]
        rows[name] = out[N_TOKENS - 1]
    rows |= run_two(model)
    if may_shift and lc.llama_memory_can_shift(context.memory):
        first, end = REMOVED
        if lc.llama_memory_seq_rm(context.memory, 0, first, end):
            lc.llama_memory_seq_add(context.memory, 0, end, -1, first - end)
            pos = N_TOKENS - (end - first)
            rows["shifted"] = context.decode([(0, token(N_TOKENS, context.n_vocab), pos)], {0})[0]
    return rows


def run_encoder(model):
    context = Context(model, 64, True)
    text = [(0, token(i, context.n_vocab), i) for i in range(N_TOKENS)]
    text += [(1, token(i + N_TOKENS, context.n_vocab), i) for i in range(EARLY)]
    batch = make_batch(text, set(range(len(text))))
    if lc.llama_encode(context.ctx, batch) != 0:
        raise SystemExit("llama_encode failed")
    return {f"text{seq}": list(lc.llama_get_embeddings_seq(context.ctx, seq)[: context.n_embd]) for seq in (0, 1)}


def run(sketch):
    lines = parse(sketch)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.gguf")
        write(lines, path)
        params = lc.llama_model_default_params()
        params.use_mmap = False
        model = lc.llama_load_model_from_file(path.encode(), params)
        if not model:
            raise SystemExit(f"{sketch}: not loaded")
        if ["bool", "attention.causal", "false"] in lines:
            rows = run_encoder(model)
        else:
            name = os.path.splitext(os.path.basename(sketch))[0]
            rows = run_decoder(model, name not in OTHER_SHIFTS)
        lc.llama_free_model(model)
    with open(os.path.splitext(sketch)[0] + ".expected", "w") as out:
        for name, row in rows.items():
            out.write(name + " " + " ".join(f"{value:.6g}" for value in row) + "\n")
    spread = max(max(row) - min(row) for row in rows.values())
    print(f"{sketch}: {', '.join(rows)}; values spread over {spread:.3g}")


def main():
    log = lc.llama_log_callback(
        lambda level, text, data: print(text.decode(), end="", file=sys.stderr) if os.environ.get("LOG") else None)
    lc.llama_log_set(log, ctypes.c_void_p(0))
    lc.llama_backend_init()
    for sketch in sys.argv[1:]:
        run(sketch)


if __name__ == "__main__":
    main()
