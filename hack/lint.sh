#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Reads the whole tree without running it. A check whose tool is missing is skipped. What clang-tidy
# and cppcheck found good is remembered by content under build/lint-cache.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TXT'
usage: hack/lint.sh [--build-dir DIR] [CHECK...]

Checks (default: all):
  format     clang-format over all C files
  banned     functions that the project does without (hack/banned.sh)
  headers    each header compiles alone
  lengths    .c up to 600 lines, .h up to 150, functions up to 60
  spdx       the licence line at the top of each source file
  words      no notes to self left in the tree
  cppcheck   static analysis
  tidy       clang-tidy, by the compile commands of DIR (build/release; configured if absent)
  shellcheck all shell scripts
  gofmt      all Go files

The last line is "lint: N passed, N failed, N skipped"; the exit status is 0 if nothing failed.
TXT
}

checks=(format banned headers lengths spdx words cppcheck tidy shellcheck gofmt)
build=build/release
wanted=()
while [ $# -gt 0 ]; do
    case "$1" in
    -h | --help) usage; exit 0 ;;
    --build-dir) build=${2:?--build-dir needs a directory}; shift 2 ;;
    *)
        case " ${checks[*]} " in *" $1 "*) ;; *)
            echo "lint.sh: no check '$1'; checks: ${checks[*]}" >&2
            exit 2 ;;
        esac
        wanted+=("$1"); shift ;;
    esac
done
[ "${#wanted[@]}" -gt 0 ] || wanted=("${checks[@]}")
cache=build/lint-cache
mkdir -p "$cache"

# Files of the tree by pattern, without what git ignores; in a tree without git, without build/.
files() {
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git ls-files -co --exclude-standard -- "$@" | sort -u
    else
        local pattern
        for pattern in "$@"; do
            find . -path ./build -prune -o -type f -name "${pattern##*/}" -print
        done | sed 's|^\./||' | sort -u
    fi | while IFS= read -r file; do [ ! -f "$file" ] || printf '%s\n' "$file"; done
}

mapfile -t c_files < <(files '*.c' '*.h')
mapfile -t headers < <(files '*.h')
mapfile -t libraries < <(sed -n 's/^ *pkg_check_modules([a-z]* REQUIRED IMPORTED_TARGET \([^>=)]*\).*/\1/p' cmake/dependencies.cmake)

# Preprocessor flags that any file of the tree compiles with.
tree_flags() {
    printf '%s\n' -std=gnu17 -D_GNU_SOURCE '-DSANDBOXRUN_VERSION="0"' -I.
    local library
    for library in "${libraries[@]}"; do
        pkg-config --cflags-only-I "$library" 2>/dev/null | tr ' ' '\n' | grep . || true
    done
}

# The checks: status 0 passed, 1 failed, 77 skipped (the tool's name on the last line).
need() {
    command -v "$1" >/dev/null 2>&1 || { echo "$1 is not installed"; exit 77; }
}

check_format() {
    need clang-format
    clang-format --dry-run "${c_files[@]}" 2>"$cache/format.txt"
    # One line for a file is enough: the remedy is the same for all places in it.
    ! sed -n 's/^\([^:]*\):\([0-9]*\):.*\[-Wclang-format-violations\]$/\1:\2: run clang-format -i/p' \
        "$cache/format.txt" | sort -t : -k 1,1 -k 2,2n -s | sort -t : -k 1,1 -u | grep .
}

check_banned() {
    need perl
    hack/banned.sh "${c_files[@]}"
}

check_headers() {
    need cc
    need pkg-config
    local flags header bad=0
    mapfile -t flags < <(tree_flags)
    for header in "${headers[@]}"; do
        # -x c from stdin: as the main file, a header would draw a warning about #pragma once.
        printf '#include "%s"\n' "$header" |
            cc -fsyntax-only -Wall -Wextra -Werror "${flags[@]}" -I"$(dirname "$header")" -x c - || {
            echo "$header does not compile alone"
            bad=1
        }
    done
    return $bad
}

# By the form that clang-format gives: a function's braces stand alone in the first column.
check_lengths() {
    awk '
        function done_with(file, lines) {
            max = file ~ /\.h$/ ? 150 : 600
            if (lines > max) { printf "%s: %d lines, more than %d\n", file, lines, max; bad = 1 }
        }
        FNR == 1 && NR > 1 { done_with(last, count) }
        { last = FILENAME; count = FNR }
        /^{$/ { open_at = FNR }
        /^}$/ && open_at {
            if (FNR - open_at + 1 > 60) {
                printf "%s:%d: a function of %d lines, more than 60\n", FILENAME, open_at, FNR - open_at + 1
                bad = 1
            }
            open_at = 0
        }
        END { done_with(last, count); exit bad }
    ' "${c_files[@]}"
}

check_spdx() {
    local file bad=0 line='SPDX-License-Identifier: Apache-2.0'
    for file in "${c_files[@]}"; do
        [ "$(head -n 1 "$file")" = "/* $line */" ] || { echo "$file: first line"; bad=1; }
    done
    while IFS= read -r file; do
        head -n 2 "$file" | grep -q "^[#/* ]*$line" || { echo "$file: no line \"$line\""; bad=1; }
    done < <(files '*.sh' '*.py' '*.go' '*.S' '*.cmake' '*CMakeLists.txt' '*Dockerfile*')
    return $bad
}

check_words() {
    local words='TO''DO|FIX''ME|XX''X|HA''CK'
    mapfile -t texts < <(files '*.c' '*.h' '*.S' '*.sh' '*.py' '*.go' '*.cmake' '*CMakeLists.txt' '*.md' '*.yaml' '*Dockerfile*')
    ! grep -nEw "$words" "${texts[@]}"
}

# Headers of the system are not read, but for those whose macros are control flow.
macro_headers() {
    local header
    mkdir -p "$cache/include"
    for header in uthash.h utlist.h; do
        printf '#include <%s>\n' "$header" | cc -M -x c - 2>/dev/null | tr ' ' '\n' |
            grep "/$header\$" | while IFS= read -r path; do ln -sf "$path" "$cache/include/$header"; done
    done
}

# Suppressed is what version 2.10 makes of statement expressions (internalAstError), of loops over
# uthash (uninitvar) and of members named like a variable (unknownEvaluationOrder).
check_cppcheck() {
    need cppcheck
    need cc
    mkdir -p "$cache/cppcheck"
    macro_headers
    local sources
    mapfile -t sources < <(files '*.c')
    cppcheck --quiet --error-exitcode=1 --inline-suppr -j 2 --cppcheck-build-dir="$cache/cppcheck" \
        --enable=warning,performance,portability --std=c11 --language=c -D_GNU_SOURCE -D__linux__ \
        -D__x86_64__ -DSANDBOXRUN_VERSION='"0"' --suppress=missingIncludeSystem \
        --suppress=internalAstError --suppress=uninitvar --suppress=unknownEvaluationOrder \
        --suppress="*:$cache/include/*" -I. -I"$cache/include" "${sources[@]}"
}

check_tidy() {
    need clang-tidy
    need clang
    need python3
    if [ ! -f "$build/compile_commands.json" ]; then
        [ "$build" = build/release ] || { echo "$build is not configured"; return 1; }
        need cmake
        cmake --preset release >"$cache/configure.log" 2>&1 || { cat "$cache/configure.log"; return 1; }
    fi
    hack/lint_tidy.py "$build/compile_commands.json" "$cache/tidy"
}

check_shellcheck() {
    need shellcheck
    local scripts
    mapfile -t scripts < <(
        files '*.sh'
        files '*' | grep -v '\.[a-z]*$' | while IFS= read -r file; do
            # Programs without a suffix, by their first line.
            ! head -c 64 "$file" | grep -aqE '^#!.*\b(ba)?sh\b' || printf '%s\n' "$file"
        done
    )
    shellcheck "${scripts[@]}"
}

check_gofmt() {
    need gofmt
    local go_files unformatted
    mapfile -t go_files < <(files '*.go')
    [ "${#go_files[@]}" -gt 0 ] || return 0
    unformatted=$(gofmt -l "${go_files[@]}")
    [ -z "$unformatted" ] || { echo "not in gofmt's form: $unformatted"; return 1; }
}

passed=0 failed=0 skipped=0
for check in "${wanted[@]}"; do
    log=$cache/$check.log status=0
    ("check_$check") >"$log" 2>&1 || status=$?
    case $status in
    0) passed=$((passed + 1)); echo "ok: $check" ;;
    77) skipped=$((skipped + 1)); echo "skipped: $check ($(tail -n 1 "$log"))" ;;
    *) failed=$((failed + 1)); echo "failed: $check"; sed 's/^/    /' "$log" ;;
    esac
done
echo "lint: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
