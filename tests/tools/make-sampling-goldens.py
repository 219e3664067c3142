#!/usr/bin/env python3
"""Has llama.cpp's samplers do what tests/engine/sampling/test-chains.c expects of ours.

    make-sampling-goldens.py VOCAB.gguf > tests/data/sampling/chains.ini

Each group is one case: settings by the names of KvasirSamplerParams, and what is left. Logits are not kept: both
sides make them from the seed. The vocabulary is for the breakers of DRY alone.

Needs: pip install llama-cpp-python==0.3.36
"""

import ctypes
import math
import random
import sys

import llama_cpp as lc

STAGES = ["penalties", "dry", "top_n_sigma", "top_k", "typical", "top_p", "min_p", "xtc", "temperature"]
MASK = (1 << 64) - 1


def split(state):
    """splitmix64"""
    state = (state + 0x9E3779B97F4A7C15) & MASK
    z = state
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return state, z ^ (z >> 31)


def make_logits(seed, n):
    """Four numbers of 24 bits added, so nothing is rounded: a bell from -8 to 8."""
    logits = []
    for _ in range(n):
        total = 0
        for _ in range(4):
            seed, z = split(seed)
            total += z >> 40
        logits.append((total / 2**24 - 2) * 4)
    return logits


def make_breakers(vocab, case):
    if not case["breakers"]:
        return None, 0
    text = ctypes.create_string_buffer(64)
    texts = []
    for token in case["breakers"]:
        n = lc.llama_token_to_piece(vocab, token, text, 64, 0, True)
        texts.append(text.raw[:n])
    heads = []
    for token in range(case["n"]):
        n = lc.llama_token_to_piece(vocab, token, text, 64, 0, True)
        if any(t in text.raw[: max(n, 0)] for t in texts):
            heads.append(token)
    case["breakers"] = heads
    return (ctypes.c_char_p * len(texts))(*texts), len(texts)


def make_stage(vocab, case, stage):
    if stage == "penalties":
        return lc.llama_sampler_init_penalties(
            case["n"], case["penalty_last_n"], case["repeat_penalty"], case["frequency_penalty"],
            case["presence_penalty"])
    if stage == "dry":
        texts, n = make_breakers(vocab, case)
        return lc.llama_sampler_init_dry(
            vocab, case["dry_multiplier"], case["dry_base"], case["dry_allowed_length"], case["dry_last_n"], texts, n)
    if stage == "top_n_sigma":
        return lc.llama_sampler_init_top_n_sigma(case["top_n_sigma"])
    if stage == "top_k":
        return lc.llama_sampler_init_top_k(case["top_k"])
    if stage == "typical":
        return lc.llama_sampler_init_typical(case["typical_p"], 1)
    if stage == "top_p":
        return lc.llama_sampler_init_top_p(case["top_p"], 1)
    if stage == "min_p":
        return lc.llama_sampler_init_min_p(case["min_p"], 1)
    if stage == "xtc":
        return lc.llama_sampler_init_xtc(case["xtc_probability"], case["xtc_threshold"], 1, 1)
    return lc.llama_sampler_init_temp_ext(case["temperature"], case["dynatemp_range"], case["dynatemp_exponent"])


def make_samplers(vocab, case):
    samplers = []
    if case["bias"]:
        biases = (lc.llama_logit_bias * len(case["bias"]))(*case["bias"])
        samplers.append(lc.llama_sampler_init_logit_bias(case["n"], len(case["bias"]), biases))
    samplers += [make_stage(vocab, case, stage) for stage in case["order"]]
    if case["mirostat"] == 1:
        samplers.append(lc.llama_sampler_init_mirostat(case["n"], 1, case["mirostat_tau"], case["mirostat_eta"], 100))
    if case["mirostat"] == 2:
        samplers.append(lc.llama_sampler_init_mirostat_v2(1, case["mirostat_tau"], case["mirostat_eta"]))
    return samplers


def run(vocab, case):
    logits = make_logits(case["seed"], case["n"])
    data = (lc.llama_token_data * case["n"])(*[(i, x, 0.0) for i, x in enumerate(logits)])
    array = lc.llama_token_data_array(data, case["n"], -1, False)
    for sampler in make_samplers(vocab, case):
        for token in case["history"]:
            lc.llama_sampler_accept(sampler, token)
        lc.llama_sampler_apply(sampler, ctypes.byref(array))
        lc.llama_sampler_free(sampler)
    left = [(array.data[i].id, array.data[i].logit) for i in range(array.size)]
    left = [(token, logit) for token, logit in left if logit > -math.inf]
    peak = max(logit for _, logit in left)
    total = sum(math.exp(logit - peak) for _, logit in left)
    return {token: math.exp(logit - peak) / total for token, logit in left}


def make_history(rng, n):
    """Repeats itself, so that there is something for DRY."""
    words = [[rng.randrange(n) for _ in range(rng.randint(2, 6))] for _ in range(4)]
    history = []
    while len(history) < 40:
        history += rng.choice(words)
    cut = rng.randint(1, 5)
    return history[:-cut]


def make_case(rng, index):
    alone = STAGES[index % 9] if index < 54 else None
    case = {
        "seed": index * 1000003 + 17,
        "n": rng.choice([10, 10, 300]),
        "temperature": rng.choice([0.5, 0.8, 1.0, 1.7]),
        "dynatemp_range": rng.choice([0.0, 0.3, 0.5, 2.0]),
        "dynatemp_exponent": rng.choice([1.0, 0.5, 2.0]),
        "top_k": rng.choice([1, 3, 5, 40]),
        "top_p": rng.choice([0.5, 0.9, 0.95]),
        "min_p": rng.choice([0.01, 0.05, 0.3]),
        "typical_p": rng.choice([0.2, 0.5, 0.9]),
        "top_n_sigma": rng.choice([0.5, 1.0, 2.0]),
        "xtc_probability": 1.0,
        "xtc_threshold": rng.choice([0.01, 0.05, 0.1, 0.3]),
        "repeat_penalty": rng.choice([1.0, 1.2, 1.5]),
        "presence_penalty": rng.choice([0.0, 0.4]),
        "frequency_penalty": rng.choice([0.0, 0.3]),
        "penalty_last_n": rng.choice([5, 20, 64]),
        "dry_multiplier": rng.choice([0.1, 0.5]),
        "dry_base": rng.choice([1.1, 1.75]),
        "dry_allowed_length": rng.choice([1, 2, 3]),
        "dry_last_n": rng.choice([15, 30, 4096]),
        "mirostat": 0,
        "mirostat_tau": rng.choice([0.5, 1.0, 2.0, 3.0]),
        "mirostat_eta": 0.1,
        "bias": [],
        "breakers": [],
    }
    case["history"] = make_history(rng, min(case["n"], 30))
    if rng.random() < 0.3:
        case["bias"] = [(token, rng.choice([-2.0, 1.5, -math.inf])) for token in rng.sample(range(10), 2)]
    if rng.random() < 0.5:
        case["breakers"] = [case["history"][rng.randrange(20)]]
    case["order"] = [alone] if alone else rng.sample(STAGES, rng.randint(2, 9))
    if index >= 174:
        case["mirostat"] = 1 + index % 2
        case["order"] = ["penalties", "dry", "temperature"]
        # The slope that the first mirostat estimates has no value over these.
        case["bias"] = [(token, max(x, -4.0)) for token, x in case["bias"]]
    if "top_n_sigma" in case["order"] or any(x == -math.inf for _, x in case["bias"]):
        # llama.cpp leaves what these take out in the list, at -inf. The entropy of typical sampling then is no number,
        # and dynamic temperature counts what is not there.
        case["dynatemp_range"] = 0.0
        case["order"] = [stage for stage in case["order"] if stage != "typical"] or ["top_p"]
    return case


def write(case, index, chances):
    best = sorted(chances.items(), key=lambda entry: -entry[1])[:10]
    print(f"[{index}]")
    for key, value in case.items():
        if key == "order":
            value = ";".join(str(STAGES.index(stage) + 1) for stage in value)
        elif key == "bias":
            print("bias_ids=" + ";".join(str(token) for token, _ in value))
            value = ";".join(str(x) for _, x in value)
        elif isinstance(value, list):
            value = ";".join(str(x) for x in value)
        print(f"{key}={value}")
    print(f"left={len(chances)}")
    print("ids=" + ";".join(str(token) for token, _ in best))
    print("p=" + ";".join(f"{p:.8f}" for _, p in best))


def main():
    params = lc.llama_model_default_params()
    params.vocab_only = True
    lc.llama_backend_init()
    quiet = lc.llama_log_callback(lambda level, text, data: None)
    lc.llama_log_set(quiet, None)
    vocab = lc.llama_model_get_vocab(lc.llama_model_load_from_file(sys.argv[1].encode(), params))
    rng = random.Random(5)
    for index in range(214):
        case = make_case(rng, index)
        write(case, index, run(vocab, case))


if __name__ == "__main__":
    main()
