#!/usr/bin/env bash
# What a release consists of: wheel and source distribution, built into dist/, checked, and installed into empty environments of
# the Pythons named below, as far as this machine has them. Part of .ci/run.
set -euo pipefail
cd "$(dirname "$0")/.."
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
root=$PWD

fail() { echo "dist: $*" >&2; exit 1; }

"${PYTHON:-python3}" -m venv "$home/tools"
"$home/tools/bin/python" -m pip install -q --disable-pip-version-check build twine
rm -rf dist
"$home/tools/bin/python" -m build > "$home/log" 2>&1 || { cat "$home/log" >&2; fail "it cannot be built"; }
"$home/tools/bin/twine" check --strict dist/* > "$home/log" || { cat "$home/log" >&2; fail "PyPI would refuse it"; }
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' src/frontrank/__init__.py)
wheel=$root/dist/frontrank-$version-py3-none-any.whl source=$root/dist/frontrank-$version.tar.gz
[ -f "$wheel" ] && [ -f "$source" ] || fail "dist/ is not of version $version: $(ls dist)"

installed() {  # PYTHON FILE: into an environment of its own, and used from an empty folder
    local folder
    folder=$(mktemp -d -p "$home")
    "$1" -m venv "$folder/venv"
    "$folder/venv/bin/python" -m pip install -q --disable-pip-version-check "$2"
    cd "$folder"
    venv/bin/frontrank --version | grep -qF "$version" || fail "$2 does not say that it is $version"
    venv/bin/frontrank simulate synthetic:pages=500,seed=7 --ordering bfs --ordering surf > table
    grep -q '^surf' table || fail "$2: no row for surf"
    cd "$root"
    echo "dist: ${2##*/} works on $("$1" --version)"
}

for series in 3.11 3.13; do
    python=$(ls -d "$HOME/.pyenv/versions/$series".*/bin/python 2> /dev/null | tail -1 || true)
    python=${python:-python$series}
    if ! "$python" -c pass 2> /dev/null; then
        echo "dist: skipped on Python $series, which is not on this machine"
        continue
    fi
    installed "$python" "$wheel"
    installed "$python" "$source"
done
