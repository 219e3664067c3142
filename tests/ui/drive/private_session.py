"""A session bus, an accessibility bus and a screen that nobody else uses.

The accessibility bus puts its socket into XDG_RUNTIME_DIR, and without one into the cache of the
person: two runs at the same time would take it away from each other.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile

SCREEN = "-screen 0 1700x1100x24"
MARK = "KVASIR_PRIVATE_SESSION"


def is_inside():
    return MARK in os.environ


@contextlib.contextmanager
def open_session(program, *args, **options):
    """Runs a program, also one in Python, in such a session; gives the process."""
    folder = tempfile.mkdtemp(prefix="kvasir-session-")
    env = dict(os.environ, XDG_RUNTIME_DIR=folder, **{MARK: "1"})
    python = [sys.executable] if program.endswith(".py") else []
    command = ["dbus-run-session", "--", "xvfb-run", "-a", "-s", SCREEN,
               *python, program, *args]
    try:
        with subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL, **options) as process:
            yield process
    finally:
        shutil.rmtree(folder, ignore_errors=True)
