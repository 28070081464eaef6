#!/bin/sh
# Shows the main job, step by step. Run it with `make demo`.
set -eu
say() { printf '\n%s\n' "$1"; shift; printf '$ dpwords'; for a in "$@"; do case $a in *[!A-Za-z0-9:,@._-]*) printf " '%s'" "$a";; *) printf ' %s' "$a";; esac; done; echo; dpwords "$@"; }

say "How far will a release be from the word? You can ask before any data is touched:" \
    accuracy --alphabet 'a-z0-9 ' --length 32 --epsilon 2,4,6,8
say "Release a private version of a text:" \
    release 'american control conference 2019' --alphabet 'a-z0-9 ' --epsilon 6
say "Release a private version of a robot's plan, which the robot can carry out:" \
    release EEEESSSSEEEE --system grid:15x15 --epsilon 6
say "Hide insertions and deletions as well:" \
    release 'meet me at noon' --alphabet 'a-z ' --epsilon 8 --edits all
say "Is the claim true? Measure it over every pair of words and every output:" \
    audit --system grid:3x3 --words states --length 4 --epsilon 2
