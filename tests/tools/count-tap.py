#!/usr/bin/env python3
"""Counts the test cases in meson's JSON logs and closes with the line that CI reads.

meson counts a skipped subtest as passed, so the counts come from the TAP text itself. A program
that died or printed no TAP counts as one failure more.
"""

import json
import re
import sys

LINE = re.compile(r"^(not )?ok\b([^#]*)(#\s*(SKIP|TODO))?", re.I)


def count(log):
    passed = failed = skipped = 0
    with open(log, encoding="utf-8") as lines:
        for line in lines:
            test = json.loads(line)
            bad = 0
            seen = 0
            for text in (test.get("stdout") or "").splitlines():
                match = LINE.match(text)
                if not match:
                    continue
                seen += 1
                if match.group(4) and match.group(4).upper() == "SKIP":
                    skipped += 1
                elif match.group(1):
                    bad += 1
                else:
                    passed += 1
            if test["result"] == "SKIP" and not seen:
                skipped += 1
            elif test["result"] not in ("OK", "SKIP") and not bad:
                bad = 1
                print(f"{test['name']}: {test['result']}")
            elif not seen and test["result"] == "OK":
                passed += 1  # a checker that speaks by its exit status
            failed += bad
    return passed, failed, skipped


def main(logs):
    total = [0, 0, 0]
    for log in logs:
        try:
            counts = count(log)
        except OSError as error:
            print(error)
            counts = (0, 1, 0)
        total = [a + b for a, b in zip(total, counts)]
    print("%d passed, %d failed, %d skipped" % tuple(total))
    return 1 if total[1] or not total[0] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
