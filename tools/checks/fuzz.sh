#!/bin/bash
# fuzz.sh BUILD_DIR SECONDS [TARGET…]: lets each libFuzzer target of a -Dfuzz=enabled build look for new inputs for so long,
# starting from its corpus in tests/fuzz/corpus/. New inputs go to BUILD_DIR/corpus/, what broke a target to BUILD_DIR.
set -euo pipefail
build="$1"
seconds="$2"
shift 2
[ $# -gt 0 ] || set -- "$build"/tests/fuzz/*_fuzz
status=0
for target; do
    [ -x "$target" ] || continue
    name="$(basename "$target" _fuzz)"
    mkdir -p "$build/corpus/$name"
    known="tests/fuzz/corpus/$name"
    echo "$name: $seconds s"
    "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
        -artifact_prefix="$build/$name-" "$build/corpus/$name" $([ -d "$known" ] && echo "$known") || status=1
done
exit $status
