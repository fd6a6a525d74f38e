#!/usr/bin/env bash
# The core alone, in an environment of its own: how large it is, how quickly it starts, what works, and what it says
# where an extra is needed; then the demo, which needs neither pyarrow nor scipy. Part of .ci/run; PYTHON names another Python.
set -euo pipefail
cd "$(dirname "$0")/.."
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
root=$PWD
"${PYTHON:-python3}" -m venv "$home/venv"
"$home/venv/bin/python" -m pip install -q --disable-pip-version-check "$root"
cd "$home"
bin=$home/venv/bin

fail() { echo "core install: $*" >&2; exit 1; }

size=$(du -sm venv | cut -f1)
echo "core install: $size MB, $("$bin/python" -m pip list --format freeze | wc -l) packages; the largest, in MB:" \
    $(du -sm venv/lib/python3*/site-packages/* | sort -rn | head -6 | awk '{ sub(".*/", "", $2); print $2, $1 }')
[ "$size" -lt 350 ] || fail "$size MB, and 350 are the limit"

# The best of five starts, since a machine may be busy; an empty Python tells how busy it is.
"$bin/python" - "$bin/frontrank" <<'END'
import subprocess, sys, time
def best(*command):
    taken = []
    for _ in range(5):
        begun = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        taken.append(time.perf_counter() - begun)
    return min(taken)
empty, ours = best(sys.executable, "-c", "pass"), best(sys.argv[1], "--help")
print(f"core install: frontrank --help in {ours:.2f} s; an empty Python in {empty:.2f} s")
if ours > max(0.3, 12 * empty):
    sys.exit("core install: --help takes more than 0.3 s, and more than 12 starts of an empty Python")
END

printf '0 1\n0 2\n1 3\n2 3\n3 0\n' > edges.txt
"$bin/frontrank" simulate edges.txt --ordering bfs --ordering fpr > table
grep -q fpr table || fail "simulate printed no line for fpr"
"$bin/frontrank" orderings > /dev/null
"$bin/frontrank" crawl --help > /dev/null
"$bin/python" - <<'END'
import sys
import frontrank as fr

with fr.Crawl(fr.parse("fpr"), "crawl") as crawl:
    crawl.seed(["http://a.example/"])
    (page,) = crawl.take(1)
    crawl.fetched(page, ["http://b.example/"])
with fr.Crawl.recover("crawl") as crawl:
    assert crawl.take(1) == ["http://b.example/"]
heavy = {"scrapy", "pyarrow", "matplotlib", "sklearn", "scipy", "jinja2"} & set(sys.modules)
assert not heavy, heavy
END

says() { # EXTRA ARGUMENTS...: refused with code 2 and the line that installs the extra
    extra=$1; shift
    code=0; said=$("$bin/frontrank" "$@" 2>&1) || code=$?
    [ "$code" = 2 ] || fail "frontrank $* ended with $code: $said"
    case $said in
        *"$bin/python -m pip install '$root[$extra]'") [ "$(wc -l <<< "$said")" = 1 ] || fail "frontrank $* said more than a sentence: $said" ;;
        *) fail "frontrank $* did not name the extra $extra: $said" ;;
    esac
}
echo computer > asked.txt
says crawl crawl http://example.org/ --out new
says crawl demo
says report report edges.txt
says report simulate edges.txt --ordering bfs --out new
says search evaluate synthetic:pages=200,seed=1 --queries asked.txt --judge same
[ ! -e new ] || fail "something was half-written"
"$bin/python" -m pip install -q --disable-pip-version-check "$root[crawl,report]"
size=$(du -sm venv | cut -f1)
echo "core install: $size MB for the demo"
[ "$size" -lt 470 ] || fail "$size MB for the demo, and 470 are the limit"
[ ! -e "$(echo venv/lib/python3*/site-packages/)pyarrow" ] && [ ! -e "$(echo venv/lib/python3*/site-packages/)scipy" ] || fail "the demo brings pyarrow or scipy"
"$bin/frontrank" demo --json > demo.json
grep -q surf frontrank-demo/curves.csv || fail "the demo wrote no curves"
echo "core install: orderings, simulate, Crawl and the sentences for what is missing: as they should be"
