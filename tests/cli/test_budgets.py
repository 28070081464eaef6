"""dpwords estimate on files whose words share the budget of a person: it needs one ε for all words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.test_estimate import release, table
from commands import refused, run

PUBLIC = ("--column", "w", "--alphabet", "ab")


def words(path: Path, *numbers: int) -> Path:
    """People who have so many words each, all of them "ab"."""
    rows = [f"{person},ab" for person, number in enumerate(numbers) for _ in range(number)]
    path.write_text("\n".join(["who,w", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("split", [(), ("--split", "equal")], ids=str)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_budget_that_gave_every_word_the_same_epsilon(split: tuple[str, ...], suffix: str, tmp_path: Path) -> None:
    """100 people with 3 words each share 9: the answer is that of the same words, released at ε = 3."""
    source = words(tmp_path / "in.csv", *[3] * 100)
    shared = release(source, tmp_path / f"shared{suffix}", *PUBLIC, "--by", "who", "--budget", "9", *split)
    done = run("estimate", "--input", str(shared), "--question", "frequencies")
    assert (done.returncode, "from 300 releases" in done.stderr) == (0, True)
    bare = tmp_path / f"bare{suffix}"  # the same words, without a receipt
    bare.write_bytes(shared.read_bytes())
    options = () if suffix == ".parquet" else (*PUBLIC, "-e", "3")
    assert run("estimate", "--input", str(bare), "--question", "frequencies", *options).stdout == done.stdout
    found = table(done.stdout)
    assert found["a"][1] <= 0.5 <= found["a"][2]
    wrong = refused("estimate", "--input", str(shared), "--question", "frequencies", "-e", "9")
    assert "the receipt says that ε was 3.0" in wrong


def test_what_the_receipt_says_about_each_word(tmp_path: Path) -> None:
    for name, numbers, said in (("same", [3, 3], 2.0), ("other", [3, 2], None), ("one", [1, 1], 6.0)):
        source = words(tmp_path / "in.csv", *numbers)
        target = release(source, tmp_path / f"{name}.csv", *PUBLIC, "--by", "who", "--budget", "6")
        receipt = json.loads(Path(f"{target}.receipt.json").read_text(encoding="utf-8"))
        assert (receipt.get("epsilon_of_each_word"), receipt["epsilon"]) == (said, 6.0)
        again = run(
            "release",
            "--input",
            str(source),
            *PUBLIC,
            "--by",
            "who",
            "--budget",
            "6",
            "--resume",
            "--output",
            str(target),
        )
        assert "is complete: there is nothing to resume" in again.stderr
    plain = release(source, tmp_path / "plain.csv", *PUBLIC, "--by", "who", "-e", "2")
    assert "epsilon_of_each_word" not in Path(f"{plain}.receipt.json").read_text(encoding="utf-8")


def test_a_damaged_epsilon_of_each_word(tmp_path: Path) -> None:
    source = words(tmp_path / "in.csv", *[2] * 20)
    target = release(source, tmp_path / "out.csv", *PUBLIC, "--by", "who", "--budget", "6")
    place = Path(f"{target}.receipt.json")
    receipt = json.loads(place.read_text(encoding="utf-8"))
    for wrong in (0, -1.0, "3", True, None, 1e9):
        place.write_text(json.dumps({**receipt, "epsilon_of_each_word": wrong}), encoding="utf-8")
        assert "damaged" in refused("estimate", "--input", str(target), "--question", "frequencies")


def test_different_epsilons_are_refused_with_what_would_work(tmp_path: Path) -> None:
    source = words(tmp_path / "in.csv", *[2] * 9, 1)
    target = release(source, tmp_path / "equal.csv", *PUBLIC, "--by", "who", "--budget", "12")
    message = refused("estimate", "--input", str(target), "--question", "frequencies")
    assert "the words have different ε" in message
    assert "--split first and an --epsilon" in message
    assert "without a --budget" in message
    first = release(
        source, tmp_path / "first.csv", *PUBLIC, "--by", "who", "--budget", "12", "--split", "first", "-e", "12"
    )
    assert "from 10 releases" in run("estimate", "--input", str(first), "--question", "frequencies").stderr
    charged = ("--by", "who", "--budget", "30", "-e", "12", "--ledger", str(tmp_path / "ledger.db"))
    ledger = release(source, tmp_path / "ledger.csv", *PUBLIC, *charged)
    assert "from 19 releases" in run("estimate", "--input", str(ledger), "--question", "frequencies").stderr


def test_before_words_get_different_epsilons_it_is_said_what_would_work(tmp_path: Path) -> None:
    source = words(tmp_path / "in.csv", *[2] * 9, 1)
    given = ("release", "--input", str(source), "--output", str(tmp_path / "out.csv"), *PUBLIC, "--by", "who")
    different = run(*given, "--budget", "12").stderr
    assert "proportions of a population are estimated from words of one ε" in different
    assert "release with --split first and an --epsilon" in different
    assert "words of one ε" not in run(*given, "--budget", "12", "--split", "first", "-e", "4").stderr
    assert "words of one ε" not in run(*given, "-e", "4").stderr


def test_a_large_budget_is_answered_with_a_smaller_one(tmp_path: Path) -> None:
    source = words(tmp_path / "in.csv", *[4] * 9)
    given = ("release", "--input", str(source), "--output", str(tmp_path / "out.csv"), *PUBLIC, "--by", "who")
    for budget in (("--budget", "300"), ("--budget", "40", "--split", "first", "-e", "10")):
        assert "promises next to nothing" in run(*given, *budget).stderr
        assert "give a smaller --budget, or release fewer words of each" in run(*given, *budget).stderr
    assert "give a --budget, or release fewer words of each" in run(*given, "-e", "10").stderr
    assert "next to nothing" not in run(*given, "--budget", "8").stderr
