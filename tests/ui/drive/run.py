"""Runs a program of this folder with a session bus and a screen of its own, and passes its TAP on.

Services that the bus starts write to the same output; what is no TAP becomes a comment.
"""

import re
import subprocess
import sys

SCREEN = "-screen 0 1700x1100x24"
TAP = re.compile(r"(not )?ok\b|1\.\.\d|#|Bail out!")

command = ["dbus-run-session", "--", "xvfb-run", "-a", "-s", SCREEN, sys.executable, *sys.argv[1:]]
with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as run:
    for line in run.stdout:
        print(line if TAP.match(line) else "# " + line, end="", flush=True)
sys.exit(run.returncode)
