#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes a root file system for the sandboxes from a Python found on this machine.
#
# The result holds an interpreter, its standard library byte-compiled, the shared libraries they
# need, a shell and a few tools, a CA bundle, time zones, and the runner. Everything lies under /usr
# whatever prefix it came from: the interpreter finds its library relative to itself. Nothing in it
# has a setuid bit or is writable by anyone but its owner, and it holds no user but `sandbox`.

set -euo pipefail
export LC_ALL=C

readonly WANTED_VERSION=3.12
readonly TOOLS=(cat cp date echo env false head id ls mkdir mv printf pwd rm sleep sort tail true
    uname wc)
# Needs a display, a network at build time, or a library of its own that no program here can use.
readonly LEFT_OUT_MODULES=(tkinter idlelib turtledemo turtle.py ensurepip)
readonly LEFT_OUT_EXTENSIONS=(_tkinter nis)

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly repository
arg_python=
arg_output=$repository/build/runtimes
arg_name=python$WANTED_VERSION
arg_with_tests=no
arg_force=no
arg_packages=()

usage() {
    cat <<USAGE
Usage: hack/make-runtime.sh [OPTION...]

Makes the root file system of a runtime, by default build/runtimes/python$WANTED_VERSION, from a
Python $WANTED_VERSION of this machine. With no $WANTED_VERSION at hand it takes another Python 3
and says so; the runtime's own /usr/lib/sandboxrun/version always tells the truth. Does nothing if
the runtime is there and up to date; called without --python, --with and --with-tests, it keeps to
those that the runtime was made with. Needs no root.

  --python PATH        the interpreter or the prefix to copy; the default is the first Python
                       $WANTED_VERSION on PATH, in /usr/local/bin, in /usr/bin, or the newest of pyenv
  --output DIR         the directory that holds the runtimes (build/runtimes)
  --name NAME          the runtime's name below it, which is what spec.runtime asks for
                       (python$WANTED_VERSION)
  --with PACKAGE...    packages to add with that Python's pip, such as: --with numpy pandas
  --with-tests         keep the standard library's own test suites
  --force              make it anew although nothing has changed
  -h, --help           this text

Exit status: 0 if the runtime is there, 1 if it could not be made, 2 for a wrong option.
USAGE
}

step() { printf 'make-runtime: %s\n' "$*" >&2; }
fail() { printf 'make-runtime: error: %s\n' "$*" >&2; exit 1; }
misuse() { printf 'make-runtime: %s; see --help\n' "$*" >&2; exit 2; }

parse_options() {
    while (($#)); do
        case $1 in
            --python | --output | --name)
                if (($# < 2)) || [[ -z $2 ]]; then misuse "$1 needs a value"; fi
                printf -v "arg_${1#--}" '%s' "$2"
                shift 2
                ;;
            --with)
                shift
                if (($# == 0)) || [[ $1 == -* ]]; then misuse "--with needs a package"; fi
                while (($#)) && [[ $1 != -* ]]; do
                    arg_packages+=("$1")
                    shift
                done
                ;;
            --with-tests) arg_with_tests=yes; shift ;;
            --force) arg_force=yes; shift ;;
            -h | --help) usage; exit 0 ;;
            *) misuse "unknown argument '$1'" ;;
        esac
    done
    [[ $arg_name =~ ^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$ ]] ||
        misuse "'$arg_name' can't be a runtime's name: a-z, 0-9, '.', '_' and '-', up to 63 of them"
}

# The choices that a runtime was made with stand beside it: the other scripts call this one without
# any, and must not undo them.
keep_choices() {
    local choices=()
    if [[ -n $arg_python || $arg_with_tests == yes ]] || ((${#arg_packages[@]})); then return; fi
    if [[ -d $output && -r ${output%/*}/.$arg_name.choices ]]; then
        mapfile -d '' -t choices <"${output%/*}/.$arg_name.choices"
    fi
    ((${#choices[@]})) || return 0
    step "note: made with ${choices[*]}, which is kept; for the defaults remove $output"
    parse_options "${choices[@]}"
}

save_choices() {
    {
        if [[ -n $arg_python ]]; then printf '%s\0' --python "$(realpath -s "$python")"; fi
        if [[ $arg_with_tests == yes ]]; then printf '%s\0' --with-tests; fi
        if ((${#arg_packages[@]})); then printf '%s\0' --with "${arg_packages[@]}"; fi
    } >"${output%/*}/.$arg_name.choices"
}

# Prints "MAJOR.MINOR" if the argument is a Python 3 that runs.
minor_version_of() {
    "$1" -I -c 'import sys; assert sys.version_info[0] == 3; print("%d.%d" % sys.version_info[:2])' \
        2>/dev/null
}

# pyenv's versions, the newest first.
pyenv_interpreters() {
    local root homes=("${PYENV_ROOT:-}" "$HOME/.pyenv")
    if [[ -n ${SUDO_USER:-} ]]; then
        homes+=("$(getent passwd "$SUDO_USER" | cut -d: -f6)/.pyenv")
    fi
    for root in "${homes[@]}"; do
        [[ -n $root && -d $root/versions ]] || continue
        find "$root/versions" -mindepth 1 -maxdepth 1 -name "$WANTED_VERSION.*" | sort -rV |
            sed "s|\$|/bin/python$WANTED_VERSION|"
    done
}

# Sets `python`. A shim on PATH may exist and refuse to run, so every candidate is run.
find_python() {
    local candidate
    if [[ -n $arg_python ]]; then
        python=$arg_python
        [[ -d $python ]] && python=$arg_python/bin/python3
        [[ -x $python ]] || fail "--python $arg_python: no interpreter at $python"
        minor_version_of "$python" >/dev/null || fail "--python $arg_python: not a working Python 3"
        return
    fi
    while read -r candidate; do
        if [[ -x $candidate && $(minor_version_of "$candidate") == "$WANTED_VERSION" ]]; then
            python=$candidate
            return
        fi
    done < <(
        type -aP "python$WANTED_VERSION"
        printf '%s\n' "/usr/local/bin/python$WANTED_VERSION" "/usr/bin/python$WANTED_VERSION"
        pyenv_interpreters
        type -aP python3
    )
    while read -r candidate; do
        if minor_version_of "$candidate" >/dev/null; then
            python=$candidate
            return
        fi
    done < <(printf '%s\n' /usr/bin/python3; type -aP python3)
    fail "no Python 3 found; install python3, or name one with --python"
}

# Sets what the chosen interpreter says about itself. A virtual environment leads to its base.
ask_python() {
    local answers
    mapfile -t answers < <("$python" -I -c '
import os, ssl, site, sys, sysconfig
executable = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
prefix = os.path.realpath(sys.base_prefix)
stdlib = os.path.realpath(os.path.dirname(os.__file__))
packages = [p for p in site.getsitepackages([sys.base_prefix]) if p.startswith(sys.base_prefix + "/")]
print(executable)
print("%d.%d.%d" % sys.version_info[:3])
print("%d.%d" % sys.version_info[:2])
print(stdlib)
print(os.path.relpath(stdlib, prefix))
print(os.path.relpath(packages[-1], sys.base_prefix))
print(ssl.get_default_verify_paths().openssl_cafile)')
    ((${#answers[@]} == 7)) || fail "$python does not describe itself (is its ssl module missing?)"
    executable=${answers[0]} version=${answers[1]} minor=${answers[2]} stdlib=${answers[3]}
    stdlib_place=usr/${answers[4]} packages_place=usr/${answers[5]} cafile=${answers[6]}
    [[ $stdlib_place != *..* && $packages_place != *..* ]] ||
        fail "$python keeps its library outside its prefix: $stdlib"
}

# What the result depends on, as one hash.
fingerprint() {
    {
        cat "${BASH_SOURCE[0]}" "$repository/node-agent/runtime/runner.py"
        printf '%s\n' "$version" "$arg_with_tests" "$EUID" "${arg_packages[@]+"${arg_packages[@]}"}"
        stat -Lc '%n %s %Y' "$executable" "$stdlib/os.py" "$stdlib/lib-dynload" /bin/sh
        stat -Lc '%n %s %Y' /etc/ssl/certs/ca-certificates.crt /usr/share/zoneinfo 2>/dev/null || true
    } | sha256sum | cut -d' ' -f1
}

make_skeleton() {
    local directory
    mkdir -p "$root"/{usr/{bin,lib,lib64,sbin},etc,dev,proc,tmp,home/sandbox,usr/lib/sandboxrun}
    for directory in bin lib lib64 sbin; do
        ln -s "usr/$directory" "$root/$directory"
    done
    printf 'sandbox:x:65532:65532:sandbox:/home/sandbox:/bin/sh\n' >"$root/etc/passwd"
    printf 'sandbox:x:65532:\n' >"$root/etc/group"
    printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
    printf 'passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n' \
        >"$root/etc/nsswitch.conf"
    : >"$root/etc/resolv.conf"
    for file in services protocols; do
        if [[ -r /etc/$file ]]; then cp -L "/etc/$file" "$root/etc/$file"; fi
    done
}

copy_python() {
    local name excluded=(--exclude=__pycache__ --exclude=./site-packages --exclude=./dist-packages
        --exclude=./sitecustomize.py --exclude='./config-*')
    for name in "${LEFT_OUT_MODULES[@]}"; do excluded+=("--exclude=./$name"); done
    for name in "${LEFT_OUT_EXTENSIONS[@]}"; do excluded+=("--exclude=./lib-dynload/$name.*"); done
    if [[ $arg_with_tests == no ]]; then
        excluded+=(--exclude=./test --exclude=tests --exclude='./*/test' '--exclude=./lib-dynload/_test*'
            '--exclude=./lib-dynload/_ctypes_test*' '--exclude=./lib-dynload/_xxtest*'
            '--exclude=./lib-dynload/xx*')
    fi
    mkdir -p "$root/$stdlib_place" "$root/$packages_place"
    tar -C "$stdlib" --dereference "${excluded[@]}" -cf - . | tar -C "$root/$stdlib_place" -xf -
    cp -L "$executable" "$root/usr/bin/python$minor"
    ln -s "python$minor" "$root/usr/bin/python3"
    ln -s python3 "$root/usr/bin/python"
}

add_packages() {
    ((${#arg_packages[@]})) || return 0
    step "adding packages: ${arg_packages[*]}"
    "$python" -m pip --version >/dev/null 2>&1 ||
        fail "--with needs pip for $python (Debian: apt-get install python3-pip)"
    "$python" -m pip install --quiet --no-compile --disable-pip-version-check --root-user-action \
        ignore --target "$root/$packages_place" "${arg_packages[@]}" >&2 ||
        fail "pip could not install: ${arg_packages[*]}"
}

copy_tools() {
    local tool source missing=()
    source=$(type -P dash || readlink -f /bin/sh)
    cp -L "$source" "$root/usr/bin/sh"
    for tool in "${TOOLS[@]}"; do
        if source=$(type -P "$tool"); then
            cp -L "$source" "$root/usr/bin/$tool"
        else
            missing+=("$tool")
        fi
    done
    ((${#missing[@]} == 0)) || step "not on this machine, left out: ${missing[*]}"
}

# The interpreter, its extension modules and the tools name their libraries; libgcc_s is opened by
# the C library at the end of a thread and named by nobody. All go into the directory of the C
# library, where a cache finds them at once.
copy_libraries() {
    local files=() listing library loader libc libdir
    mapfile -t files < <(
        printf '%s\n' "$executable"
        find "$stdlib/lib-dynload" "$root/$packages_place" -name '*.so*' -type f |
            grep -vE "/($(IFS='|'; printf '%s' "${LEFT_OUT_EXTENSIONS[*]}"))\\."
        find "$root/usr/bin" -type f
    )
    listing=$(ldd "${files[@]}" 2>/dev/null || true)
    library=$(sed -n 's/^\t\([^ ]*\) => not found.*/\1/p' <<<"$listing" | sort -u | tr '\n' ' ')
    [[ -z $library ]] || step "warning: this machine lacks libraries that some modules need: $library"
    loader=$(sed -n 's/^\t\(\/[^ ]*\) (0x.*/\1/p' <<<"$listing" | sort -u | head -n1)
    libc=$(sed -n 's/^\tlibc\.so\.6 => \([^ ]*\) .*/\1/p' <<<"$listing" | sort -u | head -n1)
    [[ -n $loader && -n $libc ]] || fail "$executable is not linked with glibc"
    libdir=usr/${libc#/usr}
    libdir=$root/$(dirname "${libdir/\/\//\/}")
    mkdir -p "$libdir" "$root$(dirname "$loader")"
    cp -L "$loader" "$root$loader"
    while read -r library; do
        [[ $library == "$root"/* ]] || cp -L "$library" "$libdir/"
    done < <(
        sed -n 's/^\t[^ ]* => \(\/[^ ]*\) .*/\1/p' <<<"$listing" | sort -u
        find "$(dirname "$libc")" -maxdepth 1 -name 'libgcc_s.so.1' -o -maxdepth 1 -name \
            'libnss_files.so.2' -o -maxdepth 1 -name 'libnss_dns.so.2'
    )
    printf '%s\n' "${libdir#"$root"}" >"$root/etc/ld.so.conf"
    if [[ -x /sbin/ldconfig ]]; then
        /sbin/ldconfig -X -r "$root" 2>/dev/null || step "warning: no library cache, starts are slower"
    fi
}

copy_data() {
    local bundle=/etc/ssl/certs/ca-certificates.crt
    if [[ -r $bundle ]]; then
        mkdir -p "$root/etc/ssl/certs" "$root$(dirname "$cafile")"
        cp -L "$bundle" "$root$bundle"
        [[ -e $root$cafile ]] || ln -s "$bundle" "$root$cafile"
    else
        step "warning: no CA bundle on this machine, so TLS clients can't verify a server"
    fi
    if [[ -d /usr/share/zoneinfo ]]; then
        mkdir -p "$root/usr/share/zoneinfo"
        tar -C /usr/share/zoneinfo --exclude=./posix --exclude=./right --exclude=./localtime -cf - . |
            tar -C "$root/usr/share/zoneinfo" -xf -
    else
        step "warning: no time zones on this machine (Debian: apt-get install tzdata)"
    fi
    # C.UTF-8 is a file, not a part of the C library.
    if [[ -d /usr/lib/locale/C.utf8 ]]; then
        mkdir -p "$root/usr/lib/locale"
        cp -rL /usr/lib/locale/C.utf8 "$root/usr/lib/locale/"
    fi
}

# A byte-code file that is never checked against its source stays valid through any copy of the
# runtime, whatever happens to the times of its files.
compile_library() {
    "$python" -I -m compileall -qq -j "$(nproc)" --invalidation-mode unchecked-hash -s "$root" -p / \
        "$root/usr" || [[ $arg_with_tests == yes || ${#arg_packages[@]} -gt 0 ]] ||
        fail "the standard library could not be byte-compiled"
    install -m 0644 "$repository/node-agent/runtime/runner.py" "$root/usr/lib/sandboxrun/runner.py"
    "$python" -I -c '
import py_compile, sys
py_compile.compile(sys.argv[1] + "runner.py", cfile=sys.argv[1] + "runner.pyc",
                   dfile="/usr/lib/sandboxrun/runner.py", doraise=True, optimize=2,
                   invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
' "$root/usr/lib/sandboxrun/"
    printf '%s\n' "$version" >"$root/usr/lib/sandboxrun/version"
}

own_and_close() {
    if ((EUID == 0)); then chown -hR 0:0 "$root"; fi
    chmod -R u+rwX,go+rX,go-w,a-st "$root"
}

# The modules with the most libraries behind them. Without a way to enter the root it isn't tried.
check() {
    local enter=(chroot "$root")
    if ((EUID != 0)); then
        enter=(unshare --user --map-root-user --root="$root")
        "${enter[@]}" /usr/bin/true 2>/dev/null || {
            step "not tried out: this user may not enter it"
            return 0
        }
    fi
    env -i PATH=/usr/bin:/usr/sbin "${enter[@]}" /usr/bin/python3 -I -B -c '
import asyncio, bz2, ctypes, decimal, hashlib, json, lzma, multiprocessing, sqlite3, ssl, sys, uuid
import zlib, zoneinfo
with open("/usr/lib/sandboxrun/version") as file:
    assert file.read().strip() == "%d.%d.%d" % sys.version_info[:3]
' || fail "the runtime does not work (above); $output is as it was"
}

main() {
    local output started=$SECONDS new_stamp
    python='' root=''
    parse_options "$@"
    mkdir -p "$arg_output"
    output=$(cd "$arg_output" && pwd)/$arg_name
    [[ -w $(dirname "$output") ]] ||
        fail "$(dirname "$output") is not writable for this user; if sudo has made it, use sudo here too"
    exec 9>"$(dirname "$output")/.make-runtime.lock"
    flock 9
    keep_choices
    find_python
    ask_python
    new_stamp=$(fingerprint)
    if [[ $minor != "$WANTED_VERSION" && -z $arg_python ]]; then
        step "WARNING: ======================================================================"
        step "WARNING: no Python $WANTED_VERSION on this machine. The runtime '$arg_name' holds Python $version."
        step "WARNING: Programs that need $WANTED_VERSION may fail in it. status.effective.runtimeVersion"
        step "WARNING: shows the version of every run. To choose another:"
        step "WARNING: hack/make-runtime.sh --python PATH"
        step "WARNING: ======================================================================"
    elif [[ $minor != "$WANTED_VERSION" && $arg_name == "python$WANTED_VERSION" ]]; then
        step "WARNING: the runtime '$arg_name' holds Python $version, as asked for with --python"
    fi
    if [[ $arg_force == no && $(cat "$output/usr/lib/sandboxrun/stamp" 2>/dev/null) == "$new_stamp" ]]
    then
        step "$output is up to date (Python $version)"
        return
    fi

    # What a killed predecessor left; nobody else is at work under the lock.
    rm -rf -- "$(dirname "$output")"/.new-*
    root=$(mktemp -d "$(dirname "$output")/.new-XXXXXX")
    trap 'rm -rf -- "$root"' EXIT
    step "Python $version from $executable"
    make_skeleton
    copy_python
    add_packages
    step "copying shared libraries, tools and data"
    copy_tools
    copy_libraries
    copy_data
    step "byte-compiling"
    compile_library
    printf '%s\n' "$new_stamp" >"$root/usr/lib/sandboxrun/stamp"
    own_and_close
    step "trying it out"
    check
    save_choices
    if [[ -e $output ]]; then
        mv -T "$output" "$root.old"
        mv -T "$root" "$output"
        rm -rf -- "$root.old"
    else
        mv -T "$root" "$output"
    fi
    step "made $output in $((SECONDS - started)) s ($(du -sm "$output" | cut -f1) MiB)"
}

main "$@"
