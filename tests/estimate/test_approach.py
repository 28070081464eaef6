"""How proportions would be estimated is how they are estimated, and what would be refused is refused."""

from __future__ import annotations

import pytest

import dpwords as dw
from dpwords.estimate.approach import approach

WORLD = dw.GridWorld(2, 2)
FREE = dw.Words("ab")
LEXICON = dw.Lexicon(["aab", "abb", "bba"])


@pytest.mark.parametrize(
    ("mechanism", "word", "said"),
    [
        (dw.Exponential(FREE, 4), "aabb", "inversion"),
        (dw.Online(FREE, 4), "aabb", "inversion"),
        (dw.Exponential(FREE, 4, utility=dw.Inverse(1.0)), "aabb", "inversion"),
        (dw.Exponential(WORLD.by_states(), 4), [(0, 1), (1, 1)], "public system, fitted"),
        (dw.Online(WORLD, 4), "ES", "public system, fitted"),
        (dw.best(WORLD, 4, length=None), "ES", "public system, fitted"),
        (dw.Exponential(LEXICON, 4), "aab", "public language, fitted"),
        (dw.EditChannel("ab", 6), "aabb", "inversion"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_said_is_what_is_done(mechanism: dw.Exponential, word: str, said: str) -> None:
    found = approach(mechanism, len(word))
    assert said in found
    made = dw.estimate.frequencies(mechanism.seeded(1).release_all([word] * 300), mechanism)
    assert (made.method == "inverse") == found.startswith("inversion")
    if made.method == "em":
        chosen = dw.estimate.model(mechanism.seeded(1).release_all([word] * 300), mechanism)
        assert ("held-out releases" in found) == (len(chosen.held_out) > 1)


@pytest.mark.parametrize(
    ("mechanism", "word"),
    [
        (dw.Exponential(WORLD.by_states(), 4, utility=dw.Inverse(1.0)), [(0, 1), (1, 1)]),
        (dw.Exponential(LEXICON, 4, distance="levenshtein"), "aab"),
        (dw.EditChannel("ab", 6).onto(LEXICON), "aab"),
    ],
    ids=repr,
)
def test_what_would_be_refused_is_refused_for_the_same_reason(mechanism: dw.Exponential, word: str) -> None:
    releases = mechanism.seeded(1).release_all([word] * 300)
    with pytest.raises(dw.InvalidValue) as made:
        dw.estimate.frequencies(releases, mechanism)
    with pytest.raises(dw.InvalidValue) as planned:
        approach(mechanism, len(word))
    assert str(made.value) == str(planned.value)


@pytest.mark.parametrize(
    "mechanism",
    [
        dw.Exponential(FREE, 4).onto(FREE & dw.rules.contains("b")),
        dw.Exponential(dw.Words("ab", max_length=4), 4, distance="levenshtein"),
    ],
    ids=repr,
)
def test_noise_that_is_not_that_of_free_words_has_no_inversion(mechanism: dw.Exponential) -> None:
    with pytest.raises(dw.InvalidValue, match=r"projected onto a language|changes lengths"):
        approach(mechanism, 4)


def test_reports_are_inverted() -> None:
    assert "inversion of the known probabilities" in approach(dw.Report(WORLD, 2, question="visits"), 4)
