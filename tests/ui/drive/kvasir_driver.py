"""Drives the real window through the accessibility tree, as a person with a screen reader would.

Run under dbus-run-session and Xvfb: start() launches the app with folders of its own, so that
nothing of the person who runs the tests is read or written.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

TIMEOUT = 30.0


class Failed(Exception):
    pass


def wait(what, condition, timeout=TIMEOUT, step=0.05):
    """Polls until @condition gives something true, and returns it."""
    end = time.monotonic() + timeout
    while True:
        # News of the tree come through the main loop that nobody else runs here.
        while GLib.MainContext.default().iteration(False):
            pass
        try:
            value = condition()
        except Exception:  # the tree changes under the feet of who walks it
            value = None
        if value:
            return value
        if time.monotonic() > end:
            raise Failed("timed out after %.0f s: %s" % (timeout, what))
        time.sleep(step)


class Node:
    """One accessible object."""

    def __init__(self, raw):
        self.raw = raw

    def __bool__(self):
        return self.raw is not None

    @property
    def name(self):
        """Buttons that libadwaita makes say their label twice, once with its mnemonic."""
        name = self.raw.get_name() or ""
        words = name.replace("_", "", 1) if name.startswith("_") else name
        half = len(words) // 2
        return words[:half] if half and words[:half] == words[half + 1:] else name

    @property
    def role(self):
        return self.raw.get_role_name()

    @property
    def description(self):
        return self.raw.get_description() or ""

    def has_state(self, state):
        return self.raw.get_state_set().contains(state)

    @property
    def visible(self):
        return self.has_state(Atspi.StateType.VISIBLE)

    @property
    def showing(self):
        """On screen: GTK 4.8 sets no SHOWING, but what has no place has no size."""
        if not self.visible:
            return False
        if self.raw.get_component_iface() is None:
            return True
        area = self.raw.get_component_iface().get_extents(Atspi.CoordType.WINDOW)
        return area.width > 0 and area.height > 0

    @property
    def sensitive(self):
        return self.has_state(Atspi.StateType.SENSITIVE)

    def children(self):
        out = []
        for i in range(self.raw.get_child_count()):
            child = self.raw.get_child_at_index(i)
            if child is not None:
                out.append(Node(child))
        return out

    def walk(self):
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            try:
                stack.extend(n for n in reversed(node.children()) if n.visible)
            except Exception:
                pass

    def find_all(self, role=None, name=None, contains=None, showing=True):
        found = []
        for node in self.walk():
            try:
                if role is not None and node.role != role:
                    continue
                if name is not None and node.name != name:
                    continue
                if contains is not None and contains not in node.name:
                    continue
                if showing and not node.showing:
                    continue
                found.append(node)
            except Exception:
                continue
        return found

    def find(self, role=None, name=None, contains=None, showing=True):
        found = self.find_all(role, name, contains, showing)
        return found[0] if found else None

    def click(self):
        action = self.raw.get_action_iface()
        if action is None or action.get_n_actions() == 0:
            raise Failed("nothing to click at “%s” (%s)" % (self.name, self.role))
        action.do_action(0)

    def get_text(self):
        text = self.raw.get_text_iface()
        return text.get_text(0, text.get_character_count()) if text else self.name

    def set_text(self, value):
        if not self.raw.get_editable_text_iface().set_text_contents(value):
            raise Failed("“%s” takes no text" % self.name)

    def dump(self, depth=0, limit=12):
        lines = ["%s%s “%s”%s" % ("  " * depth, self.role, self.name[:60],
                                  "" if self.showing else " (hidden)")]
        if depth < limit:
            for child in self.children():
                lines.append(child.dump(depth + 1, limit))
        return "\n".join(lines)


class App:
    """A running Kvasir and its window."""

    def __init__(self, program, home, log):
        self.program = program
        self.home = home
        self.log = log
        self.process = None
        self.button = None
        self.line = None

    @property
    def models(self):
        return os.path.join(self.home, "data", "kvasir", "models")

    @property
    def history(self):
        return os.path.join(self.home, "data", "kvasir", "history.db")

    def environment(self, language=None):
        env = dict(os.environ)
        for name in ("GTK_A11Y", "GTK_THEME", "WAYLAND_DISPLAY"):
            env.pop(name, None)
        env.update(
            XDG_DATA_HOME=os.path.join(self.home, "data"),
            XDG_CONFIG_HOME=os.path.join(self.home, "config"),
            XDG_CACHE_HOME=os.path.join(self.home, "cache"),
            XDG_STATE_HOME=os.path.join(self.home, "state"),
            GDK_BACKEND="x11",
            GSK_RENDERER="cairo",
            # A GL driver that was only looked at leaks at its unloading.
            GDK_DEBUG="gl-disable",
            GTK_USE_PORTAL="0",
            NO_AT_BRIDGE="0",
            GSETTINGS_BACKEND="memory",
            G_DEBUG=os.environ.get("KVASIR_G_DEBUG", "fatal-criticals"),
            LC_ALL="C.UTF-8",
        )
        env["LANGUAGE"] = language or "en"
        return env

    def start(self, *args, language=None, width=None, height=None, settings=None):
        values = dict(settings or {})
        if width:
            values["window-width"] = width
        if height:
            values["window-height"] = height
        if values:
            self.write_settings(values)
        self.button = self.line = None
        self.process = subprocess.Popen(
            [self.program, *args],
            env=self.environment(language),
            stdout=self.log,
            stderr=subprocess.STDOUT,
        )
        wait("the window to open", lambda: self.window)
        return self

    def write_settings(self, values):
        path = os.path.join(self.home, "config", "kvasir", "settings.ini")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        kept = {}
        if os.path.exists(path):
            with open(path) as file:
                kept = dict(line.strip().split("=", 1) for line in file if "=" in line)
        kept.update({key: str(value) for key, value in values.items()})
        with open(path, "w") as file:
            file.write("[kvasir]\n")
            file.writelines("%s=%s\n" % item for item in kept.items())

    @property
    def root(self):
        desktop = Atspi.get_desktop(0)
        desktop.clear_cache()
        for i in range(desktop.get_child_count()):
            app = desktop.get_child_at_index(i)
            if app is not None and app.get_process_id() == self.process.pid:
                return Node(app)
        return None

    @property
    def window(self):
        if self.process.poll() is not None:
            raise Failed("the app ended with status %s" % self.process.returncode)
        root = self.root
        if root is None:
            return None
        for child in root.children():
            if child.role == "frame" and child.visible:
                return child
        return None

    def find(self, role=None, name=None, contains=None):
        return self.root.find(role, name, contains)

    def need(self, role=None, name=None, contains=None, timeout=TIMEOUT):
        what = "%s “%s”" % (role or "object", name or contains)
        return wait(what, lambda: self.find(role, name, contains), timeout)

    def click(self, name, role=None, contains=None, timeout=TIMEOUT):
        node = wait(
            "“%s” to be there and sensitive" % (name or contains),
            lambda: next(
                (n for n in self.root.find_all(role, name, contains)
                 if n.raw.get_action_iface() is not None and n.sensitive), None),
            timeout,
        )
        node.click()
        return node

    # ---- what people do in this window

    @property
    def composer(self):
        return self.need("text", "Message")

    def type(self, text):
        self.composer.set_text(text)

    @property
    def send_button(self):
        """Found once: while text streams, each look at the tree waits for a frame."""
        if self.button is None:
            self.button = self.need("push button", "Send")
        self.button.raw.clear_cache()
        return self.button

    def send(self, text):
        self.type(text)
        wait("Send to be sensitive", lambda: self.send_button.sensitive)
        self.send_button.click()

    def rows(self):
        conversation = self.find("list", "Conversation")
        return conversation.children() if conversation else []

    def texts(self, row):
        return [n.name for n in row.walk() if n.role == "label" and n.name and n.showing]

    def is_writing(self):
        return self.send_button.name == "Stop"

    def stop(self):
        self.send_button.click()

    def wait_answer(self, timeout=60.0):
        """Waits until nothing is written any more."""
        wait("the answer to end", lambda: not self.is_writing(), timeout)

    def wait_writing(self, timeout=60.0):
        wait("an answer to be written", self.is_writing, timeout)

    def wait_status(self, part, timeout=TIMEOUT):
        """Waits until the line under the draft holds @part, and returns it."""
        if self.line is None:
            self.line = self.need("status bar")

        def look():
            self.line.raw.clear_cache()
            return self.line.name if part in self.line.name else None

        return wait("“%s” under the draft" % part, look, timeout)

    def meter(self):
        return self.need("push button", contains="Memory:").name

    def key(self, *keys):
        subprocess.run(["xdotool", "key", "--clearmodifiers", *keys], check=True)
        time.sleep(0.1)

    def press(self, node, x=None):
        """Clicks into the middle of @node with the pointer, as focus cannot be moved otherwise."""
        area = node.raw.get_component_iface().get_extents(Atspi.CoordType.WINDOW)
        subprocess.run(["xdotool", "mousemove", str(area.x + (x or area.width // 2)),
                        str(area.y + min(area.height // 2, 30)), "click", "1"], check=True)
        time.sleep(0.15)
        # Away from everything that would show a tooltip.
        subprocess.run(["xdotool", "mousemove", "1695", "1095"], check=True)

    def resize(self, width, height):
        window = subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--pid", str(self.process.pid)],
            capture_output=True, text=True).stdout.split()
        for each in window[-1:]:
            subprocess.run(["xdotool", "windowsize", "--sync", each, str(width), str(height)],
                           check=True, timeout=10)
        time.sleep(0.4)

    def shot(self, path, width=None, height=None):
        """The screen, or its corner of that size; windows open there without a manager."""
        corner = ["-crop", "%dx%d+0+0" % (width, height), "+repage"] if width else []
        subprocess.run(["import", "-window", "root", *corner, path], check=True)

    # ---- ends

    def close(self, timeout=5.0):
        """Closes the window and returns how long the app took to end."""
        start = time.monotonic()
        self.key("ctrl+q")
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed("the app did not end within %.0f s" % timeout)
        if self.process.returncode != 0:
            raise Failed("the app ended with status %d" % self.process.returncode)
        return time.monotonic() - start

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()


def new_app(program, models=(), log=None):
    """An app with empty folders and copies of @models in its own model folder."""
    home = tempfile.mkdtemp(prefix="kvasir-ui-")
    app = App(program, home, log or subprocess.DEVNULL)
    os.makedirs(app.models)
    for model in models:
        shutil.copy(model, app.models)
    return app


def remove_app(app):
    app.kill()
    shutil.rmtree(app.home, ignore_errors=True)
