"""What is compared, and by how much Kvasir has to be ahead."""

from dataclasses import dataclass

PEERS = ("llama.cpp", "ik_llama.cpp")


@dataclass(frozen=True)
class Case:
    name: str
    title: str
    kind: str  # "speed", "load", "busy", "window" or "memory"
    model: str
    claim: float = 0  # ratio to the best peer; 0: reported only
    llama_claim: float = 0  # ratio to llama.cpp
    prefill: int = 0  # tokens; 0: decode
    depth: int = 0
    type: str = "f16"
    estimate: int = 60  # seconds of a run with 5 blocks

    def make_options(self, threads):
        options = ["--threads", str(threads), "--type", self.type]
        if self.kind == "load":
            return options + ["--load"]
        options += ["--prefill", str(self.prefill)] if self.prefill else ["--decode"]
        return options + (["--depth", str(self.depth)] if self.depth else [])


MODELS = {
    "smollm2": "SmolLM2-135M-Instruct.Q4_1.gguf",
    "gemma": "gemma-3-270m-q4_k_m.gguf",
    "qwen3": "qwen3-0.6b.gguf",
    "llama1b": "llama-3.2-1b.gguf",
}
# Made here, with random weights.
RANDOM = {"qwen3": "qwen3-0.6b", "llama1b": "llama-3.2-1b"}
NAMES = {
    "smollm2": "SmolLM2-135M Q4_1",
    "gemma": "Gemma 3 270M Q4_K_M",
    "qwen3": "Qwen3-0.6B-shaped Q4_K_M",
    "llama1b": "Llama-3.2-1B-shaped Q4_K_M",
}


def make_cases():
    cases = []
    claims = {"smollm2": (2.5, 1.7, 5.0), "gemma": (1.5, 1.5, 0), "qwen3": (1.5, 1.5, 0),
              "llama1b": (1.5, 1.5, 0)}
    for model, (decode, prefill, llama) in claims.items():
        name = NAMES[model]
        cases.append(Case(f"{model}-decode", f"{name} decode", "speed", model, decode, estimate=80))
        cases.append(Case(f"{model}-prefill", f"{name} prefill 512", "speed", model, prefill, llama,
                          prefill=512, estimate=110))
    name = NAMES["smollm2"]
    for type_ in ("f16", "q8_0"):
        cases.append(Case(f"smollm2-decode-4k-{type_}", f"{name} decode at depth 4096, {type_} KV",
                          "speed", "smollm2", 2.2, depth=4096, type=type_, estimate=130))
    cases.append(Case("smollm2-prefill-4k", f"{name} prefill 4096", "speed", "smollm2", 1.8,
                      prefill=4096, estimate=240))
    cases.append(Case("busy", f"{name} decode beside a busy loop, against one thread alone", "busy",
                      "smollm2", 1.0, estimate=60))
    cases.append(Case("window", f"{name} decode with the window and all views, against none",
                      "window", "smollm2", 0.95, estimate=60))
    cases.append(Case("smollm2-load", f"{name} load to the first token", "load", "smollm2", 2.0,
                      estimate=30))
    cases.append(Case("gemma-load", f"{NAMES['gemma']} load to the first token", "load", "gemma",
                      estimate=60))
    for model in ("smollm2", "gemma"):
        cases.append(Case(f"{model}-memory", f"{NAMES[model]} peak memory at depth 4096", "memory",
                          model, 1.1, depth=4096, estimate=8))
    return cases
