#!/bin/bash
# Names every tracked C and C++ file that clang-format 14 would lay out otherwise.
set -euo pipefail
formatter="$(command -v clang-format-14 || command -v clang-format)"
mapfile -d '' files < <(git ls-files -z -- '*.cpp' '*.hpp' '*.c' '*.h')
here=()
for file in "${files[@]}"; do [ ! -f "$file" ] || here+=("$file"); done
# One call for all of them: a call a file takes a minute on a busy machine.
status=0
said="$("$formatter" --dry-run -Werror "${here[@]}" 2>&1)" || status=$?
mapfile -t bad < <(sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: error:.*/\1/p' <<<"$said" | sort -u)
echo "${#here[@]} files, ${#bad[@]} with another layout"
[ $status -eq 0 ] || { printf '  %s\n' "${bad[@]:-$said}"; exit 1; }
