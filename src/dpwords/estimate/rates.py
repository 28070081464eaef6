"""Transition rates: the probability of each step in its state, from the proportions of all steps."""

from __future__ import annotations

import numpy as np

from dpwords.core.scaled import Floats, Integers
from dpwords.estimate.results import (
    Estimate,
    Estimates,
    FoundAnswers,
    estimates,
    interval_factor,
    on_simplex,
    sampling_errors,
)
from dpwords.estimate.uncertainty import scaled_to
from dpwords.models.fitting import EstimateMethod


class Rates(Estimates):
    """Rows of a transition matrix, {(state, next state): Estimate}; the rates of each state sum to 1.

    `covariance` is the matrix of their covariances, in the order of the labels. States that may not occur at all are
    left out: the error of their proportion is as large as the proportion.
    """

    covariance: Floats


def rates(found: FoundAnswers, confidence: float, releases: int) -> Rates:
    """The rates from proportions of pairs and their covariances, by the delta method. Cost: labels · labels.

    A rate is r = p/s with the sum s of the proportions in its row, so that its derivative is ([same label] − r)/s. No
    error is below that of a sample of as many true steps from its state.
    """
    table = estimates(found, confidence=confidence, releases=releases, question="transitions")
    assert found.covariance is not None
    pairs = on_simplex(found.raw) if found.method is EstimateMethod.INVERSE else found.raw
    rows = {state: number for number, state in enumerate(dict.fromkeys(a for a, _ in found.labels))}
    row = np.array([rows[a] for a, _ in found.labels])
    sums: Floats = np.bincount(row, pairs, len(rows)).astype(np.float64)[row]
    error = np.sqrt(np.maximum(_by_row(found.covariance, row, len(rows)), 0.0))[row]
    known = (sums > 0) & (sums > error)  # otherwise the state itself may not occur
    value = np.divide(pairs, sums, out=np.zeros(len(pairs)), where=known)
    kept, scale = np.flatnonzero(known), np.where(known, sums, 1.0)
    half = _derived(found.covariance, value, row, scale)
    covariance = _derived(half[kept].T, value, row, scale)[kept]
    assert found.answers is not None
    value, left = value[kept], np.maximum((found.answers * sums)[kept], 1.0)  # how often the state is left
    errors = np.maximum(np.sqrt(np.maximum(np.diagonal(covariance), 0.0)), sampling_errors(value, left))
    covariance, half = scaled_to(covariance, errors), interval_factor(confidence) * errors
    low, high = np.clip(value - half, 0.0, 1.0), np.clip(value + half, 0.0, 1.0)
    labels, counted = [found.labels[number] for number in kept.tolist()], _counted(found, row, len(rows))[kept]
    open_rows = len(rows) - len(set(row[kept].tolist()))
    states = "a state may not occur at all, and is" if open_rows == 1 else f"{open_rows} states may not occur, and are"
    notes = (f"{states} left out",) if open_rows else ()
    result = Rates(
        zip(labels, map(Estimate, value.tolist(), low.tolist(), high.tolist()), strict=True),
        question="rates",
        method=table.method,
        confidence=confidence,
        releases=releases,
        counted=dict(zip(labels, counted.tolist(), strict=True)),
        errors=dict(zip(labels, errors.tolist(), strict=True)),
        model=table.model,
        fits=table.fits,
        notes=(*table.notes, *notes),
        rough=table.rough,
    )
    result.covariance = covariance
    return result


def _derived(columns: Floats, value: Floats, row: Integers, scale: Floats) -> Floats:
    """The derivatives of the rates, applied to columns of changes of the proportions of pairs."""
    sums = np.zeros((int(row.max()) + 1, columns.shape[1]))
    np.add.at(sums, row, columns)
    return np.asarray((columns - value[:, None] * sums[row]) / scale[:, None])


def _by_row(covariance: Floats, row: Integers, number: int) -> Floats:
    """The variance of the sum of each row."""
    sums = np.zeros((number, len(row)))
    np.add.at(sums, row, covariance)
    return np.bincount(row, sums[row, np.arange(len(row))], number).astype(np.float64)


def _counted(found: FoundAnswers, row: Integers, number: int) -> Floats:
    sums = np.bincount(row, found.counted, number)[row]
    return np.asarray(np.divide(found.counted, sums, out=np.zeros(len(row)), where=sums > 0))
