#!/usr/bin/env python3
"""Compares Kvasir with llama.cpp (from PyPI) on real models: the ids of a text, its mean negative
log-likelihood, and a greedy continuation. Prints TAP, one case for each.

The two round differently, so a continuation may part where two tokens are nearly equal. Each token
that Kvasir chose is therefore looked up in llama.cpp's logits behind the same text: it must be the
best one there or lie no further below it than such a tie.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import peers  # noqa: E402

TEXT = """Kvasir, in the old tales, was the wisest of beings. When two families of gods made peace, each \
of them spat into a vat, and from what was in it they made a man who could answer any question. He \
travelled far and wide to teach people what he knew. Two dwarfs, Fjalar and Galar, invited him for a \
talk in private and killed him. They let his blood run into two vats and a kettle, mixed it with \
honey, and out of it came the mead that makes a poet or a scholar of everyone who drinks of it.

The dwarfs told the gods that Kvasir had choked on his own learning, since nobody there was well read \
enough to ask him questions. In 1220 or thereabouts an Icelander wrote this down: "hann var svá vitr, \
at engi spyrr hann þeira hluta, er eigi kann hann órlausn." A name like this suits a program that \
shows what it remembers: 49 152 cells, 30 layers, 2 heads of 64 values (that is 22.5 KiB for each \
token), and a mask that says who may see whom.

    for (int i = 0; i < n; i++)
      sum += weights[i] * values[i];
"""
PROMPT = "The three largest cities of France are"
N_GREEDY = 64
# Of the mean over the text, in nats; both round activations to eight bits in long steps.
MAX_SCORE_DIFFERENCE = 0.02
# Of a logit.
MAX_TIE = 0.3


def play(cli, model, operations):
    """What `kvasir-cli run` returns for each operation."""
    header = {"kvasir-scenario": 1, "model": model, "emit": {"state": False, "logits": False},
              "context": {"n_ctx": 2048, "n_threads": 2}}
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as scenario:
        for line in [header, *operations]:
            scenario.write(json.dumps(line) + "\n")
        scenario.flush()
        out = subprocess.run([cli, "run", scenario.name], check=True, stdout=subprocess.PIPE)
    return [json.loads(line)["ret"] for line in out.stdout.decode().splitlines()]


def measure_ours(cli, model):
    text, prompt = play(cli, model, [{"op": "tokenize", "text": t, "parse_special": False}
                                     for t in (TEXT, PROMPT)])
    _, score, _, _, greedy = play(cli, model, [
        {"op": "clear"}, {"op": "score", "tokens": text}, {"op": "clear"},
        {"op": "decode", "tokens": prompt}, {"op": "generate", "n": N_GREEDY}])
    return {"text": text, "prompt": prompt, "score": score, "greedy": greedy}


def measure_peer(python, model, ours):
    here = os.path.dirname(os.path.abspath(__file__))
    out = subprocess.run([python, os.path.join(here, "peer-score.py"), model],
                         input=json.dumps({"text": TEXT, "prompt": PROMPT, "ours": ours}).encode(),
                         stdout=subprocess.PIPE, check=True)
    return json.loads(out.stdout.decode().strip().splitlines()[-1])


class Tap:
    def __init__(self):
        self.n = 0
        self.failed = 0

    def case(self, ok, name, note):
        self.n += 1
        self.failed += not ok
        print(f"{'ok' if ok else 'not ok'} {self.n} {name}")
        print(f"# {note}", flush=True)


def compare(tap, cli, python, model):
    name = os.path.basename(model)
    ours = measure_ours(cli, model)
    theirs = measure_peer(python, model, ours)
    tap.case(ours["text"] == theirs["text"] and ours["prompt"] == theirs["prompt"], f"{name}/ids",
             f"{len(ours['text'])} and {len(ours['prompt'])} ids")
    difference = abs(ours["score"] - theirs["score"])
    tap.case(difference <= MAX_SCORE_DIFFERENCE, f"{name}/score",
             f"{ours['score']:.5f} against {theirs['score']:.5f}, {difference:.5f} apart")
    gaps = theirs["gaps"]
    n_equal = sum(gap == 0 for gap in gaps)
    tap.case(len(gaps) > 0 and max(gaps) <= MAX_TIE, f"{name}/greedy",
             f"{n_equal} of {len(gaps)} tokens are llama.cpp's, the others lie up to "
             f"{max(gaps, default=0):.4f} below it")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cli", required=True)
    parser.add_argument("--work", required=True, help="folder of the environment with llama.cpp")
    parser.add_argument("models", nargs="+")
    args = parser.parse_args()
    build = peers.list_builds(args.work)[0]
    if not build.is_there():
        build.make()
    tap = Tap()
    print(f"1..{3 * len(args.models)}")
    for model in args.models:
        compare(tap, args.cli, build.python, os.path.abspath(model))
    print(f"{tap.n - tap.failed} passed, {tap.failed} failed, 0 skipped")
    sys.exit(tap.failed > 0)


if __name__ == "__main__":
    main()
