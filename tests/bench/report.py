"""Tables from what was measured."""

import statistics

from cases import NAMES, PEERS

# Of the median, that the smallest block may fall short by.
SLACK = 0.9


def sum_rates(block, name):
    return sum(block["rates"][name])


def get_blocks(result):
    """Those that count: all where too few were undisturbed."""
    good = [block for block in result["blocks"] if not block["disturbed"]]
    return good if len(good) >= 3 else result["blocks"]


def format_block(case, block):
    means = {name: sum(rates) / len(rates) for name, rates in block["rates"].items()}
    parts = [f"{name} {1 / mean:.1f} ms" if case.kind == "load" else f"{name} {mean:.1f}"
             for name, mean in means.items()]
    return ", ".join(parts) + (f" ({block['disturbed']})" if block["disturbed"] else "")


def make_ratios(result, name):
    ratios = [sum_rates(block, "kvasir") / sum_rates(block, name) for block in get_blocks(result)]
    return {"median": statistics.median(ratios), "min": min(ratios), "max": max(ratios)}


def get_median_rate(result, name):
    return statistics.median(sum_rates(block, name) / 2 for block in get_blocks(result))


def get_roof(case, block, card):
    """(share of the roof in this block, which roof)"""
    ours = sum_rates(block, "kvasir") / 2
    probes = [block["before"], block["after"]]
    if case.prefill:
        return ours * 2 * card["multiplied"] / 1e9 / max(p["int8"] for p in probes), "int8 peak"
    key = "read_96m" if card["weights"] < 160e6 else "read_1g"
    return ours * card["weights"] / 1e9 / max(p[key] for p in probes), "read bandwidth"


def make_roof(case, result):
    if case.kind != "speed" or case.depth or case.prefill > 512:
        return None
    shares = [get_roof(case, block, result["card"]) for block in get_blocks(result)]
    values = [share for share, _ in shares]
    return {"of": shares[0][1], "median": statistics.median(values), "min": min(values),
            "max": max(values)}


def meets(ratio, claim):
    return not claim or (ratio["median"] >= claim and ratio["min"] >= SLACK * claim)


def make_row(case, result):
    row = {"case": case.name, "title": case.title, "kind": case.kind, "claim": case.claim}
    if case.kind == "memory":
        row.update(ratio={"median": result["ratio"], "min": result["ratio"], "max": result["ratio"]},
                   peak=result["peak"], planned=result["planned"], met=result["ratio"] <= case.claim)
        return row
    names = [name for name in result["blocks"][0]["rates"] if name != "kvasir"]
    if case.kind == "load" and "llama.cpp" in names:
        names = ["llama.cpp"] + [name for name in names if name != "llama.cpp"]
    ratios = {name: make_ratios(result, name) for name in names}
    # Loading is compared with llama.cpp, everything else with the best.
    best = "llama.cpp" if case.kind == "load" and "llama.cpp" in ratios else min(
        ratios, key=lambda name: ratios[name]["median"])
    met = meets(ratios[best], case.claim)
    if case.llama_claim and "llama.cpp" in ratios:
        met = met and meets(ratios["llama.cpp"], case.llama_claim)
    row.update(rates={name: get_median_rate(result, name) for name in ["kvasir", *names]},
               ratios=ratios, best=best, ratio=ratios[best], met=met if case.claim else None,
               llama_claim=case.llama_claim, roof=make_roof(case, result),
               disturbed=sum(bool(block["disturbed"]) for block in result["blocks"]),
               blocks=len(result["blocks"]), same_tokens=count_same(result))
    return row


def count_same(result):
    """{peer: how many tokens of the greedy text are ours}; rounding differs, so that one near a tie
    may fall either way, and all behind it differ."""
    texts = dict(result.get("greedy", {}))
    ours = texts.pop("kvasir", [])
    return {name: next((i for i, pair in enumerate(zip(ours, text)) if pair[0] != pair[1]), len(ours))
            for name, text in texts.items()}


def format_rate(row, name):
    rate = row.get("rates", {}).get(name)
    if rate is None:
        return "–"
    return f"{1 / rate:.0f} ms" if row["kind"] == "load" else f"{rate:.1f}"


def format_ratio(ratio):
    return f"{ratio['median']:.2f} ({ratio['min']:.2f}–{ratio['max']:.2f})"


def format_cells(row):
    if row["kind"] == "memory":
        mib = [f"{row[key] / 2**20:.0f} MiB" for key in ("peak", "planned")]
        return [row["title"], mib[0], f"planned {mib[1]}", "–", f"{row['ratio']['median']:.2f}",
                f"≤ {row['claim']:.2f}", "yes" if row["met"] else "no", "–"]
    others = [name for name in row["rates"] if name not in ("kvasir", *PEERS)]
    peers = [format_rate(row, name) for name in PEERS]
    if others:
        peers = [f"{others[0]} {format_rate(row, others[0])}", "–"]
    claim = f"≥ {row['claim']:.2f}" if row["claim"] else "–"
    if row["llama_claim"]:
        claim += f", llama.cpp ≥ {row['llama_claim']:.1f}: {format_ratio(row['ratios'].get('llama.cpp', row['ratio']))}"
    met = {True: "yes", False: "no", None: "–"}[row["met"]]
    roof = row["roof"]
    share = f"{roof['median']:.0%} ({roof['min']:.0%}–{roof['max']:.0%}) of {roof['of']}" if roof else "–"
    return [row["title"], format_rate(row, "kvasir"), *peers, format_ratio(row["ratio"]), claim, met, share]


HEADINGS = ["case", "kvasir", "llama.cpp", "ik_llama.cpp", "ratio to the best (min–max)", "claim", "met",
            "share of the roof"]


def format_table(rows):
    lines = [HEADINGS, ["---"] * len(HEADINGS)] + [format_cells(row) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADINGS))]
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |"
                     for line in lines)


def format_settings(case, result):
    lines = []
    for label, tried in result.get("settings", {}).items():
        parts = []
        for setting in tried:
            name = f"flash attention {'on' if setting['flash-attn'] else 'off'}"
            name += ", repacked" if setting["repack"] else ""
            name += ", all instruction sets" if setting["build"] == "peer-all" else ""
            parts.append(f"{name} {setting['rate']:.1f}" if "rate" in setting else f"{name} failed")
        lines.append(f"- {case.title}, {label}: " + "; ".join(parts))
    return lines


def format_texts(cases, rows):
    seen, lines = set(), []
    for case, row in zip(cases, rows):
        if row.get("same_tokens") and case.model not in seen:
            seen.add(case.model)
            counts = ", ".join(f"{name} {count}" for name, count in row["same_tokens"].items())
            lines.append(f"- {NAMES[case.model]}: {counts}")
    return lines


def format_roofs(results):
    probes = [probe for result in results.values() for block in result.get("blocks", [])
              for probe in (block["before"], block["after"])]
    lines = ["| roof, probed around every block | median | min–max |", "| --- | --- | --- |"]
    for key, name in (("read_96m", "GB/s read from 96 MiB"), ("read_1g", "GB/s read from 1 GiB"),
                      ("int8", "int8 Gop/s")):
        values = [probe[key] for probe in probes]
        lines.append(f"| {name} | {statistics.median(values):.0f} | {min(values):.0f}–{max(values):.0f} |")
    return lines


def write_results(path, cases, results):
    missing = [case.title for case in cases if case.name not in results]
    cases = [case for case in cases if case.name in results]
    rows = [make_row(case, results[case.name]) for case in cases]
    machine = results[cases[0].name]["machine"]
    text = [
        "# Results", "",
        "Written by `./dev bench peer`; tests/bench/peer.py says how. Numbers are "
        "tokens per second, or milliseconds for loading, medians of the blocks. Ratios are those of the "
        "sums of a block, above 1 where Kvasir is faster. Only numbers of one run can be compared.", "",
        f"Machine: {machine['processor']}, {machine['processors']} processors, {machine['memory_gib']} GiB, "
        f"Linux {machine['kernel']}; of {', '.join(machine['sets'])}. {machine['threads']} threads, "
        f"{machine['blocks']} blocks, {machine['leg_seconds']:g} s for each measurement, files in the page "
        f"cache. Kvasir {machine['version']}. [ROWS.md](ROWS.md) says what was tried for rows that are not met.", "",
        format_table(rows), "",
        *(["Not measured: " + "; ".join(missing) + ".", ""] if missing else []), *format_roofs(results), "",
        f"Blocks repeated or kept although disturbed: {sum(row.get('disturbed', 0) for row in rows)} of "
        f"{sum(row.get('blocks', 0) for row in rows)}.", "",
        "## Greedy text", "", "Of 16 tokens, how many are ours before the first that differs.", "",
        *format_texts(cases, rows), "",
        "## Settings of the peers", "", "The best of each was measured; tokens per second of one try.", "",
    ]
    for case in cases:
        text += format_settings(case, results[case.name])
    with open(path, "w", encoding="utf-8") as handle:
        handle.write("\n".join(text) + "\n")
