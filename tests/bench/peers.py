"""The other programs: environments with their Python packages, built for this processor."""

import glob
import os
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LLAMA_PACKAGE = "llama-cpp-python==0.3.36"
IK_PACKAGE = "ik-llama-cpp-python==0.1.5"
# Code for these instruction sets crashes or crawls in llama.cpp on some processors that have them.
DOUBTFUL = {"amx_tile": "-mno-amx-tile", "amx_int8": "-mno-amx-int8", "amx_bf16": "-mno-amx-bf16",
            "avx512_fp16": "-mno-avx512fp16"}


def read_cpu():
    """(name, set of flags) of the first processor."""
    name, flags = "unknown", set()
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                name = value.strip()
            if key.strip() == "flags":
                flags = set(value.split())
                break
    return name, flags


class Build:
    def __init__(self, kind, label, folder, package, module, cmake):
        self.kind, self.label, self.package, self.module = kind, label, package, module
        self.cmake = cmake
        self.venv = folder
        self.python = os.path.join(folder, "bin", "python")

    def is_there(self):
        probe = [self.python, "-c", f"import {self.module}"]
        return os.path.exists(self.python) and subprocess.run(
            probe, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def run_pip(self, *words):
        subprocess.run([self.python, "-m", "pip", *words, "--disable-pip-version-check"],
                       env=dict(os.environ, CMAKE_ARGS=self.cmake), check=True)

    def make(self):
        print(f"Building {self.package} in {self.venv}; this takes many minutes.", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", self.venv], check=True)
        self.install()

    def install(self):
        self.run_pip("install", "--no-binary", self.package.split("==")[0], self.package)

    def make_command(self, model, options):
        return [self.python, os.path.join(HERE, "peer-leg.py"), model, "--peer", self.kind, *options]


class IkBuild(Build):
    """Its source package lacks a file that only its quantising program needs, which is left out."""

    def install(self):
        with tempfile.TemporaryDirectory() as folder:
            self.run_pip("download", "--no-deps", "--no-binary", ":all:", "--dest", folder, self.package)
            with tarfile.open(glob.glob(os.path.join(folder, "*.tar.gz"))[0]) as package:
                package.extractall(folder)
            source = glob.glob(os.path.join(folder, "*", "CMakeLists.txt"))[0]
            with open(source, encoding="utf-8") as handle:
                parts = handle.read().split("\n\n")
            with open(source, "w", encoding="utf-8") as handle:
                handle.write("\n\n".join(part for part in parts if "quantize" not in part))
            self.run_pip("install", "-C", "build.targets=llama;ggml", os.path.dirname(source))


def list_builds(folder):
    """Those that differ on this processor."""
    off = " ".join(DOUBTFUL.values())
    native = "-DGGML_NATIVE=ON"
    builds = [
        Build("llama", "llama.cpp", os.path.join(folder, "peer"), LLAMA_PACKAGE, "llama_cpp",
              f"{native} -DLLAVA_BUILD=OFF -DCMAKE_C_FLAGS='{off}' -DCMAKE_CXX_FLAGS='{off}'"),
        IkBuild("ik", "ik_llama.cpp", os.path.join(folder, "peer-ik"), IK_PACKAGE, "ik_llama_cpp",
                f"{native} -DGGML_IQK_FA_ALL_QUANTS=OFF -DCMAKE_INSTALL_RPATH=$ORIGIN"),
    ]
    if read_cpu()[1] & set(DOUBTFUL):
        builds.insert(1, Build("llama", "llama.cpp", os.path.join(folder, "peer-all"), LLAMA_PACKAGE,
                               "llama_cpp", f"{native} -DLLAVA_BUILD=OFF"))
    return builds


def list_settings(build, cache_type):
    """All that may suit a peer best."""
    # A quantised cache of values needs flash attention.
    attention = [1] if cache_type != "f16" else [0, 1]
    repacks = [0, 1] if build.kind == "ik" else [0]
    return [{"build": os.path.basename(build.venv), "flash-attn": fa, "repack": repack}
            for repack in repacks for fa in attention]
