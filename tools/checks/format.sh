#!/bin/bash
# Names every tracked C and C++ file that clang-format 14 would lay out otherwise.
set -euo pipefail
formatter="$(command -v clang-format-14 || command -v clang-format)"
mapfile -d '' files < <(git ls-files -z -- '*.cpp' '*.hpp' '*.c' '*.h')
bad=()
for file in "${files[@]}"; do
    [ -f "$file" ] || continue
    "$formatter" --dry-run -Werror "$file" 2>/dev/null || bad+=("$file")
done
echo "${#files[@]} files, ${#bad[@]} with another layout"
[ ${#bad[@]} -eq 0 ] || { printf '  %s\n' "${bad[@]}"; exit 1; }
