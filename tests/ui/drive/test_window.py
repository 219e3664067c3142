"""Drives the real window with a tiny model and prints TAP. Needs dbus-run-session and Xvfb."""

import contextlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kvasir_driver import (Failed, new_app, remove_app, wait)  # noqa: E402

PROGRAM = os.environ["KVASIR_APP"]
DATA = os.environ["KVASIR_TEST_DATA"]
MODEL = os.path.join(DATA, "models", "tiny-llama-tied.gguf")
TITLE = "Tiny Llama Tied"
# Without a limit the most likely token is taken, so that the answer does not end by chance.
SAMPLING = ('{"temperature":%d,"top_k":0,"top_p":1,"min_p":0,"repeat_penalty":1,"seed":42,'
            '"max_tokens":%d}')
LOG = open(os.environ.get("KVASIR_UI_LOG", os.devnull), "a")


def check(condition, what):
    if not condition:
        raise Failed(what)


def plain(text):
    """Numbers without their thin gaps."""
    return re.sub("(?<=\\d)[\u2009\u202f\u2060\u00a0]+(?=\\d)", "", text)


def start(max_tokens=24, args=(), **options):
    app = new_app(PROGRAM, [MODEL], LOG)
    settings = {"sampling": SAMPLING % (max_tokens > 0, max_tokens), "show-inspector": "false"}
    app.start(*args, os.path.join(app.models, os.path.basename(MODEL)), settings=settings,
              **{"width": 1280, "height": 800, **options})
    return app


def start_slow():
    """An answer that takes its time: plain C, no limit."""
    return start(max_tokens=0, args=("--isa", "scalar"))


def ready(app):
    app.wait_status("cells free")
    return app


def restart(app, **options):
    app.start(**options)
    return app


def say(app, text, timeout=60):
    """Sends and waits for the whole answer."""
    n = len(app.rows())
    app.send(text)
    wait("two new messages", lambda: len(app.rows()) >= n + 2)
    app.wait_answer(timeout)


def texts(app, i):
    return [plain(t) for t in app.texts(app.rows()[i])]


# ---- tests; each gets a fresh start and is given its app to remove


def test_start_page_measures_models(keep):
    app = keep(new_app(PROGRAM, [MODEL], LOG))
    with open(os.path.join(app.models, "broken.gguf"), "wb") as file:
        file.write(b"no GGUF at all")
    app.start(width=1280, height=800)
    app.need("heading", "Open a model")
    app.need("label", "./dev model")
    good = app.need("list item", contains=TITLE + ",")
    wait("the verdict", lambda: "fits" in good.name)
    check("on CPU" in good.name, good.name)
    bad = app.need("list item", contains="Broken")
    wait("the other verdict", lambda: "can’t be opened" in bad.name)
    check("expected" in bad.name and app.models not in bad.name, "the row says why: " + bad.name)
    below = next(n for n in bad.walk() if n.role == "label" and n.name.startswith("14"))
    check(not below.name.rstrip().endswith("·"), "nothing follows the size: " + below.name)
    app.need("push button", "Memory: no model is open")


def test_history_that_is_not_kept_stays_told(keep):
    app = keep(new_app(PROGRAM, [MODEL], LOG))
    with contextlib.closing(sqlite3.connect(app.history)) as database:
        database.execute("PRAGMA user_version = 999")
    app.start(width=1280, height=800)
    app.need("label", contains="written by a newer Kvasir")
    app.press(app.need("list item", contains=TITLE + ","))
    ready(app)
    check(app.find("label", contains="written by a newer Kvasir"), "the notice outlives an opening")


def test_send_streams_an_answer(keep):
    app = ready(keep(start()))
    app.type("hello there")
    status = plain(app.wait_status("fits"))
    check(re.fullmatch(r"draft \d+ tokens · \d+ cells free · fits", status), status)
    app.send_button.click()
    wait("two messages", lambda: len(app.rows()) == 2)
    app.wait_answer()
    check(app.rows()[0].name == "You: hello there", app.rows()[0].name)
    facts = wait("the facts", lambda: next(
        (t for t in texts(app, 1) if "reused" in t), None))
    check(re.fullmatch(r"\d+ tokens? · [\d.]+ tok/s · reused 0, read \d+", facts), facts)
    price = wait("the price", lambda: next((t for t in texts(app, 1) if "cells =" in t), None))
    check(re.fullmatch(r"\d+ cells = [\d.]+ (KiB|MiB)", price), price)
    check(app.find("label", name="hello there"), "the title or the text")
    used = int(re.search(r"(\d+) of 4096 cells", app.meter()).group(1))
    check(used > 0, app.meter())


def test_try_again_and_switch(keep):
    app = ready(keep(start()))
    say(app, "tell me")
    app.click("Try again")
    app.need("label", "2 / 2")
    app.wait_answer()
    second = app.rows()[1].name
    app.click("Previous answer")
    app.need("label", "1 / 2")
    wait("another text", lambda: app.rows()[1].name != second)
    app.click("Next answer")
    app.need("label", "2 / 2")
    check("reused" in " ".join(texts(app, 1)) and "reused 0" not in " ".join(texts(app, 1)),
          "the prompt was found in the cells")
    app.press(app.rows()[1], 40)
    app.key("alt+Left")
    app.need("label", "1 / 2")


def test_edit_makes_a_version(keep):
    app = ready(keep(start()))
    say(app, "first words")
    app.type("a draft that waits")
    app.click("Edit message")
    wait("the message in the composer", lambda: app.composer.get_text() == "first words")
    app.need("label", contains="Editing a message")
    app.send("other words")
    wait("the new version", lambda: app.rows()[0].name == "You: other words")
    app.wait_answer()
    check(app.rows()[0].name == "You: other words", app.rows()[0].name)
    wait("the draft to come back", lambda: app.composer.get_text() == "a draft that waits")
    app.need("label", "2 / 2")
    app.click("Previous version")
    wait("the first version", lambda: app.rows()[0].name == "You: first words")
    check(len(app.rows()) == 2, "its answer is there as well")


def test_stop_keeps_the_answer(keep):
    app = ready(keep(start_slow()))
    app.send("go on and on")
    app.wait_writing()
    app.wait_status("writing")
    before = time.monotonic()
    app.stop()
    app.wait_answer(10)
    check(time.monotonic() - before < 3, "stopping takes %.1f s" % (time.monotonic() - before))
    check("Stopped." in texts(app, 1), texts(app, 1))
    say_limit = app.find("push button", "Try again")
    check(say_limit.sensitive, "the chat goes on")


def test_too_long_a_draft_is_refused(keep):
    app = ready(keep(start()))
    text = "word " * 6000
    app.type(text)
    status = plain(app.wait_status("too many", 60))
    numbers = [int(n) for n in re.findall(r"\d+", status)]
    check(numbers[1] - numbers[2] == numbers[3], status)
    app.send_button.click()
    bar = app.need("alert")
    check("%d" % numbers[1] in plain(bar.name), bar.name)
    check(app.composer.get_text() == text, "the draft is kept")
    check(len(app.rows()) == 0, "nothing was sent")
    app.click("Close this notice")
    say(app, "short")


def test_full_window_ends_the_answer(keep):
    app = ready(keep(start(max_tokens=0)))
    app.type("word " * 600)
    status = plain(app.wait_status("fits", 60))
    check(int(re.search(r"draft (\d+)", status).group(1)) > 600, status)
    app.send_button.click()
    wait("two messages", lambda: len(app.rows()) == 2)
    app.wait_answer(120)
    bar = app.need("alert")
    check(plain(bar.name) == "The window is full: all 4096 cells are used.", bar.name)
    check(any("window is full" in t for t in texts(app, 1)), texts(app, 1)[-6:])
    app.click(None, "push button", contains="Window of 8")
    app.wait_status("8", 30)
    wait("the larger window", lambda: "of 8192 cells" in app.meter())
    app.type("go on")
    app.wait_status("fits")


def test_system_prompt_and_sampling(keep):
    app = ready(keep(start()))
    app.click("System prompt", "push button")
    wait("the dialog", lambda: app.root.find("text", "System prompt")).set_text("Be brief.")
    app.click("Save", "push button")
    say(app, "hello")
    app.need("label", "Be brief.")
    read = next(t for t in texts(app, 1) if "read" in t)
    check(int(re.search(r"read (\d+)", read).group(1)) > 20, read)
    app.press(app.need("push button", contains="Temperature 1"))
    field = app.need("spin button", "Temperature")
    field.raw.get_value_iface().set_current_value(0.5)
    app.need("label", contains="Temperature 0.5")
    app.key("Escape")


def test_all_sampling(keep):
    """Stop texts and biases, set in the window of all settings, are kept with the chat."""
    app = ready(keep(start()))
    app.press(app.need("push button", contains="Temperature 1"))
    app.click("All Settings…")
    app.need("text", "Biases").set_text("cell answer member sequence poet+1000\nnonsense")
    app.need("label", contains="A line without a bias")
    app.need("text", "Stop texts").set_text("answer")
    app.need("spin button", "DRY multiplier").raw.get_value_iface().set_current_value(0.5)

    def closed():
        app.key("Escape")
        return not app.find("text", "Stop texts")

    wait("the window to close", closed, step=0.5)
    app.need("label", contains="DRY 0.5 · 1 bias · 1 stop text")
    say(app, "hello")
    app.need("label", "Ended at a stop text.")
    check(not any("answer" in t for t in texts(app, 1)[1:] if "cell" in t), texts(app, 1))
    # Without a window manager no key reaches the window after a dialog.
    app.kill()
    restart(app)
    app.press(app.need("list item", contains="hello"))
    app.need("label", contains="DRY 0.5 · 1 bias · 1 stop text")


def test_form_of_answers(keep):
    """A grammar is checked while it is typed, kept with the chat, and answers are held to it."""
    app = ready(keep(start()))
    app.press(app.need("push button", contains="Temperature 1"))
    app.click("All Settings…")
    app.click("Grammar (GBNF)")
    field = app.need("text", "Grammar or schema")
    field.set_text("root ::= a")
    app.need("label", contains="the rule 'a' is used here")
    field.set_text('root ::= "a cell, " [0-9]')
    wait("nothing wrong", lambda: not app.find("label", contains="the rule 'a'"))

    def closed():
        app.key("Escape")
        return not app.find("text", "Grammar or schema")

    wait("the window to close", closed, step=0.5)
    app.need("label", contains="by a grammar")
    say(app, "hello")
    check(any(re.search(r"a cell, [0-9]", t) for t in texts(app, 1)), texts(app, 1))


def test_resize(keep):
    app = ready(keep(start()))
    say(app, "hello")
    for width, height, chats in ((1600, 1000, True), (960, 600, True), (640, 600, False),
                                 (480, 500, False), (1280, 800, True)):
        app.resize(width, height)
        wait("the chat list at %d" % width,
             lambda: bool(app.find("entry", "Search chats")) == chats)
        area = app.composer.raw.get_component_iface().get_extents(1)
        check(area.width > 200 and area.x >= 0 and area.x + area.width <= width,
              "the composer lies at %d+%d in %d" % (area.x, area.width, width))
    app.resize(640, 600)
    app.key("F9")
    app.need("entry", "Search chats")
    app.key("Escape")
    wait("the overlay to close", lambda: not app.find("entry", "Search chats"))


def test_chats_new_rename_delete_undo(keep):
    app = ready(keep(start()))
    say(app, "the first chat")
    app.key("ctrl+n")
    wait("an empty chat", lambda: len(app.rows()) == 0)
    say(app, "the second chat")
    names = lambda: [n.name for n in app.find("list", "Chats").children() if n.role == "list item"]
    wait("both in the list", lambda: names() == ["the second chat", "the first chat"])
    app.key("F10")
    app.click("Rename Chat…", "menu item")
    entry = app.need("entry", "Title") if app.find("entry", "Title") else app.need("text", "Title")
    entry.set_text("renamed")
    app.click("Rename", "push button")
    wait("the new name", lambda: names() == ["renamed", "the first chat"])
    app.find("entry", "Search chats").set_text("FIRST")
    wait("one found", lambda: names() == ["the first chat"])
    app.find("entry", "Search chats").set_text("")
    wait("all again", lambda: len(names()) == 2)
    app.key("F10")
    app.click("Delete Chat", "menu item")
    wait("it to go", lambda: names() == ["the first chat"])
    app.click("Undo", "push button")
    wait("it to come back", lambda: names() == ["renamed", "the first chat"])
    check(app.rows()[0].name == "You: the second chat", "with its messages")


def test_cells_can_be_freed(keep):
    app = ready(keep(start()))
    say(app, "something to keep in mind")
    wait("cells in use", lambda: re.search(r"\b[1-9]\d* of 4096 cells", app.meter()))
    app.key("F10")
    app.click("Free All Cells", "menu item")
    wait("no cell in use", lambda: re.search(r"\b0 of 4096 cells", app.meter()))
    check(len(app.rows()) == 2, "the chat is still there")
    say(app, "and once more")
    wait("cells in use again", lambda: re.search(r"\b[1-9]\d* of 4096 cells", app.meter()))


def test_close_while_writing(keep):
    app = ready(keep(start_slow()))
    app.send("never ends")
    app.wait_writing()
    app.wait_status("writing")
    took = app.close()
    print("# closing took %.2f s" % took)
    restart(app)
    choose(app, "never ends")
    wait("the answer", lambda: len(app.rows()) == 2)
    check("Stopped." in texts(app, 1), texts(app, 1))


def choose(app, title):
    """Clicks a row of the chat list."""
    app.press(app.need("list item", title), 60)
    wait("the chat", lambda: len(app.rows()) > 0)


def test_kill_loses_nothing_typed(keep):
    app = ready(keep(start_slow()))
    app.send("typed before the kill")
    app.wait_writing()
    app.wait_status("writing")
    time.sleep(0.35)
    app.kill()
    restart(app)
    choose(app, "typed before the kill")
    wait("the answer", lambda: len(app.rows()) == 2)
    check(app.rows()[0].name == "You: typed before the kill", app.rows()[0].name)
    check(any(t.startswith("Interrupted") for t in texts(app, 1)), texts(app, 1))
    check(len(" ".join(texts(app, 1))) > 80, "what was written is there")


def patch_architecture(source, target):
    data = open(source, "rb").read()
    key = b"general.architecture" + bytes([8, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0])
    at = data.index(key) + len(key)
    open(target, "wb").write(data[:at] + b"zzzzz" + data[at + 5:])


def patch_template(source, target, template):
    """Another chat template of the same length."""
    data = open(source, "rb").read()
    at = data.index(b"tokenizer.chat_template") + len(b"tokenizer.chat_template") + 4
    n = int.from_bytes(data[at:at + 8], "little")
    check(len(template) <= n, "a template of at most %d bytes" % n)
    open(target, "wb").write(data[:at + 8] + template.encode().ljust(n) + data[at + 8 + n:])


def test_refused_chat_in_a_simpler_form(keep):
    app = keep(new_app(PROGRAM, [], LOG))
    model = os.path.join(app.models, os.path.basename(MODEL))
    patch_template(MODEL, model, "{% if messages[0].role == 'system' %}{{ raise_exception('System "
                                 "role not supported') }}{% endif %}[{{ messages[0].content }}]")
    app.start(model, width=1280, height=800, settings={"sampling": SAMPLING % (1, 8)})
    ready(app)
    app.click("System prompt", "push button")
    wait("the dialog", lambda: app.root.find("text", "System prompt")).set_text("Be brief.")
    app.click("Save", "push button")
    app.send("hello")
    alert = app.need("alert", "The model's chat template refused this chat.")
    check("System role not supported" in alert.description, alert.description)
    check(app.composer.get_text() == "hello", "the draft is kept")
    if os.environ.get("KVASIR_UI_SHOTS"):
        app.shot(os.path.join(os.environ["KVASIR_UI_SHOTS"], "refused-chat.png"))
    app.click("Send in a simpler form", "push button")
    app.wait_answer()
    wait("both messages", lambda: len(app.rows()) == 2)
    app.need("label", contains="simpler form")
    say(app, "hello again")


# Opens the model's reasoning unless that is off, and leaves it out of what was said before.
THINKING = ("{% for m in messages %}[{{ m.role }}]{{ m.content.split('</think>')[-1] }}{% endfor %}"
            "{% if enable_thinking is false %}[at once, in few words]{% else %}<think>{% endif %}")


def start_thinking(max_tokens, **options):
    app = new_app(PROGRAM, [], LOG)
    model = os.path.join(app.models, os.path.basename(MODEL))
    patch_template(MODEL, model, THINKING)
    settings = {"sampling": SAMPLING % (1, max_tokens), "show-inspector": "false"}
    app.start(model, settings=settings, **{"width": 1280, "height": 800, **options})
    return app


def prompt_size(app, i):
    """Tokens of the prompt that the answer in row @i is to."""
    facts = wait("the facts", lambda: next((t for t in texts(app, i) if "reused" in t), None))
    return sum(int(n) for n in re.search(r"reused (\d+), read (\d+)", facts).groups())


def find_fold(app, i):
    return app.rows()[i].find(name="What the model thought")


def choose_thinking(app, what, chosen):
    app.press(app.need("push button", contains="Thinking: "))
    app.click(what, "menu item")
    app.need("push button", chosen)


def test_thinking_is_chosen_for_each_chat(keep):
    app = ready(keep(start_thinking(12)))
    app.need("push button", "Thinking: as usual")
    say(app, "hello")
    check(find_fold(app, 1), texts(app, 1))
    usual = prompt_size(app, 1)
    app.key("ctrl+n")
    wait("an empty chat", lambda: not app.rows())
    choose_thinking(app, "Off", "Thinking: off")
    say(app, "howdy")
    check(not find_fold(app, 1), texts(app, 1))
    check(prompt_size(app, 1) > usual, "the template was told: %d tokens" % usual)
    choose(app, "hello")
    app.need("push button", "Thinking: as usual")
    # Without a window manager no key reaches the window after a menu.
    app.kill()
    restart(app)
    ready(app)
    choose(app, "howdy")
    app.need("push button", "Thinking: off")
    choose(app, "hello")
    app.need("push button", "Thinking: as usual")


def test_reasoning_stays_folded(keep):
    """An answer that ended inside the reasoning that the prompt had opened."""
    app = ready(keep(start_thinking(64)))
    say(app, "hello")
    check(find_fold(app, 1), texts(app, 1))
    asked = prompt_size(app, 1)
    app.close()
    restart(app)
    ready(app)
    choose(app, "hello")
    wait("the answer", lambda: len(app.rows()) == 2)
    check(find_fold(app, 1), texts(app, 1))
    say(app, "and?")
    check(prompt_size(app, 3) < asked + 32, "what was thought is said again: %d, %d tokens"
          % (asked, prompt_size(app, 3)))


def test_bad_files_say_why(keep):
    app = keep(new_app(PROGRAM, [], LOG))
    bad = os.path.join(app.home, "bad.gguf")
    open(bad, "wb").write(b"GGUF\x03\0\0\0")
    app.start(bad, width=1280, height=800)
    alert = app.need("alert", "“bad.gguf” is not a sound model file.")
    check(len(alert.description) > 5, "it says what: " + alert.description)
    app.need("heading", "Open a model")
    app.close()
    other = os.path.join(app.home, "other.gguf")
    patch_architecture(MODEL, other)
    app.start(other)
    alert = app.need("alert", "Kvasir cannot run “other.gguf” yet.")
    check("zzzzz" in alert.description, alert.description)
    app.close()
    app.start(os.path.join(app.home, "missing.gguf"))
    app.need("alert", "“missing.gguf” cannot be read.")
    shutil.copy(MODEL, app.models)
    wait("the list to fill", lambda: app.find("list item", contains=TITLE))


def test_keyboard_alone(keep):
    app = ready(keep(start()))
    app.key("ctrl+l")
    for letter in "hi":
        app.key(letter)
    app.key("Return")
    wait("two messages", lambda: len(app.rows()) == 2)
    app.wait_answer()
    app.key("ctrl+r")
    app.need("label", "2 / 2")
    app.wait_answer()
    app.key("ctrl+l")
    app.key("Up")
    wait("the message to edit", lambda: app.composer.get_text() == "hi")
    app.key("Escape")
    wait("an empty draft", lambda: app.composer.get_text() == "")
    app.key("ctrl+f")
    app.key("F9")
    wait("the list to go", lambda: not app.find("entry", "Search chats"))
    app.key("ctrl+question")
    app.need(contains="Shortcuts")


def test_options(keep):
    run = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True)
    check(run.returncode == 0 and re.match(r"Kvasir \d+\.\d+", run.stdout), run.stdout)
    run = subprocess.run([PROGRAM, "--isa", "z80"], capture_output=True, text=True)
    check(run.returncode == 2 and "z80" in run.stderr, run.stderr)


def test_draft_comes_back(keep):
    app = ready(keep(start()))
    say(app, "hello")
    app.type("half a thought")
    time.sleep(0.8)
    app.kill()
    restart(app)
    choose(app, "hello")
    wait("the draft", lambda: app.composer.get_text() == "half a thought")


def test_german(keep):
    app = keep(start(language="de"))
    app.need("push button", "Senden")
    app.need("entry", "Gespräche suchen")
    app.resize(700, 600)
    area = app.need("push button", "Senden").raw.get_component_iface().get_extents(1)
    check(area.x + area.width <= 700, "nothing is pushed out of the window")


def main():
    wanted = sys.argv[1:]
    tests = [(n[5:].replace("_", "-"), f) for n, f in globals().items() if n.startswith("test_")]
    tests = [t for t in tests if not wanted or t[0] in wanted]
    print("1..%d" % len(tests))
    failed = 0
    for i, (name, function) in enumerate(tests, 1):
        apps = []

        def keep(app):
            apps.append(app)
            return app

        begin = time.monotonic()
        try:
            function(keep)
            print("ok %d /ui/drive/%s # %.1f s" % (i, name, time.monotonic() - begin))
        except Exception:
            failed += 1
            print("not ok %d /ui/drive/%s" % (i, name))
            for line in traceback.format_exc().splitlines():
                print("# " + line)
            shots = os.environ.get("KVASIR_UI_SHOTS")
            if apps and shots:
                apps[-1].shot(os.path.join(shots, name + ".png"))
        finally:
            for app in apps:
                remove_app(app)
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
