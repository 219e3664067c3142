#!/usr/bin/env python3
"""Random JSON schemas, turned into grammars by Kvasir: answers drawn from them must satisfy the PyPI package
jsonschema, and values that satisfy it, written in the schema's order, should be let through.
Prints what differs and a line of counts; exits with 1 where an answer does not satisfy its schema.

Values that are not let through are counted, not faults: a grammar is narrower than its schema where that names no
type (the one that its keywords are about is meant) and for properties and items that it does not name.

Packages: jsonschema==4.23.0 rfc3339-validator==0.1.4
"""

import argparse
import json
import os
import random
import subprocess
import sys

import jsonschema

HERE = os.path.dirname(os.path.abspath(__file__))
VOCAB = os.path.join(os.path.dirname(HERE), "data", "vocab", "tiny-llama.gguf")
NAMES = ["a", "b", "ab", "é", "a b", 'q"', "x/y", "long name"]
# Each with texts that match it or nearly do. Where Python reads an expression otherwise than the standard says
# (\s, \W), it is left out.
PATTERNS = {
    "^a+$": ["aaa", "", "ab"], "^[a-c]{2,3}$": ["ab", "abc", "abcd"], "b": ["b", "abc", "a"],
    "^\\d{3}-\\w+$": ["123-ab", "12-a"], "^(ab|cd)*$": ["", "abcd", "abc"], "^[^a\"]+$": ["x\\", "a"],
    "x?y|^z$": ["z", "xy", "ayb", "az"], "^.$": ["é", "", "\n"], "^ ?é[\\x41-\\x43]$": ["éA", " éB", "éD"],
    "^a{2,}b?$": ["aab", "a"],
}
FORMATS = {
    "date": "2024-02-29", "time": "12:30:00Z", "date-time": "2024-02-29T23:59:59.5+01:00",
    "uuid": "12345678-abcd-ABCD-0000-123456789abc", "ipv4": "255.0.19.200", "email": "a.b@c.de",
    "hostname": "a-b.example",
}
MAX_SHOWN = 20


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def number(self):
        r = self.random
        return r.choice([r.randint(-20, 20), r.randint(-2000, 2000), round(r.uniform(-5, 5), r.randint(1, 4)), 0, 10**6, 0.001, -0.5])

    def bounds(self, low, high, top):
        a, b = sorted([self.random.randint(0, top), self.random.randint(0, top)])
        return {key: value for key, value in ((low, a), (high, b)) if self.random.random() < 0.5}

    def number_schema(self):
        schema = {"type": self.random.choice(["integer", "number"])}
        low, high = sorted([self.number(), self.number()])
        if self.random.random() < 0.5:
            schema[self.random.choice(["minimum", "exclusiveMinimum"])] = low
        if self.random.random() < 0.5:
            schema[self.random.choice(["maximum", "exclusiveMaximum"])] = high
        return schema

    def text_schema(self):
        roll = self.random.random()
        if roll < 0.2:
            return {"type": "string", "pattern": self.random.choice(list(PATTERNS))}
        if roll < 0.4:
            return {"type": "string", "format": self.random.choice(list(FORMATS))}
        return {"type": "string", **self.bounds("minLength", "maxLength", 6)}

    def object_schema(self, depth, defs):
        schema = {"type": "object"}
        if self.random.random() < 0.85:
            names = self.random.sample(NAMES, self.random.randint(0, 4))
            schema["properties"] = {name: self.schema(depth - 1, defs) for name in names}
        if self.random.random() < 0.6:
            schema["required"] = [name for name in schema.get("properties", {}) if self.random.random() < 0.5]
        roll = self.random.random()
        if roll < 0.3:
            schema["additionalProperties"] = False
        elif roll < 0.45:
            schema["additionalProperties"] = self.schema(depth - 1, defs)
        elif roll < 0.55:
            schema["patternProperties"] = {self.random.choice(["^z", "^n[0-9]$"]): self.schema(depth - 1, defs)}
        if self.random.random() < 0.2:
            schema.update(self.bounds("minProperties", "maxProperties", 4))
        return schema

    def array_schema(self, depth, defs):
        schema = {"type": "array", **self.bounds("minItems", "maxItems", 4)}
        if self.random.random() < 0.4:
            schema["prefixItems"] = [self.schema(depth - 1, defs) for _ in range(self.random.randint(0, 3))]
        if self.random.random() < 0.7:
            schema["items"] = self.random.choice([self.schema(depth - 1, defs), False])
        return schema

    def combined_schema(self, depth, defs):
        key = self.random.choice(["anyOf", "oneOf", "allOf"])
        schema = {key: [self.schema(depth - 1, defs) for _ in range(self.random.randint(1, 3))]}
        if self.random.random() < 0.25:
            schema.update(self.random.choice([self.object_schema(depth - 1, defs), {"minimum": self.random.randint(-3, 3)}]))
        return schema

    def leaf_schema(self, defs):
        roll = self.random.random()
        if roll < 0.3:
            return self.number_schema()
        if roll < 0.6:
            return self.text_schema()
        if roll < 0.7:
            return {"type": self.random.choice(["null", "boolean"])}
        if roll < 0.8:
            return {"enum": [self.value() for _ in range(self.random.randint(1, 4))]}
        if roll < 0.87:
            return {"const": self.value()}
        if defs and roll < 0.95:
            return {"$ref": "#/$defs/" + self.random.choice(defs)}
        return self.random.choice([True, {}, {"type": ["string", "null"]}, {"type": ["integer", "object"]}])

    def schema(self, depth, defs):
        roll = self.random.random()
        if depth <= 0 or roll < 0.5:
            return self.leaf_schema(defs)
        kind = self.object_schema if roll < 0.7 else self.array_schema if roll < 0.82 else self.combined_schema
        return kind(depth, defs)

    def whole(self):
        defs = ["d0", "d1"] if self.random.random() < 0.3 else []
        schema = self.schema(3, defs)
        if isinstance(schema, dict) and defs:
            schema = {**schema, "$defs": {name: self.schema(2, defs) for name in defs}}
        return schema

    def value(self, depth=2):
        roll = self.random.random()
        if depth > 0 and roll < 0.15:
            return [self.value(depth - 1) for _ in range(self.random.randint(0, 2))]
        if depth > 0 and roll < 0.3:
            return {self.random.choice(NAMES): self.value(depth - 1) for _ in range(self.random.randint(0, 2))}
        return self.random.choice([None, True, False, self.random.randint(-5, 5), 1.5, "", "a", 'é\n"x\\', self.random.choice(NAMES)])

    # ---- values that may satisfy a schema

    def near(self, schema, root, depth=0):
        if not isinstance(schema, dict) or not schema or depth > 8:
            return self.value(1)
        if "$ref" in schema:
            return self.near(root["$defs"][schema["$ref"].split("/")[-1]], root, depth + 1)
        for key in ("anyOf", "oneOf", "allOf"):
            if key in schema:
                return self.near(self.random.choice(schema[key]), root, depth + 1)
        if "const" in schema or "enum" in schema:
            return self.random.choice(schema.get("enum", [schema.get("const")]))
        kind = schema["type"] if "type" in schema else "object"
        kind = self.random.choice(kind) if isinstance(kind, list) else kind
        return getattr(self, "near_" + kind)(schema, root, depth + 1)

    def near_null(self, schema, root, depth):
        return None

    def near_boolean(self, schema, root, depth):
        return self.random.random() < 0.5

    def near_number(self, schema, root, depth):
        keys = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
        ends = [schema[key] for key in keys if key in schema] or [0]
        return round(self.random.choice(ends) + self.random.choice([0, 0, 1, -1, 2, 0.5, -0.001, 0.25, 10, -10]), 6)

    def near_integer(self, schema, root, depth):
        return int(self.near_number(schema, root, depth))

    def near_string(self, schema, root, depth):
        if "pattern" in schema:
            return self.random.choice(PATTERNS[schema["pattern"]])
        if "format" in schema:
            return FORMATS[schema["format"]]
        low, high = schema.get("minLength", 0), schema.get("maxLength", 6)
        return "".join(self.random.choice('aé"\\\n😀 ') for _ in range(self.random.randint(low, max(low, high))))

    def near_array(self, schema, root, depth):
        first = schema.get("prefixItems", [])
        others = schema.get("items", not first)
        items = []
        for i in range(self.random.randint(0, 4)):
            if i >= len(first) and others is False:
                break
            items.append(self.near(first[i] if i < len(first) else others, root, depth))
        return items

    def near_object(self, schema, root, depth):
        required = schema.get("required", [])
        return {name: self.near(below, root, depth) for name, below in schema.get("properties", {}).items()
                if name in required or self.random.random() < 0.5}


def has_whole_float(value):
    """1.0 satisfies "integer"; the grammars write 1."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return any(has_whole_float(item) for item in value)
    return isinstance(value, float) and value == int(value)


class Run:
    def __init__(self, probe, seed):
        self.maker = Maker(seed)
        self.probe = subprocess.Popen([probe, VOCAB], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.counts = dict(schemas=0, refused=0, answers=0, values=0, not_let_through=0, differ=0)

    def ask(self, question):
        self.probe.stdin.write(json.dumps(question) + "\n")
        self.probe.stdin.flush()
        return json.loads(self.probe.stdout.readline())

    def fault(self, schema, text):
        if text is None:
            return "an answer can't be ended"
        try:
            value = json.loads(text)
        except ValueError as error:
            return str(error)
        found = next(iter(schema.iter_errors(value)), None)
        return found.message if found is not None else None

    def one(self):
        source = self.maker.whole()
        if not isinstance(source, dict):
            return
        schema = jsonschema.Draft202012Validator(source, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)
        try:
            values = [self.maker.near(source, source) for _ in range(20)]
            good = [value for value in values if schema.is_valid(value) and not has_whole_float(value)]
        except RecursionError:
            return
        texts = [json.dumps(value, ensure_ascii=False) for value in good]
        reply = self.ask({"schema": json.dumps(source), "texts": texts, "samples": 10})
        self.counts["schemas"] += 1
        if "error" in reply:
            self.counts["refused"] += 1
            return
        self.counts["values"] += len(texts)
        self.counts["not_let_through"] += reply["texts"].count(False)
        for text in reply["samples"]:
            self.counts["answers"] += 1
            fault = self.fault(schema, text)
            if fault is not None:
                self.counts["differ"] += 1
                if self.counts["differ"] <= MAX_SHOWN:
                    print(json.dumps(source, ensure_ascii=False), repr(text), fault)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="build folder with tests/differ in it")
    parser.add_argument("--n", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    args = parser.parse_args()
    run = Run(os.path.join(args.build, "tests", "differ", "grammar-probe"), args.seed)
    for _ in range(args.n):
        run.one()
    print(f"schemas, seed {args.seed}:", ", ".join(f"{name} {n}" for name, n in run.counts.items()))
    sys.exit(1 if run.counts["differ"] > 0 else 0)


if __name__ == "__main__":
    main()
