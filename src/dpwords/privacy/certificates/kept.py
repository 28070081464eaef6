"""Certificates that are kept between runs, and how one that was tampered with is found out.

A certificate with a valid tag was proven by this code, run by this user (see `dpwords.core.kept`). One without (a
changed file, another user's) is only a claim: it is proven again in full before it is used, and not used if that fails.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict

from dpwords.core.kept import keep, kept
from dpwords.privacy.certificates.certificate import Certificate, certificates_of


def kept_certificate(question: str, holds: Callable[[Certificate], bool]) -> Certificate | None:
    """The certificate that was kept as the answer to a question, if it has a valid tag or is proven again now."""
    document = kept(question)
    if document is None:
        return None
    try:
        (found,) = certificates_of(document.answer)
        if document.ours or holds(found):
            return found
    except (ValueError, KeyError, TypeError):
        pass
    warnings.warn(
        "a certificate in the cache does not hold, or is damaged: it is not used, and made anew", stacklevel=2
    )
    return None


def keep_certificate(question: str, certificate: Certificate) -> None:
    """Keep a certificate that has just been proven; where nothing can be written, it is not kept."""
    keep(question, {"certificates": [asdict(certificate)]})
