"""Which reweighted certificates are searched for: states within reach of one length, and what large systems wait
for."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.privacy.certificates.reweighted_search import ReweightedSearch
from dpwords.privacy.certificates.reweighted_system import Detail
from dpwords.spaces.graph import Graph
from dpwords.spaces.reweighting import Reweighting
from listed_systems import listings, random_cases, words_of

UNLISTED = Limits(certified_words=1)


@pytest.mark.parametrize("seed", range(2))
def test_one_length_needs_only_the_states_within_reach(seed: int) -> None:
    """The smaller system has the same words of that length, with the weights that they have in the whole system."""
    smaller = 0
    for rng, graph, blocks, listed in random_cases(70 + seed, 40):
        reweighting = Reweighting.of(graph)
        assert reweighting is not None
        for length in list(listed)[:4]:
            search, c = ReweightedSearch(graph, reweighting, Limits()).within(length), rng.uniform(1.0, 4.0)
            if search is not None and search.graph.size < graph.size:
                assert words_of(search.graph, length, 300) == listed[length].words
                assert search.blocks(blocks.system.detail).excess(length, c) >= listed[length].excess(c)
                smaller += 1
    assert smaller > 10


@pytest.mark.parametrize("back", [(), (12, 0)])
def test_a_way_back_to_the_start_matters_also_beyond_reach(back: tuple[int, ...]) -> None:
    """A first position is weighed as an end only where no run returns to the start, be it after 12 symbols."""
    edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4), (3, 5)] + [(i, i + 1) for i in range(4, 12)] + [(5, 4)]
    system = dw.from_edges(edges + ([back] if back else []), start=0)
    graph, length = Graph.of(system), 4
    reweighting = Reweighting.of(graph)
    assert reweighting is not None
    search, listed = ReweightedSearch(graph, reweighting, Limits()).within(length), listings(graph)[length]
    assert search is not None
    assert search.graph.size < graph.size
    assert search.reweighting.at_start.any() == (not back)
    for c in (0.7, 1.5, 3.0):
        assert listed.excess(c) <= search.blocks(Detail(2, 1, 3)).excess(length, c) <= 1.5 * listed.excess(c) + 1e-6
    mechanism = dw.Exponential(system, 3.0, limits=UNLISTED)
    assert dw.audit.exact(mechanism, length, draws=0).holds


def test_a_large_system_does_not_wait_for_a_certificate_for_all_lengths(tmp_path: Path) -> None:
    """Few of its states are within reach; the certificate of the length is saved and proven again like any other."""
    language, path = dw.GridWorld(20, 20).by_states(), tmp_path / "certificates.json"
    made = dw.Exponential(language, 4.0, limits=UNLISTED)
    assert 0.0 < max(made.certificate.seconds(6)) < 1.0
    own = made.certificate(6)
    assert made.certificate.seconds(6) == (0.0, 0.0)
    assert (own.method, own.length, own.longest) == ("blocks, levelled", 6, None)
    assert own.c > 0.99 * 4.0
    made.certificate.save(path)
    loaded = dw.Exponential(language, 4.0, limits=UNLISTED)
    loaded.certificate.load(path)
    assert loaded.certificate(6) == own
