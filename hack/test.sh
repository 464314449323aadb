#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the test layers that this machine can run and says which it could not, and why.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
root=$PWD

layers_all=(jail pool escape egress soak unit fuzz resolver cpython cluster kubectl
    client runtime controlplane chart rbac faults vm lint)
# What tells how quick something is, or what the machine has, or keeps all processors busy, runs
# beside nothing but what gives way to everything (start_ahead). The machines run beside all that
# follows, which mostly waits, and are told at the end. So do, one after the other, those that wait
# and share nothing with the rest; they stand behind those that run by themselves, which would wait
# for them otherwise.
alone=(jail pool escape egress soak unit fuzz)
in_line=(client runtime controlplane chart rbac faults)
beside=(vm "${in_line[@]}")
of_kinds=(jail pool escape)
of_plane=(cluster kubectl soak controlplane chart rbac faults)

usage() {
    cat <<TXT
usage: hack/test.sh [--full] [--kind=KIND,...] [LAYER...]

Layers: ${layers_all[*]} (default: all)
  unit     cmocka tests of every module, with AddressSanitizer and UBSan; clang build with -Werror
  fuzz     every parser's stored corpus, with AddressSanitizer and UBSan
  client   the API client against a scripted API server on its bad days; a line each with the
           requests, CPU time and memory that it took (names that move need root)
  runtime  the runner inside the jail against python3 itself (no root needed)
  resolver lookups of ToolCall runs, with a jailer and name servers that the tests play: what is
           refused, who lies, and what a tunnel through names gets (needs root)
  jail     the jail from inside, the examples and the command line (needs root)
  pool     sandboxes that wait for their runs, of each kind: that no two share anything, and that a
           program can't tell (needs root)
  escape   the attempts to get out, each with the refusal it must meet (needs root)
  egress   what a ToolCall run reaches, in a pretend internet: a line for each forbidden network
           and side, the rules, names, refusals, and that slots don't leak (needs root)
  cpython  those of CPython's own tests that ask most of the kernel, in a sandbox and as a plain
           user (needs root)
  vm       jail, pool and escape in virtual machines whose only cgroups are v2 (needs root and qemu)
  controlplane  the API server that the next layers use (needs Go)
  cluster  controller and agents against a real API server (needs root and Go)
  kubectl  what users and operators watch, with an old and a new kubectl: columns, wait, describe,
           explain, refusals; health, metrics and logs of all programs (needs root and Go)
  soak     hundreds of runs ended in every way, parts of the node killed on the way, and the
           machine before and after (needs root and Go)
  faults   runs under way while every part and every connection between them is killed, stopped
           or cut, clocks are set and disks full, at random moments: none executed twice, no result
           lost, none stuck (needs root and Go)
  chart    manifests and chart: lint, render, strict dry run (needs Go)
  rbac     who may do what, which writes of an agent are refused, and what a storm of requests
           leaves of the heartbeats, all asked of a real API server (needs Go)
  lint     formatting, banned functions, static analysis

  --full   soak: 10,000 runs, which take about ten minutes; egress: 5,000 killed runs and 1,000
           programs that connect at once, ten minutes; escape: every attempt as ToolCall as well;
           jail and escape: all of it for every kind of sandbox; pool: 1,000 sandboxes at a time;
           vm: every attempt, and each kind of sandbox that waits;
           faults: each kind fifty times, hours
  --kind   jail, escape and pool in sandboxes of these kinds alone, and all of it: cold (made for
           the run), fresh (one that has waited, its interpreter started anew), forked (its
           interpreter forked from a template). Without it all for the first, and of the others
           what can differ. These three layers, unless some are named

soak says the seed of its plan; SOAK_SEED=... repeats it, SOAK_RUNS=... sets the number of runs.
faults does too: FAULTS_SEED=...; FAULTS_TIMES=... sets how often each kind of fault comes, and
FAULTS_ONLY=... takes those with these words in their names.

Each layer ends with a line "LAYER: N passed, N failed, N skipped". The exit status is 0 if
nothing failed; with CI=true only if nothing was skipped either.
TXT
}

layers=()
kinds=()
for arg in "$@"; do
    case "$arg" in
    -h | --help) usage; exit 0 ;;
    --kind=*) kinds=("$arg") ;;
    --full) export SANDBOXRUN_TEST_FULL=1 ;;
    -*) echo "test.sh: unknown option '$arg'; see --help" >&2; exit 2 ;;
    *)
        case " ${layers_all[*]} " in
        *" $arg "*) layers+=("$arg") ;;
        *) echo "test.sh: no layer '$arg'; layers: ${layers_all[*]}" >&2; exit 2 ;;
        esac
        ;;
    esac
done
if [ "${#kinds[@]}" -gt 0 ]; then
    [ "${#layers[@]}" -gt 0 ] || layers=("${of_kinds[@]}")
    for layer in "${layers[@]}"; do
        case " ${of_kinds[*]} " in
        *" $layer "*) ;;
        *) echo "test.sh: --kind is for ${of_kinds[*]}, not for $layer" >&2; exit 2 ;;
        esac
    done
fi
[ "${#layers[@]}" -gt 0 ] || layers=("${layers_all[@]}")

failed=0
skipped=0
werror=OFF
[ "${CI:-}" = true ] && werror=ON

wants() {
    case " ${layers[*]} " in *" $1 "*) return 0 ;; esac
    return 1
}

# The closing line of a layer: counts it, remembers the outcome.
close() {
    local layer=$1 passed=$2 bad=$3 left=$4
    echo "$layer: $passed passed, $bad failed, $left skipped"
    [ "$bad" -eq 0 ] || failed=1
    [ "$left" -eq 0 ] || skipped=1
}

# Runs a command whose last line is a layer's closing line, and takes the counts from it.
run_layer() {
    local layer=$1 log status counts
    shift
    log=build/test-logs/$layer.log
    "$@" 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    counts=$(grep -E "^$layer: [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$" "$log" | tail -n 1)
    if [ -z "$counts" ]; then
        echo "$layer: the layer ended without its closing line (exit status $status)"
        close "$layer" 0 1 0
        return
    fi
    if [[ ! "$counts" =~ ,\ 0\ failed, ]] || [ "$status" -ne 0 ]; then
        failed=1
    fi
    [[ "$counts" =~ ,\ 0\ skipped$ ]] || skipped=1
}

build() {
    local preset=$1 log=build/test-logs/build-$1.log
    shift
    if ! { cmake --preset "$preset" "$@" && cmake --build --preset "$preset"; } >"$log" 2>&1; then
        echo "build of preset $preset failed:"
        grep -E 'error|warning|FAILED|CMake Error' "$log" | head -n 40
        tail -n 15 "$log"
        return 1
    fi
}

layer_unit() {
    local log=build/test-logs/unit.log passed bad programs
    [ -z "$builds_pid" ] || wait "$builds_pid"
    if ! build debug -DSANDBOXRUN_WERROR="$werror"; then
        close unit 0 1 0
        return
    fi
    CMOCKA_MESSAGE_OUTPUT=TAP ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 \
        ctest --test-dir build/debug -L unit -j 2 -V >"$log" 2>&1
    passed=$(grep -cE '^[0-9]+: ok ' "$log")
    bad=$(grep -cE '^[0-9]+: not ok ' "$log")
    programs=$(sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests? failed out of [0-9]+$/\1/p' "$log")
    [ "$bad" -ge "${programs:-1}" ] || bad=${programs:-1}
    if command -v clang >/dev/null; then
        if build clang; then passed=$((passed + 1)); else bad=$((bad + 1)); fi
    else
        echo "unit: clang is not installed: the second compiler was not tried"
        close unit "$passed" "$bad" 1
        return
    fi
    [ "$bad" -eq 0 ] || grep -vE '^[0-9]+: ok ' "$log" | tail -n 80
    close unit "$passed" "$bad" 0
}

layer_fuzz() {
    local log=build/test-logs/fuzz.log total bad
    [ -z "$builds_pid" ] || wait "$builds_pid"
    if ! build debug -DSANDBOXRUN_WERROR="$werror"; then
        close fuzz 0 1 0
        return
    fi
    ctest --test-dir build/debug -L fuzz -j 2 --output-on-failure >"$log" 2>&1
    read -r bad total < <(sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests? failed out of ([0-9]+)$/\1 \2/p' "$log")
    if [ -z "${total:-}" ]; then
        cat "$log"
        close fuzz 0 1 0
        return
    fi
    [ "$bad" -eq 0 ] || cat "$log"
    close fuzz "$((total - bad))" "$bad" 0
}

declare -A beside_pids
mkdir -p build/test-logs
./hack/deps.sh --check test >/dev/null || ./hack/deps.sh test || exit 1

if wants jail || wants pool || wants resolver || wants escape || wants egress || wants cpython ||
    wants vm || wants cluster || wants kubectl || wants chart || wants rbac || wants runtime ||
    wants soak || wants client || wants faults || wants lint; then
    build release -DSANDBOXRUN_WERROR="$werror" || exit 1
fi
if wants runtime || wants jail || wants pool || wants escape || wants egress || wants vm ||
    wants cluster || wants kubectl || wants soak || wants faults; then
    ./hack/make-runtime.sh || exit 1
fi
if wants cpython; then
    ./hack/make-runtime.sh --with-tests --name python3.12-tests || exit 1
fi

layer_command() {
    case "$1" in
    lint) exec ./hack/lint.sh ;;
    *) exec python3 "$root/tests/helpers/layer.py" "$1" "${kinds[@]}" ;;
    esac
}

# What is only computed begins at once and gives way to all else, one thing at a time, in this order.
# Each is a process group of its own, which ends as a whole.
plane_log=build/test-logs/build-controlplane.log
plane_pid=
builds_pid=
old_kubectl_log=build/test-logs/build-old-kubectl.log
old_kubectl_pid=
ahead_count=0

# Starts a command behind those that were started so before; its process is $!. Each holds a lock of
# its own as long as it runs, taken before anybody can wait for it.
give_way() {
    local before=build/test-logs/ahead-$ahead_count.lock own
    ahead_count=$((ahead_count + 1))
    exec {own}>"build/test-logs/ahead-$ahead_count.lock"
    flock "$own"
    (
        renice -n 19 "$BASHPID" >/dev/null
        [ ! -e "$before" ] || flock "$before" true
        "$@"
    ) &
    exec {own}>&-
}

builds_unit() {
    build debug -DSANDBOXRUN_WERROR="$werror" || return 1
    ! command -v clang >/dev/null || build clang
}

start_old_kubectl() {
    [ -z "$old_kubectl_pid" ] || return
    set -m
    give_way tests/controlplane/build.sh --old-kubectl >"$old_kubectl_log" 2>&1
    old_kubectl_pid=$!
    set +m
}

# The control plane that some layers use, which takes the longest to build.
start_plane() {
    local layer
    for layer in "${of_plane[@]}"; do
        if wants "$layer"; then
            set -m
            give_way tests/controlplane/build.sh >"$plane_log" 2>&1
            plane_pid=$!
            set +m
            return
        fi
    done
}

await_plane() {
    local pid=$plane_pid
    [ -n "$pid" ] || return 0
    plane_pid=
    ! kill -0 "$pid" 2>/dev/null || echo "test.sh: waiting for the control plane, see $plane_log"
    wait "$pid" || {
        cat "$plane_log"
        exit 1
    }
}

start_ahead() {
    set -m
    if wants unit || wants fuzz; then
        give_way builds_unit >build/test-logs/ahead.log 2>&1
        builds_pid=$!
    fi
    if wants lint; then
        give_way layer_command lint >build/test-logs/lint-beside.log 2>&1
        beside_pids[lint]=$!
    fi
    set +m
    ! wants kubectl || start_old_kubectl
}

layer_kubectl() {
    local status=0
    start_old_kubectl
    wait "$old_kubectl_pid" || status=$?
    old_kubectl_pid=
    if [ "$status" -ne 0 ]; then
        cat "$old_kubectl_log"
        close kubectl 0 1 0
        return
    fi
    layer_other kubectl
}

beside_started=

start_beside() {
    local layer
    [ -z "$beside_started" ] || return
    beside_started=yes
    await_plane
    for layer in "${beside[@]}"; do
        if wants "$layer"; then
            (
                case " ${in_line[*]} " in
                *" $layer "*) export SANDBOXRUN_TEST_LINE=$root/build/test-logs/line.lock ;;
                esac
                layer_command "$layer"
            ) >"build/test-logs/$layer-beside.log" 2>&1 &
            beside_pids[$layer]=$!
        fi
    done
}

# Interrupted, what was started ends and takes what it has started along: of Python the other signal
# would leave machines behind.
end_beside() {
    local layer pid
    for pid in "$plane_pid" "$builds_pid" "$old_kubectl_pid" "${beside_pids[lint]:-}"; do
        [ -z "$pid" ] || kill -TERM -- "-$pid" 2>/dev/null
    done
    for layer in "${!beside_pids[@]}"; do
        [ "$layer" = lint ] || kill -INT "${beside_pids[$layer]}" 2>/dev/null
    done
}
trap end_beside EXIT

beside_result() {
    cat "build/test-logs/$1-beside.log"
    return "$2"
}

layer_other() {
    local layer=$1 status=0
    if [ -n "${beside_pids[$layer]:-}" ]; then
        wait "${beside_pids[$layer]}" || status=$?
        unset "beside_pids[$layer]"
        run_layer "$layer" beside_result "$layer" "$status"
        return
    fi
    run_layer "$layer" layer_command "$layer"
}

rm -f build/test-logs/ahead-*.lock
start_plane
[ "${#layers[@]}" -eq 1 ] || start_ahead
for layer in "${layers[@]}"; do
    case " ${alone[*]} " in
    *" $layer "*) ;;
    *) [ "${#layers[@]}" -eq 1 ] || start_beside ;; # alone there is nothing to be beside
    esac
    case " ${of_plane[*]} " in *" $layer "*) await_plane ;; esac
    echo "== $layer"
    case "$layer" in
    unit) layer_unit ;;
    fuzz) layer_fuzz ;;
    kubectl) layer_kubectl ;;
    *) layer_other "$layer" ;;
    esac
done

if [ "$failed" -ne 0 ]; then
    exit 1
fi
if [ "${CI:-}" = true ] && [ "$skipped" -ne 0 ]; then
    echo "test.sh: something was skipped, which CI counts as a failure" >&2
    exit 1
fi
