"""The object that makes a folder a store: its format and the secret under which values are hidden."""

from __future__ import annotations

import hashlib
import hmac
from secrets import token_bytes

import msgspec

from headgate.store.fault_points import fault_point
from headgate.store.files import places
from headgate.store.files.blobs import Blobs
from headgate.store.files.entry import add_path_to_errors, body_of, decode_body
from headgate.values.codec import Head, pack, seal
from headgate.values.errors import CorruptBytes, MisuseError, NewerFormat

FORMAT = 1
_TAG = "store"


class _Format(msgspec.Struct, frozen=True):
    format: int


class Identity(msgspec.Struct, frozen=True):
    """`secret` is empty if it is kept elsewhere; `check` is a hash of it, to test a given secret."""

    format: int
    secret: bytes
    check: bytes

    def __repr__(self) -> str:
        return f"Identity(format={self.format})"


def ensure_identity(blobs: Blobs, given: bytes | None) -> Identity:
    """The identity of a store; a new one is written if there is none."""
    identity = read_identity(blobs)
    if identity is None:
        secret = given or token_bytes(32)
        fault_point(f"{blobs.kind}.store")
        fresh = Identity(FORMAT, b"" if given else secret, _hash_secret(secret))
        blobs.put(places.STORE, seal(pack(fresh), Head(_TAG, "")))
        identity = read_identity(blobs)  # another process may have been first
    if identity is None:
        raise CorruptBytes(f"{places.STORE} was written and is not there.")
    return identity


def secret_of(store: Identity, given: bytes | None) -> bytes:
    """The secret under which values are hashed: the given one, if it is right, or the one that the store keeps."""
    secret = given or store.secret
    if not secret:
        raise MisuseError("the secret of this store is kept elsewhere.", hint="Give it: open_store(url, secret=...).")
    if not hmac.compare_digest(_hash_secret(secret), store.check):
        raise MisuseError(
            "this is not the secret of this store: equal values would no longer be seen to be equal.",
            hint="Give the one it was made with, or none if it keeps its own.",
        )
    return secret


def read_identity(blobs: Blobs) -> Identity | None:
    """The identity of a store; None if there is none."""
    data = blobs.read(places.STORE)
    if data is None:
        return None
    with add_path_to_errors(places.STORE):
        body = body_of(data, _TAG, "")
        version = decode_body(body, _Format).format
        if version > FORMAT:
            raise NewerFormat(
                f"this store has format {version}; this version reads up to {FORMAT}.", hint="Upgrade headgate."
            )
        return decode_body(body, Identity)


def _hash_secret(secret: bytes) -> bytes:
    return hashlib.blake2b(b"headgate", key=secret[:64], digest_size=16).digest()
