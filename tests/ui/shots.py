#!/usr/bin/python3
"""Screenshots of the app with the real default model, and the demo of a machine without a display.

Drives the window through the accessibility tree: two prompts, one fork, one stop; on a screen of
its own, whether there is one or not.

usage: shots.py --app PROGRAM --out FOLDER [demo]
"""

import argparse
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "drive"))
from kvasir_driver import Failed, new_app, remove_app, wait  # noqa: E402
from private_session import is_inside, open_session  # noqa: E402

DATA_HOME = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
MODEL = os.path.join(DATA_HOME, "kvasir", "models", "SmolLM2-135M-Instruct.Q4_1.gguf")
SIZES = ((1600, 1000), (960, 600))
STYLES = (("light", 1), ("dark", 2))
PROMPTS = ("Why is the sky blue? Answer in two sentences.",
           "Tell me a very long story about a dragon who counts the colours of the sky.")
FONT = "[Settings]\ngtk-font-name=Cantarell 11\ngtk-decoration-layout=:close\n"


def say(text):
    print("==> " + text, flush=True)


class Camera:
    def __init__(self, program, out):
        self.out = out
        self.app = new_app(program)
        os.symlink(MODEL, os.path.join(self.app.models, os.path.basename(MODEL)))
        fonts = os.path.join(self.app.home, "config", "gtk-4.0")
        os.makedirs(fonts)
        with open(os.path.join(fonts, "settings.ini"), "w") as file:
            file.write(FONT)

    def start(self, width, height, scheme, **settings):
        settings["color-scheme"] = scheme
        return self.app.start(width=width, height=height, settings=settings)

    def shoot(self, state, width, height, style):
        time.sleep(0.8)
        path = os.path.join(self.out, "%s-%s-%dx%d.png" % (state, style, width, height))
        self.app.shot(path, width, height)
        say("screenshot " + path)

    def every(self, state, show):
        """Starts the app in each style and size, lets @show bring it to the state, shoots."""
        for style, scheme in STYLES:
            for width, height in SIZES:
                self.start(width, height, scheme)
                show(self.app)
                self.shoot(state, width, height, style)
                self.app.close()


def open_chat(app, title):
    """Waits for the model, which opens by itself at every start but the first, and picks a chat."""
    wait("the model to be open", lambda: "cells are used" in app.meter())
    if not app.find("entry", "Search chats"):
        app.key("F9")
    app.press(app.need("list item", contains=title), 60)
    wait("the chat", lambda: app.rows())
    time.sleep(0.6)


def chat(camera):
    """The demo: two prompts, one fork, one stop."""
    app = camera.start(1600, 1000, 1)
    say("opening the default model")
    app.click("Open SmolLM2 135M, the default")
    app.wait_status("cells free", 60)
    say("first prompt: " + PROMPTS[0])
    app.send(PROMPTS[0])
    app.wait_writing()
    camera.shoot("demo-writing", 1600, 1000, "light")
    app.wait_answer(180)
    say("fork: another answer to the same prompt")
    app.click("Try again")
    app.need("label", "2 / 2")
    app.wait_answer(180)
    say("second prompt, stopped while it is written: " + PROMPTS[1])
    app.send(PROMPTS[1])
    app.wait_writing()
    app.wait_status("writing", 120)
    time.sleep(0.7)
    app.stop()
    app.wait_answer(30)
    camera.shoot("demo-end", 1600, 1000, "light")
    report(app)
    for page in ("Positions", "Mask", "Memory", "Log"):
        app.click(page)
        camera.shoot("page-" + page.lower(), 1600, 1000, "light")
    app.click("Cells")
    app.close()


def report(app):
    """The conversation and the cells, as they stand on the screen."""
    print("\n---- conversation")
    for row in app.rows():
        print("\n".join(app.texts(row)), end="\n\n")
    print("---- cells\n" + app.meter())
    strip = app.find("label", contains="read up to")
    if strip:
        print(strip.name)
    print(flush=True)


def fill(app):
    """A long message takes most of the window, the next one does not fit."""
    app.key("ctrl+n")
    wait("an empty chat", lambda: not app.rows())
    app.send("Remember these numbers. " + " ".join(str(n) for n in range(1000, 1560)))
    wait("two messages", lambda: len(app.rows()) == 2)
    app.wait_status("writing", 240)
    app.stop()
    app.wait_answer(60)


def chat_more(app):
    """The chat from before, read again, with an answer that grows."""
    open_chat(app, "Why is the sky")
    app.send("Thanks. Now tell me a long story about the colour of the sky on Mars.")
    app.wait_status("writing", 120)
    time.sleep(0.5)


def type_too_much(app):
    """The long message is read again, so that the cells are full of it; then one more."""
    open_chat(app, "Remember these")
    app.click("Try again")
    app.wait_status("writing", 240)
    app.stop()
    app.wait_answer(60)
    app.type("And these as well: " + " ".join(str(n) for n in range(2000, 2600)))
    app.wait_status("too many", 60)
    app.send_button.click()
    app.need("alert")


def show_error(app):
    wait("the sentence about the file", lambda: app.find("alert", contains="bad-model.gguf"))


def all_states(camera):
    camera.every("empty", lambda app: wait("the measure", lambda: app.find(contains="runs on every")))
    chat(camera)
    camera.every("chatting", chat_more)
    camera.start(1600, 1000, 1)
    wait("the model to be open", lambda: "cells are used" in camera.app.meter())
    say("filling the window")
    fill(camera.app)
    camera.app.close()
    camera.every("full", type_too_much)
    errors(camera)


def errors(camera):
    bad = os.path.join(camera.app.home, "bad-model.gguf")
    with open(MODEL, "rb") as source, open(bad, "wb") as target:
        target.write(source.read(1 << 20))
    for style, scheme in STYLES:
        for width, height in SIZES:
            camera.app.write_settings({"color-scheme": scheme})
            camera.app.start(bad, width=width, height=height)
            show_error(camera.app)
            camera.shoot("error", width, height, style)
            camera.app.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--app", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("what", nargs="?", choices=("all", "demo"), default="all")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    camera = Camera(os.path.abspath(args.app), args.out)
    try:
        chat(camera) if args.what == "demo" else all_states(camera)
        return 0
    except Failed as error:
        say("failed: %s" % error)
        camera.app.shot(os.path.join(args.out, "failed.png"))
        return 1
    finally:
        remove_app(camera.app)


def run_in_session():
    with open_session(os.path.abspath(__file__), *sys.argv[1:]) as process:
        return process.wait()


if __name__ == "__main__":
    sys.exit(main() if is_inside() else run_in_session())
