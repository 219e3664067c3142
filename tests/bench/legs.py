"""Programs that measure when told to, and what disturbs them."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TICK = os.sysconf("SC_CLK_TCK")
# A block that was disturbed by more than this says little.
MAX_PROBE_CHANGE, MAX_STEAL, MAX_FOREIGN = 0.15, 0.01, 0.2


class Leg:
    """A process that answers each line of its input with a line of JSON."""

    running = []

    def __init__(self, command, threads, has_card=True):
        env = dict(os.environ, OMP_NUM_THREADS=str(threads))
        cpus = sorted(os.sched_getaffinity(0))[:threads]
        self.complaints = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            command, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.complaints, preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        Leg.running.append(self)
        self.command = command
        self.card = self.read() if has_card else None

    def read(self):
        for line in self.process.stdout:
            # The session that a window needs writes lines of its own.
            if line.startswith("{"):
                return json.loads(line)
        status = self.process.wait()
        self.complaints.seek(0)
        why = self.complaints.read().strip().rsplit("\n", 1)[-1]
        raise RuntimeError(why or f"{' '.join(self.command)} ended with {status}")

    def ask(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        if self not in Leg.running:
            return
        Leg.running.remove(self)
        self.process.stdin.close()
        self.process.stdout.close()
        self.complaints.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    @staticmethod
    def close_all():
        for leg in list(Leg.running):
            leg.close()


class BusyLoop:
    """Another program that wants a whole processor."""

    def __init__(self, threads):
        cpus = sorted(os.sched_getaffinity(0))[:threads]
        self.process = subprocess.Popen([sys.executable, "-c", "while True: pass"],
                                        preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        time.sleep(0.3)

    def close(self):
        self.process.kill()
        self.process.wait()


def read_machine_ticks():
    """(busy, stolen) of all processors since the machine was started."""
    with open("/proc/stat", encoding="ascii") as stat:
        user, nice, system, _, _, irq, softirq, steal = map(int, stat.readline().split()[1:9])
    return user + nice + system + irq + softirq, steal


def read_own_seconds():
    """Of this program and all that it has started."""
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    for leg in Leg.running:
        with open(f"/proc/{leg.process.pid}/stat", encoding="utf-8") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        total += (int(fields[11]) + int(fields[12])) / TICK
    return total


class Watch:
    """Over one block: what others took of the machine, and how its roofs moved."""

    def __init__(self, probe):
        self.probe = probe
        self.before = probe.ask("")
        self.begin = time.monotonic()
        self.ticks, self.own = read_machine_ticks(), read_own_seconds()

    def end(self):
        seconds = time.monotonic() - self.begin
        ticks, own = read_machine_ticks(), read_own_seconds()
        after = self.probe.ask("")
        result = {
            "before": self.before, "after": after, "seconds": round(seconds, 2),
            "steal": round((ticks[1] - self.ticks[1]) / TICK / seconds, 4),
            "foreign": round(max(0, (ticks[0] - self.ticks[0]) / TICK - (own - self.own)) / seconds, 3),
        }
        change = max(abs(after[key] - value) / value for key, value in self.before.items() if value)
        reasons = [f"roofs moved by {change:.0%}"] if change > MAX_PROBE_CHANGE else []
        reasons += [f"{result['steal']:.1%} stolen"] if result["steal"] > MAX_STEAL else []
        reasons += [f"others took {result['foreign']:.2f}"] if result["foreign"] > MAX_FOREIGN else []
        result["disturbed"] = ", ".join(reasons)
        return result
