"""dpwords accuracy --people: how precise estimates will be."""

from __future__ import annotations

import math

import pytest

from commands import refused, run

WORDS = ("accuracy", "--alphabet", "abcd", "--length", "12")


def test_a_row_for_each_epsilon_has_the_half_width_of_the_formula():
    found = run(*WORDS, "--epsilon", "1,2", "--people", "2000", "--question", "frequencies", "--prior", "uniform")
    assert found.returncode == 0
    title, header, one, two, *notes = found.stdout.splitlines()
    assert title == "what 2,000 people with words of length 12 tell about frequencies, if all words are equally likely"
    assert header.split()[:3] == ["ε", "mechanism", "±"]
    for line, epsilon in ((one, 1), (two, 2)):
        rate = (math.exp(epsilon) - 1) / (math.exp(epsilon) + 3)
        expected = 1.96 * math.sqrt(0.25 * 0.75 / 24_000) / rate
        assert float(line.split()[3]) == pytest.approx(expected, rel=0.06)
        assert line.split()[-1] == "inverse"
    assert any("a mean over 4 proportions" in each for each in notes)


def test_a_row_that_is_refused_says_why_and_others_are_shown():
    found = run(*WORDS, "--epsilon", "0.05,3", "--people", "50")
    assert found.returncode == 0
    assert "refused" in found.stdout.splitlines()[2]
    assert "(ε = 0.05, tight (default): nothing can be estimated from 50 releases" in found.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--epsilon", "2", "--question", "dfg"), "--people asks for: leave out --question"),
        (("--epsilon", "2", "--people", "9", "--plot", "x.svg"), "for each --epsilon: leave out --plot"),
        (("--people", "9"), "give --epsilon 1,2,5,10"),
        (("--epsilon", "2", "--people", "1"), "people must be a whole number, 2 or more"),
        (("--epsilon", "2", "--people", "9", "--question", "visits"), "ask for frequencies of symbols instead"),
        (("--epsilon", "2", "--people", "9", "--prior", "none"), "--prior takes 'uniform'"),
        (("--epsilon", "0.05", "--people", "9"), "a larger ε"),
    ],
)
def test_bad_use_is_refused_in_one_line(options, message):
    assert message in refused(*WORDS, *options)
