#!/usr/bin/env python3
"""Runs the comparisons of this folder with independent implementations, in the environment that holds
llama.cpp, and closes with a line of counts. Each names the packages that it needs itself, prints the
seed that it drew, and takes it again: ./dev test --differ templates --seed 7"""

import argparse
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "bench"))
import peers  # noqa: E402


def read_packages(script):
    with open(script, encoding="utf-8") as file:
        return re.findall(r"\S+==\S+", re.search(r"^Packages:(.*)$", file.read(), re.M).group(1))


def install(build, scripts):
    if not build.is_there():
        build.make()
    packages = {package for script in scripts for package in read_packages(script)} - {build.package}
    if packages:
        build.run_pip("install", "--quiet", *sorted(packages))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="build folder")
    parser.add_argument("--work", required=True, help="folder of the environment")
    args, rest = parser.parse_known_args()
    # The name of a comparison comes first; what follows is for the comparisons themselves.
    name = rest.pop(0) if rest and not rest[0].startswith("-") else ""
    scripts = [path for path in sorted(glob.glob(os.path.join(HERE, "*.py")))
               if path != os.path.abspath(__file__) and name in os.path.basename(path)]
    build = peers.list_builds(args.work)[0]
    install(build, scripts)
    failed = 0
    for script in scripts:
        done = subprocess.run([build.python, script, "--build", args.build, *rest])
        failed += done.returncode != 0
    print(f"{len(scripts) - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0 or not scripts)


if __name__ == "__main__":
    main()
