#!/usr/bin/env python3
"""Random templates, and random conversations in the chat templates at hand, rendered by Kvasir and by
Jinja2. Prints what differs and a line of counts; exits with 1 where something does.

Packages: jinja2==3.1.6
"""

import argparse
import glob
import html
import importlib.util
import json
import os
import random
import subprocess
import sys
import tarfile
import tempfile
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
NOW = "2026-03-07T14:05:09"
MAX_SHOWN = 20
SOURCE = "llama-cpp-python==0.3.36"


def load_generator():
    path = os.path.join(TESTS, "engine", "template", "make-vectors.py")
    spec = importlib.util.spec_from_file_location("make_vectors", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Conversations:
    """Messages as clients send them: right ones, and such as templates refuse."""

    TEXTS = ["Hello!", "", " padded \n", "Grüße, 日本 🐝", "<|im_end|>", "{{ 7 * 7 }}", "a\nb\n\nc", "<think>so</think>\n\nYes.",
             "'quoted' \"twice\" \\ back", "tab\there", "</tool_call>", "x" * 70]

    def __init__(self, seed):
        self.random = random.Random(seed)

    def text(self):
        return self.random.choice(self.TEXTS)

    def value(self, depth=2):
        choices = [0, 1, -3, 2.5, True, False, None, self.text(), 10**12]
        if depth > 0 and self.random.random() < 0.4:
            return self.random.choice([
                [self.value(depth - 1) for _ in range(self.random.randint(0, 3))],
                {self.random.choice("abcd"): self.value(depth - 1) for _ in range(self.random.randint(0, 3))}])
        return self.random.choice(choices)

    def content(self):
        roll = self.random.random()
        if roll < 0.75:
            return self.text()
        if roll < 0.9:
            parts = [{"type": "text", "text": self.text()}, {"type": "image"}, {"type": "text", "text": self.text()}]
            return parts[:self.random.randint(0, 3)]
        return self.random.choice([None, {"a": 1}, []])

    def tool_calls(self):
        arguments = {"city": self.text(), "n": self.value()}
        if self.random.random() < 0.3:
            arguments = json.dumps(arguments, ensure_ascii=False)
        call = {"id": "call_%09d" % self.random.randint(0, 10**9 - 1), "type": "function",
                "function": {"name": "get_weather", "arguments": arguments}}
        return [call] * self.random.choice([0, 1, 1, 2])

    def message(self, role):
        message = {"role": role}
        if self.random.random() < 0.97:
            message["content"] = self.content()
        if role == "assistant" and self.random.random() < 0.3:
            message["tool_calls"] = self.tool_calls()
        if role == "assistant" and self.random.random() < 0.3:
            message["reasoning_content"] = self.text()
        if role == "tool":
            message.update(name="get_weather", tool_call_id="call_1")
        return message

    def roles(self):
        roles = ["system"] if self.random.random() < 0.5 else []
        for _ in range(self.random.randint(1, 3)):
            roles += ["user", "assistant"]
            if self.random.random() < 0.25:
                roles += ["tool", "assistant"]
        if self.random.random() < 0.7:
            roles.append("user")
        if self.random.random() < 0.1:
            self.random.shuffle(roles)
        return roles

    def tools(self):
        tool = {"type": "function", "function": {
            "name": "get_weather", "description": self.text(), "parameters": {
                "type": "object", "required": ["city"], "properties": {
                    "city": {"type": "string", "description": self.text(), "enum": ["a", "b"]},
                    "n": {"type": ["integer", "null"], "default": self.value()}}}}}
        return [tool] * self.random.choice([0, 1, 1, 2])

    def vars(self):
        vars = {"messages": [self.message(role) for role in self.roles()],
                "add_generation_prompt": self.random.random() < 0.7, "bos_token": "<s>", "eos_token": "</s>"}
        for name, make in (("tools", self.tools), ("enable_thinking", lambda: self.random.random() < 0.5),
                           ("documents", lambda: [{"title": self.text(), "text": self.text()}]),
                           ("reasoning_effort", lambda: self.random.choice(["low", "high"])),
                           ("date_string", lambda: "26 Jul 2024"), ("builtin_tools", lambda: ["brave_search"]),
                           ("tools_in_user_message", lambda: False), ("custom_tools", lambda: None)):
            if self.random.random() < 0.35:
                vars[name] = make()
        return vars


def read_model_template(path):
    """tokenizer.chat_template of a GGUF file, or None."""
    import mmap
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        key = b"tokenizer.chat_template"
        at = data.find(len(key).to_bytes(8, "little") + key + (8).to_bytes(4, "little"))
        if at < 0:
            return None
        at += 8 + len(key) + 4
        n = int.from_bytes(data[at:at + 8], "little")
        return data[at + 8:at + 8 + n].decode()


def collect_templates(folders):
    """The chat templates that are there: files, and those of models."""
    texts = {}
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(folder, "**", "*.jinja"), recursive=True)):
            with open(path, encoding="utf-8") as file:
                texts[file.read()] = path
        for path in sorted(glob.glob(os.path.join(folder, "**", "*.gguf"), recursive=True)):
            text = read_model_template(path)
            if text is not None:
                texts[text] = path
    return sorted((path, text) for text, path in texts.items())


def make_cases(generator, args):
    """Pairs of variables and template; variables are None where they are those of the case before."""
    expressions, statements = generator.Expressions(args.seed), generator.Statements(args.seed)
    n_chat = args.n // 4 if args.templates else 0
    yield generator.VARS, "{{ n }}"
    for i in range(args.n - n_chat):
        yield None, (statements if i % 3 == 0 else expressions).template()
    conversations = Conversations(args.seed)
    for i in range(n_chat):
        yield conversations.vars(), args.templates[i % len(args.templates)][1]


def fetch_templates(folder):
    """The chat templates that come with the source of llama.cpp, fetched once."""
    if os.path.isdir(folder):
        return
    with tempfile.TemporaryDirectory() as part:
        done = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", part,
                               "--disable-pip-version-check", "--no-binary", "llama-cpp-python", SOURCE])
        archives = glob.glob(os.path.join(part, "*.tar.gz"))
        if done.returncode != 0 or not archives:
            print(f"templates: {SOURCE} could not be fetched; only the templates at hand are compared")
            return
        with tarfile.open(archives[0]) as archive:
            os.makedirs(folder)
            for member in archive:
                if member.isfile() and member.name.endswith(".jinja"):
                    with open(os.path.join(folder, os.path.basename(member.name)), "wb") as file:
                        file.write(archive.extractfile(member).read())


def is_explained(expected, found):
    """Jinja2 escapes what is added to a text marked by `safe`; here nothing is ever escaped."""
    return expected is not None and found is not None and html.unescape(expected) == html.unescape(found)


def expect(generator, env, vars, source):
    try:
        return env.from_string(source).render(**json.loads(json.dumps(vars)))
    except Exception:  # any failure of the one must be one of the other
        return None


def play(program, cases):
    lines = []
    for vars, source in cases:
        if vars is not None:
            lines.append(json.dumps({"vars": vars}))
        lines.append(json.dumps({"template": source, "now": NOW}))
    out = subprocess.run([program], input="\n".join(lines).encode() + b"\n", stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in out.stdout.decode().splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="build folder with tests/differ in it")
    parser.add_argument("--n", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--folder", action="append", default=[], help="more chat templates")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    fetched = os.path.join(os.path.dirname(os.path.abspath(args.build)), "chat-templates")
    fetch_templates(fetched)
    args.templates = collect_templates([os.path.join(TESTS, "data"), fetched] + args.folder)
    generator = load_generator()
    env = generator.make_environment()
    cases = list(make_cases(generator, args))
    answers = play(os.path.join(args.build, "tests", "differ", "render-template"), cases)
    if len(answers) != len(cases):
        raise SystemExit(f"{len(cases)} answers expected, {len(answers)} found")
    n_differ = n_errors = n_left_out = n_explained = 0
    vars = None
    for (own, source), answer in zip(cases, answers):
        vars = own if own is not None else vars
        expected = expect(generator, env, vars, source)
        if expected is not None and (len(expected) > 100000 or generator.is_left_out(expected)):
            n_left_out += 1
            continue
        n_errors += expected is None
        if answer.get("text") == expected:
            continue
        if is_explained(expected, answer.get("text")):
            n_explained += 1
            continue
        n_differ += 1
        if n_differ <= MAX_SHOWN:
            print(json.dumps({"template": source if own is None or len(source) < 400 else source[:80] + "…",
                              "vars": own, "expected": expected, "found": answer}, ensure_ascii=False))
    print(f"templates: {len(cases)} renders, {n_errors} of them errors in both, {n_left_out} left out, "
          f"{n_explained} differ as explained, {n_differ} differ, {len(args.templates)} chat templates, seed {args.seed}")
    sys.exit(n_differ > 0)


if __name__ == "__main__":
    main()
