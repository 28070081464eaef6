"""All limits in one place: how large inputs and computations may be before they are refused or split into parts.

Limits are public. To change one, pass for example `limits=Limits(memory=2**33)` to a mechanism. What a process may
still take of the memory of its machine, or of its container, is found here, too.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from dpwords.core.tuning import LIBRARIES, LITTLE, RESERVED

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_GROUPS = Path("/sys/fs/cgroup")
_OF_A_GROUP = {  # the files with the limit and the use of a group of processes, in both versions of cgroups
    "": ("memory.max", "memory.current", "inactive_file"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


@dataclass(frozen=True)
class Limits:
    """The resources that one computation may use. Sizes are in bytes unless a comment says otherwise."""

    # Inputs: what a small file, or a few characters, can make a program read, write out or build
    word: int = 10**8  # symbols of one word
    file: int = 2**28  # size of a text file, which is read as a whole
    row: int = 2**28  # one row of a Parquet or Arrow file when all of its values are written out
    columns: int = 2**16  # columns of a table in a text file
    read_edges: int = 2**20  # nodes, and edges, of a DOT file, in which a short text can stand for many
    alphabet: int = 2**21  # characters that an alphabet's ranges stand for; Unicode has about half of that
    answers: int = 10**6  # possible answers to the question of a report
    cached_file: int = 2**16  # size of a file in the cache; larger ones are not read

    # Languages: automata that grow with the product or the power of what they are made from
    combined_states: int = 4 * 10**6  # states of a combination, of which those from which no word can end are dropped
    converted_states: int = 10**6  # states of a language that is converted for another package
    minimised_edges: int = 2**20  # edges of an automaton that is minimised; some seconds
    pattern_positions: int = 2**12  # symbols and classes of a pattern, repetitions written out
    pattern_states: int = 10**5  # states of its automaton
    listed_length: int = 4096  # length of words that are enumerated one by one

    # Memory of one computation, which would otherwise end the process or the container
    memory: int = 2 * 2**30  # tables for one private word
    batch: int = 2**22  # numbers held at a time while words are drawn
    piece: int = 2**18  # symbols that the edit channel processes at a time
    distances: int = 2**23  # distances of listed words held at a time
    worker: int = 5 * 2**30  # address space of a process of the page, of which libraries need about 1 GiB
    certificate_memory: int = 2**31  # layers of a certificate; beyond it smaller boxes are tried, then other methods

    # Other users of the machine
    threads: int = CORES  # threads that work at the same time
    ledger_wait: float = 60.0  # seconds to wait for another process that is writing to the ledger

    # Time of draws and of exact probabilities, which grows faster than the length of a word
    free_classes: int = 20_000  # length of free words that are counted by distance
    counted_states: int = 10**6  # states of a language whose words are counted by Levenshtein distance
    counted_numbers: int = 2**28  # numbers in the tables of such a count
    alignment_steps: int = 10**11  # steps for one probability of the edit channel; a few minutes
    tied_positions: int = 2**16  # positions kept while nearest words by edits are counted; a few milliseconds
    listed_edits: int = 2**24  # largest number of edits in a distribution of the edit channel

    # Time of public averages: beyond these, they are over fewer words, and the nearest two words are not searched for
    most_averaged: int = 256  # words
    fewest_averaged: int = 8
    averaged_steps: int = 2**23  # edges visited in all layers
    averaged_distances: int = 2**24  # distances to the words of a list
    averaged_counts: int = 8  # words, if each needs counts by Levenshtein distance
    averaged_ties: int = 2**16  # drawn words · words that they are projected to; beyond it averages are simulated
    most_simulated: int = 10_000  # releases of public words
    fewest_simulated: int = 100
    simulated_steps: int = 2**26  # edges visited in all of them; about a second
    pair_steps: int = 2**23  # pairs of edges in the search for the nearest two words; about a second

    # Time of certificates: beyond these, a proof that takes less time is used, which may allow less of ε
    certificate_time: float = 200.0  # seconds of one search, by blocks or by pairs, as estimated beforehand
    certificate_size: int = 2**31  # states · symbols
    good_enough: float = 0.995  # fraction of ε; once a method reaches it, no slower one is tried
    worth_keeping: float = 0.1  # seconds; certificates that took longer to make are cached for later commands
    reweighted_edges: int = 2**22  # pairs of consecutive edges in a system whose words are reweighted
    range_steps: int = 4 * 10**10  # numbers read for the range of the normalising constants at one rate; a few seconds
    compared_words: int = 1024  # words of one length that are compared pair by pair, at every output
    certified_words: int = 10_000  # words of one length whose pairs are compared for a certificate; some seconds
    automatic_words: int = 2_000  # words of a list that is certified without a request, in about a second
    pair_counts: int = 2**28  # words · distances of a list
    stored_pairs: int = 2**24  # nearest pairs of a list that are stored
    compared_pairs: int = 2**29  # pairs farther apart that are compared because they can matter

    # Time of estimates from released words
    expected_steps: int = 10**12  # steps of one pass over all words of the edit channel; some minutes
    length_steps: int = 10**11  # steps for the probabilities of all pairs of lengths; a few minutes
    chain_edges: int = 2**21  # edges of a Markov chain that is fitted to releases
    interval_parameters: int = 4096  # parameters of such a chain; beyond it estimates have no intervals

    # Time of what an adversary can guess
    attacked_length: int = 20_000  # symbols of a word
    attacked_ties: int = 2**18  # drawn words · words that they are projected to, whose probabilities are summed
    attacked_words: int = 4096  # words of one length, and outputs, that are listed one by one
    attacked_outputs: int = 2**24  # words · sets of outputs that are all summed over; a second
    attacked_alignments: int = 10**7  # probabilities of the edit channel, one for each word and output
    attacked_steps: int = 4 * 10**10  # edges that are visited for all simulated words; about a minute

    # Time and memory of audits, some of which run programs that nobody trusts
    audit_draws: int = 10**8  # draws of each word in a statistical audit
    program_output: int = 2**26  # what an audited program writes for a batch
    channel_inputs: int = 4096  # rows of a channel
    channel_steps: int = 2**36  # rows² · columns of a channel; some minutes
    listed_outputs: int = 4096  # sets of answers that an exact audit of a report lists

    def __repr__(self) -> str:
        """Only what differs from the defaults, so that the signatures of mechanisms stay readable."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        changed = [f"{name}={value!r}" for name, value in own.items() if value != getattr(Limits, name)]
        return f"Limits({', '.join(changed)})"


DEFAULTS = Limits()


def available() -> float:
    """The number of bytes that this process may still take; infinity where nothing is known.

    It is the least of what three limits leave: that of the address space (`ulimit -v`), those of the containers that
    the process runs in, and the machine's memory. Cost: a fraction of a millisecond.
    """
    if sys.platform != "linux":
        return math.inf
    return min(address_space(), *_of_containers(), _of_machine())


def at_most(limit: int, wanted: int) -> int:
    """The limit of memory for tables, or what is left for them where that is less.

    Up to 64 MiB, the limit holds as it is. Of what is left, 256 MiB are reserved for the compiler and all else.
    """
    return limit if wanted <= LITTLE else int(min(limit, max(available() - RESERVED, 0)))


def check_memory(needed: int) -> None:
    """Raise `MemoryError` if there is less memory left than the needed number of bytes.

    A container or a machine that runs out of memory ends the process; this makes it an error before that happens.
    """
    if needed > at_most(needed, needed):
        raise MemoryError


def address_space() -> float:
    """The number of bytes of address space that this process may still take; infinity where it has no limit."""
    if sys.platform != "linux":
        return math.inf
    import resource

    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return math.inf if most == resource.RLIM_INFINITY else most - _taken()


def limit_address_space(more: int) -> None:
    """Let this process take at most so many bytes of address space more, or half of what is left and 1 GiB if that is
    less.

    What is beyond it fails with `MemoryError`, before the machine or the container runs out of memory. A stricter limit
    stays. On other systems than Linux nothing happens.
    """
    if sys.platform != "linux":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = _taken() + int(min(more, available() / 2 + LIBRARIES))
    if soft == resource.RLIM_INFINITY or most < soft:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _taken() -> int:
    """The number of bytes of this process's address space, on Linux."""
    import resource

    return int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()


def _of_containers(processes: Path = Path("/proc/self/cgroup"), groups: Path = _GROUPS) -> Iterator[float]:
    """What the group of this process leaves, and each group around it that can be seen from here."""
    for line in _lines(processes):
        _, controllers, name = line.split(":", 2)
        for controller in {*controllers.split(",")} & {*_OF_A_GROUP}:
            innermost = groups / controller / name.strip("/")
            for group in (innermost, *innermost.parents):
                if group.is_relative_to(groups / controller):
                    yield _of_group(group, *_OF_A_GROUP[controller])


def _of_group(group: Path, limit: str, use: str, unused: str) -> float:
    """The limit less the use; files that the system keeps in memory and can drop do not count as used."""
    most, used = (next(iter(_lines(group / name)), "").strip() for name in (limit, use))
    if not most.isdigit() or not used.isdigit():  # there is no such file, or no limit
        return math.inf
    dropped = dict(line.split() for line in _lines(group / "memory.stat")).get(unused, 0)
    return int(most) - int(used) + int(dropped)


def _of_machine() -> float:
    """The memory that the machine can still give without using what others need, and its free swap space."""
    sizes = {name: size.split()[0] for name, _, size in (line.partition(":") for line in _lines(Path("/proc/meminfo")))}
    if not {"MemAvailable", "SwapFree"} <= {*sizes}:
        return math.inf
    return 1024 * (int(sizes["MemAvailable"]) + int(sizes["SwapFree"]))


def _lines(path: Path) -> list[str]:
    """The lines of a file, none if it cannot be read."""
    try:
        return path.read_text("ascii").splitlines()
    except OSError:
        return []
