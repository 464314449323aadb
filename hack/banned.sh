#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: hack/banned.sh FILE...
#
# Finds in C files what the project does without: functions without bounds or with hidden state,
# descriptors that are not close-on-exec from birth, // comments, names of the reserved kind.
# Comments, strings and character constants don't count. An exception is a line "FILE FUNCTION"
# below, and one that is no longer needed is an error too.
set -euo pipefail
cd "$(dirname "$0")/.."

allowed() {
    cat <<'TXT'
TXT
}

exec perl -e '
use strict;
use warnings;

# Function => what to use instead.
my %banned = (
    (map { $_ => "the bounded buffer, common/buf.h" } qw(strcpy strcat stpcpy sprintf vsprintf gets)),
    (map { $_ => "snprintf() or memcpy() with a length" } qw(strncpy strncat)),
    (map { $_ => "a parser with explicit state" } qw(strtok strtok_r)),
    (map { $_ => "common/parse.h" } qw(atoi atol atoll atof strtol strtoll strtoul strtoull strtoimax strtoumax)),
    (map { $_ => "common/fd.h" } qw(fgets)),
    (map { $_ => "the heap" } qw(alloca)),
    (map { $_ => "posix_spawn() or clone3() without a shell" } qw(system popen)),
    (map { $_ => "openat() with O_EXCL, mkostemp() or mkdtemp()" } qw(tmpnam tempnam mktemp mkstemp)),
    (map { $_ => "common/random.h" } qw(rand srand random srandom drand48)),
    (map { $_ => "sigaction(), or common/loop.h" } qw(signal)),
    (map { $_ => "timers" } qw(sleep usleep)),
    (map { $_ => "return values" } qw(setjmp longjmp sigsetjmp siglongjmp)),
    (map { $_ => "the variant that sets close-on-exec" } qw(dup pipe accept creat epoll_create inotify_init)),
);
# These have it in an argument, or in a variable of this name.
my %wants = (
    (map { $_ => qr/O_CLOEXEC|\bflags\b|\bhow\b/ } qw(open openat pipe2 dup3 mkostemp)),
    (map { $_ => qr/SOCK_CLOEXEC/ } qw(socket socketpair accept4)),
    (map { $_ => qr/CLOEXEC/ } qw(epoll_create1 eventfd timerfd_create signalfd memfd_create)),
);
my %allowed = map { $_ => 0 } grep { length } split /\n/, shift @ARGV;
my $failed = 0;

sub complain {
    my ($file, $text, $at, $problem) = @_;
    my $line = 1 + (substr($text, 0, $at) =~ tr/\n//);
    print "$file:$line: $problem\n";
    $failed = 1;
}

for my $file (@ARGV) {
    open(my $in, "<", $file) or die "$file: $!\n";
    my $text = do { local $/; <$in> };
    close $in;
    my $whole = $text;
    # What is taken out leaves its line breaks behind, so that line numbers stay right.
    $text =~ s{(/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\x27(?:\\.|[^\x27\\\n])*\x27)}
              {my $t = $1; $t =~ s/[^\n]/ /g; $t}gsex;
    complain($file, $text, $-[0], "// comment: use /* */") while $text =~ m{//}g;
    complain($file, $text, $-[0], "#define of a reserved name")
        while $text =~ /^\s*#\s*define\s+_(?!GNU_SOURCE\b)/mg;
    while ($text =~ /\b([a-z_][a-z0-9_]*)(\s*)(\((?:[^()]++|(?3))*\))/g) {
        my ($name, $arguments, $at) = ($1, $3, $-[0]);
        pos($text) = $at + length $name; # calls among the arguments count too
        next if substr($text, 0, $at) =~ /(?:\.|->)\s*$/;
        my $problem = $banned{$name} ? "$name() is banned: use $banned{$name}" : undef;
        $problem = "$name() without close-on-exec" if $wants{$name} && $arguments !~ $wants{$name};
        my $call = substr($whole, $at, length($name) + length($arguments));
        $problem = "fopen() without \"e\" in its mode"
            if $name eq "fopen" && $call !~ /"[a-z+]*e[a-z+]*"/;
        next unless $problem;
        if (exists $allowed{"$file $name"}) {
            $allowed{"$file $name"}++;
            next;
        }
        complain($file, $text, $at, $problem);
    }
}
for my $entry (grep { !$allowed{$_} } sort keys %allowed) {
    my ($file) = split / /, $entry;
    next unless grep { $_ eq $file } @ARGV;
    print "hack/banned.sh: the exception \"$entry\" is no longer needed\n";
    $failed = 1;
}
exit $failed;
' "$(allowed)" "$@"
