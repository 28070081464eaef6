"""Certificates that are kept between runs, and how one that was tampered with is found out.

A certificate is kept together with a tag that only this user's installation can compute, from a secret key in the same
directory. The tag says: this version of the program, run by this user, has proven the certificate. One without a valid
tag (a changed file, another user's) is only a claim: it is proven again in full before it is used, and not used if that
fails. Whoever can read the key as this user can change the program itself. Tags count only if nobody else can read or
replace the key: in a directory that others can write to, every certificate is proven again.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from dpwords.core.kept import directory, keep, kept
from dpwords.privacy.certificates.certificate import Certificate, certificates_of

_KEY = 32  # bytes


def kept_certificate(question: str, holds: Callable[[Certificate], bool]) -> Certificate | None:
    """The certificate that was kept as the answer to a question, if it has a valid tag or is proven again now."""
    document = kept(question)
    if document is None:
        return None
    try:
        (found,) = certificates_of(document)
        if _tagged_here(document, question, found) or holds(found):
            return found
    except (OSError, ValueError, KeyError, TypeError):
        pass
    warnings.warn(
        "a certificate in the cache does not hold, or is damaged: it is not used, and made anew", stacklevel=2
    )
    return None


def keep_certificate(question: str, certificate: Certificate) -> None:
    """Keep a certificate that has just been proven; where nothing can be written, it is not kept."""
    with suppress(OSError):
        folder = directory()
        if folder is not None:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            keep(question, {"certificates": [asdict(certificate)], "tag": _tag(question, certificate)})


def _tagged_here(document: dict[str, Any], question: str, certificate: Certificate) -> bool:
    """Whether a certificate has a valid tag, whose key only this user can have used."""
    tag = _tag(question, certificate)
    return hmac.compare_digest(str(document.get("tag")).encode(), tag.encode()) and _is_ours()


def _is_ours() -> bool:
    """Whether directory and key belong to this user, and others can neither write to the one nor read the other."""
    folder = directory()
    if folder is None or os.name != "posix":
        return folder is not None
    there, key = folder.stat(), (folder / "key").stat()
    return {there.st_uid, key.st_uid} == {os.geteuid()} and not there.st_mode & 0o022 and not key.st_mode & 0o077


def _tag(question: str, certificate: Certificate) -> str:
    claim = json.dumps([question, asdict(certificate)], sort_keys=True)
    return hmac.new(_key(), claim.encode(), hashlib.sha256).hexdigest()


def _key() -> bytes:
    """The secret key of the directory, readable by its owner only; it is made when it is first needed."""
    folder = directory()
    if folder is None:
        raise OSError("nothing is kept")
    place, part = folder / "key", folder / f".{secrets.token_hex(8)}"
    if place.exists() and place.stat().st_size != _KEY:  # damaged: what it has signed is proven again
        place.unlink()
    if not place.exists():
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(_KEY))
        with suppress(FileExistsError):  # another process was quicker
            os.link(part, place)  # all of the key, or none
        part.unlink()
    key = place.read_bytes()
    if len(key) != _KEY:
        raise OSError("the key is damaged")
    return key
