#!/usr/bin/env python3
"""Random chains of samplers over random logits and texts, run by Kvasir and by llama.cpp: how many tokens are left, and
with which chances. Prints what differs and a line of counts; exits with 1 where something does.

Explained: a threshold that falls between tokens whose sums or chances are the same but for the rounding of
llama.cpp's sums of floats, which moving it by as much shows; typical sampling that cuts between two tokens as far
from the entropy as each other, or meets one with a chance of 0 in a float, where llama.cpp's entropy is no number;
and more tokens left by the first mirostat than its int holds.

Left out, since llama.cpp keeps what these take away in its list, at -inf, where it has no entropy and still counts:
dynamic temperature and typical sampling after top-n-sigma or a bias of -inf. And breakers that begin with a space, in
vocabularies that put one before a text: llama.cpp reads each token without it.

Packages: llama-cpp-python==0.3.36
"""

import argparse
import ctypes
import json
import math
import os
import random
import subprocess
import sys

import llama_cpp as lc
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
VOCAB = os.path.join(os.path.dirname(HERE), "data", "vocab", "tiny-llama-tied.gguf")
STAGES = ["penalties", "dry", "top_n_sigma", "top_k", "typ_p", "top_p", "min_p", "xtc", "temperature"]
THRESHOLDS = ("top_p", "min_p", "typical_p", "top_n_sigma", "xtc_threshold")
DATA = np.dtype([("id", "i4"), ("logit", "f4"), ("p", "f4")])
# Logits divided by a low temperature are large, and round.
TOLERANCE = 2e-5
MAX_SHOWN = 10


def make_logits(seed, n, step):
    """Four numbers of 24 bits added, so nothing is rounded: a bell from -8 to 8. By splitmix64."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15) * np.arange(1, 4 * n + 1, dtype=np.uint64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = (z ^ (z >> np.uint64(31))) >> np.uint64(40)
    logits = (z.reshape(n, 4).sum(axis=1).astype(np.float64) / 2**24 - 2) * 4
    return np.floor(logits / step) * step if step > 0 else logits


class Peer:
    """llama.cpp."""

    def __init__(self):
        lc.llama_backend_init()
        self.quiet = lc.llama_log_callback(lambda level, text, data: None)
        lc.llama_log_set(self.quiet, None)
        params = lc.llama_model_default_params()
        params.vocab_only = True
        self.model = lc.llama_model_load_from_file(VOCAB.encode(), params)
        self.vocab = lc.llama_model_get_vocab(self.model)
        self.n_vocab = lc.llama_vocab_n_tokens(self.vocab)

    def get_piece(self, token):
        text = ctypes.create_string_buffer(64)
        n = lc.llama_token_to_piece(self.vocab, token, text, 64, 0, True)
        return text.raw[:max(n, 0)]

    def make_stage(self, case, stage):
        p = case["params"]
        if stage == "penalties":
            return lc.llama_sampler_init_penalties(case["n"], p["penalty_last_n"], p["repeat_penalty"],
                                                   p["frequency_penalty"], p["presence_penalty"])
        if stage == "dry":
            texts = [text.encode() for text in case["breakers"]]
            return lc.llama_sampler_init_dry(self.vocab, p["dry_multiplier"], p["dry_base"], p["dry_allowed_length"],
                                             p["dry_last_n"], (ctypes.c_char_p * len(texts))(*texts), len(texts))
        if stage == "top_n_sigma":
            return lc.llama_sampler_init_top_n_sigma(p["top_n_sigma"])
        if stage == "top_k":
            return lc.llama_sampler_init_top_k(p["top_k"])
        if stage == "typ_p":
            return lc.llama_sampler_init_typical(p["typical_p"], 1)
        if stage == "top_p":
            return lc.llama_sampler_init_top_p(p["top_p"], 1)
        if stage == "min_p":
            return lc.llama_sampler_init_min_p(p["min_p"], 1)
        if stage == "xtc":
            return lc.llama_sampler_init_xtc(p["xtc_probability"], p["xtc_threshold"], 1, 1)
        return lc.llama_sampler_init_temp_ext(p["temperature"], p["dynatemp_range"], p["dynatemp_exponent"])

    def make_samplers(self, case):
        p, samplers = case["params"], []
        if case["bias_list"]:
            biases = (lc.llama_logit_bias * len(case["bias_list"]))(*case["bias_list"])
            samplers.append(lc.llama_sampler_init_logit_bias(case["n"], len(biases), biases))
        samplers += [self.make_stage(case, stage) for stage in case["order"].split(";") if stage]
        if p["mirostat"] == 1:
            samplers.append(lc.llama_sampler_init_mirostat(case["n"], 1, p["mirostat_tau"], p["mirostat_eta"], 100))
        if p["mirostat"] == 2:
            samplers.append(lc.llama_sampler_init_mirostat_v2(1, p["mirostat_tau"], p["mirostat_eta"]))
        return samplers

    def run(self, case):
        """The chance of each token that is left."""
        data = np.zeros(case["n"], dtype=DATA)
        data["id"] = np.arange(case["n"])
        data["logit"] = make_logits(case["seed"], case["n"], case["step"])
        pointer = data.ctypes.data_as(ctypes.POINTER(lc.llama_token_data))
        array = lc.llama_token_data_array(pointer, case["n"], -1, False)
        for sampler in self.make_samplers(case):
            for token in case["history"]:
                lc.llama_sampler_accept(sampler, token)
            lc.llama_sampler_apply(sampler, ctypes.byref(array))
            lc.llama_sampler_free(sampler)
        # A sampler may have put a buffer of its own in the place of this one.
        address = ctypes.cast(array.data, ctypes.c_void_p).value
        buffer = (ctypes.c_char * (array.size * DATA.itemsize)).from_address(address)
        left = np.frombuffer(buffer, dtype=DATA)
        left = left[left["logit"] > -np.inf]
        weights = np.exp(left["logit"].astype(np.float64) - left["logit"].max())
        return dict(zip(left["id"].tolist(), (weights / weights.sum()).tolist()))


class Maker:
    def __init__(self, seed, peer):
        self.random = random.Random(seed)
        self.peer = peer
        self.pieces = [peer.get_piece(token) for token in range(peer.n_vocab)]

    def params(self):
        r = self.random
        return {
            "temperature": r.choice([0.05, 0.3, 0.5, 0.8, 1.0, 1.7, 4.0]),
            "dynatemp_range": r.choice([0.0, 0.3, 0.5, 2.0]),
            "dynatemp_exponent": r.choice([1.0, 0.5, 2.0]),
            "top_k": r.choice([1, 2, 3, 5, 40, 100, 1000]),
            "top_p": r.choice([0.01, 0.5, 0.9, 0.95, 0.999]),
            "min_p": r.choice([0.0001, 0.01, 0.05, 0.3, 0.99]),
            "typical_p": r.choice([0.05, 0.2, 0.5, 0.9, 0.99]),
            "top_n_sigma": r.choice([0.1, 0.5, 1.0, 2.0, 4.0]),
            "xtc_probability": 1.0,
            "xtc_threshold": r.choice([0.0001, 0.01, 0.05, 0.1, 0.3, 0.5]),
            "repeat_penalty": r.choice([1.0, 0.8, 1.2, 1.5]),
            "presence_penalty": r.choice([0.0, 0.4, -0.7]),
            "frequency_penalty": r.choice([0.0, 0.3, -0.2]),
            "penalty_last_n": r.choice([1, 5, 20, 64]),
            "dry_multiplier": r.choice([0.1, 0.5, 2.0]),
            "dry_base": r.choice([1.1, 1.75, 3.0]),
            "dry_allowed_length": r.choice([1, 2, 3]),
            "dry_last_n": r.choice([15, 30, 4096]),
            "mirostat": 0,
            "mirostat_tau": r.choice([0.5, 1.0, 2.0, 3.0, 5.0]),
            "mirostat_eta": 0.1,
        }

    def history(self, ids):
        """Repeats itself, so that there is something for DRY."""
        r = self.random
        words = [[r.choice(ids) for _ in range(r.randint(2, 6))] for _ in range(4)]
        history = []
        while len(history) < 40:
            history += r.choice(words)
        return history[:-r.randint(1, 5)]

    def breakers(self, history):
        """Pieces of the end of the text, which tokens hold whole, begin or go on with."""
        r, texts = self.random, []
        for _ in range(r.choice([0, 1, 1, 2])):
            at = len(history) - r.randint(2, 9)
            # Whole tokens at the end, or the tokenizer would cut them otherwise than the text has them.
            text = b"".join(self.pieces[token] for token in history[at:at + r.choice([1, 2, 2, 3])])
            begin = r.randrange(len(self.pieces[history[at]]))
            texts.append(text[begin:r.choice([begin + 1, begin + 3, len(text), len(text)])].decode())
        return texts

    def case(self):
        r = self.random
        n = r.choice([10, 10, 300, 300, 300, self.peer.n_vocab, self.peer.n_vocab, 20000])
        params = self.params()
        ids = range(r.choice([min(n, 30), n]))
        if n == self.peer.n_vocab:
            ids = [i for i, piece in enumerate(self.pieces) if piece and all(32 <= byte < 127 for byte in piece)]
        history = self.history(ids)
        biases = []
        if r.random() < 0.3:
            biases = [(token, r.choice([-2.0, 1.5, 0.25, -math.inf])) for token in r.sample(range(10), 2)]
        order = r.sample(STAGES, r.choice([1, 1, 2, 3, 4, 6, 9]))
        if r.random() < 0.1:
            params["mirostat"] = r.choice([1, 2])
            order = ["penalties", "dry", "temperature"]
            # The slope that the first mirostat estimates has no value over these.
            biases = [(token, max(bias, -4.0)) for token, bias in biases]
        if "top_n_sigma" in order or any(bias == -math.inf for _, bias in biases):
            params["dynatemp_range"] = 0.0
            order = [stage for stage in order if stage != "typ_p"] or ["top_p"]
        if n != self.peer.n_vocab:
            # Those of llama.cpp always come from a vocabulary.
            order = [stage for stage in order if stage != "dry"] or ["top_k"]
        # Which of equal tokens a cut leaves is nobody's promise, and penalties would tell.
        has_ties = r.random() < 0.2 and "penalties" not in order and "dry" not in order
        return {
            "n": n, "seed": r.randrange(2**53), "step": 0.25 if has_ties else 0, "params": params,
            "order": ";".join(order), "history": history, "breakers": self.breakers(history) if "dry" in order else [],
            "biases": [f"{token}{bias:+}" for token, bias in biases], "bias_list": biases, "draws": 4,
        }


class Run:
    def __init__(self, probe, seed):
        self.peer = Peer()
        self.maker = Maker(seed, self.peer)
        self.probe = subprocess.Popen([probe, VOCAB], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.counts = dict(chains=0, equal=0, explained=0, differ=0)

    def ask(self, case):
        question = {key: value for key, value in case.items() if key != "bias_list"}
        self.probe.stdin.write(json.dumps(question) + "\n")
        self.probe.stdin.flush()
        return json.loads(self.probe.stdout.readline())

    @staticmethod
    def compare(case, chances, reply):
        """What differs; None: nothing."""
        if reply["left"] != len(chances):
            return f"{reply['left']} left, {len(chances)} expected"
        values = np.sort(np.array(list(chances.values())))
        for token, p in reply["best"] + reply["drawn"]:
            expected = chances.get(token, 0.0)
            if case["step"] > 0:
                # Which of equal ones is cut off is nobody's promise.
                at = np.searchsorted(values, p)
                near = [0.0, *values[max(at - 1, 0):at + 1]]
                expected = min(near, key=lambda value: abs(value - p))
            if abs(p - expected) > TOLERANCE * max(1, 0.3 / case["params"]["temperature"]):
                return f"token {token} has {p:.7f}, {expected:.7f} expected"
        return None

    def is_by_threshold(self, case, chances):
        """Sums of n floats are off by up to n half units of their last bit."""
        error, lefts = 4e-6 + case["n"] * 2**-25, []
        for name in THRESHOLDS:
            for factor in (1 - error, 1 + error):
                moved = {**case["params"], name: case["params"][name] * factor}
                reply = self.ask({**case, "params": moved})
                lefts.append(reply["left"])
                if self.compare(case, chances, reply) is None:
                    return True
        return case["n"] > 1000 and min(lefts) <= len(chances) <= max(lefts)

    def is_by_entropy(self, case):
        """Whether typical sampling meets a token whose chance a float cannot hold, or cuts between two that are as
        far from the entropy as each other but for rounding."""
        before, found, _ = case["order"].partition("typ_p")
        if not found:
            return False
        p = np.array(list(self.peer.run({**case, "order": before.strip(";")}).values()))
        if p.min() < 1e-37:
            return True
        off = np.abs(-np.log(p) + (p * np.log(p)).sum())
        order = np.argsort(off)
        cut = min(np.searchsorted(p[order].cumsum(), case["params"]["typical_p"]), len(p) - 1)
        return np.diff(off[order][max(cut - 1, 0):cut + 2]).min(initial=1) < 2e-5 + case["n"] * 2**-25

    def is_by_slope(self, case):
        """Whether the first mirostat comes to more tokens than an int holds; llama.cpp then leaves one."""
        params = case["params"]
        if params["mirostat"] != 1:
            return False
        chances = self.peer.run({**case, "params": {**params, "mirostat": 0}})
        best = np.sort(np.array(list(chances.values())))[::-1][:100]
        steps = np.log(np.arange(2, len(best) + 1) / np.arange(1, len(best)))
        slope = (steps * np.log(best[:-1] / best[1:])).sum() / (steps**2).sum()
        excess = slope - 1
        k = (excess * 2 ** (2 * params["mirostat_tau"]) / (1 - case["n"] ** -excess)) ** (1 / slope)
        return k > 2**31

    def is_explained(self, case, chances):
        return self.is_by_threshold(case, chances) or self.is_by_entropy(case) or self.is_by_slope(case)

    def one(self):
        case = self.maker.case()
        chances = self.peer.run(case)
        fault = self.compare(case, chances, self.ask(case))
        self.counts["chains"] += 1
        if fault is None:
            self.counts["equal"] += 1
        elif self.is_explained(case, chances):
            self.counts["explained"] += 1
        else:
            self.counts["differ"] += 1
            if self.counts["differ"] <= MAX_SHOWN:
                print(fault, json.dumps({key: value for key, value in case.items() if key != "bias_list"}))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="build folder with tests/differ in it")
    parser.add_argument("--n", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    args = parser.parse_args()
    run = Run(os.path.join(args.build, "tests", "differ", "sampler-probe"), args.seed)
    for _ in range(args.n):
        run.one()
    print(f"samplers, seed {args.seed}:", ", ".join(f"{name} {n}" for name, n in run.counts.items()))
    sys.exit(1 if run.counts["differ"] > 0 else 0)


if __name__ == "__main__":
    main()
