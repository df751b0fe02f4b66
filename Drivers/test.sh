#!/bin/sh
# Runs the tests of the drivers with a program: test.sh PROGRAM [python|node|java|go|bench …]
set -eu
cd "$(dirname "$0")"
WIRETAPE=$(readlink -f "$1")
export WIRETAPE
shift
[ $# -gt 0 ] || set -- python node java go

venv=$(cd .. && pwd)/.build/drivers-python
python() {
    if [ ! -x $venv/bin/pytest ]; then
        python3 -m venv $venv
        $venv/bin/pip install -q -r python/requirements.txt
    fi
    $venv/bin/pip install -q --no-deps --no-build-isolation --force-reinstall ./python
    $venv/bin/python "$@"
}

for driver; do
    echo "== $driver"
    case $driver in
        python) python -m pytest -q -p no:cacheprovider -c python/pyproject.toml --rootdir python python/tests ;;
        node) (cd node && node --test test/) ;;
        java) sh java/test.sh ;;
        go) (cd go && go vet ./... && go test -count=1 ./...) ;;
        bench) python python/benchmark.py ;;
        *) echo "usage: test.sh PROGRAM [python|node|java|go|bench …]" >&2; exit 64 ;;
    esac
done
