#!/usr/bin/env python3
"""Checks a directory that `bursar audit export` wrote. Shares no code with bursar: the standard library, `cryptography`
for Ed25519, and the program `zstd`.

    python3 verify_bundle.py DIR [--key KEY] [--checkpoints FILE]

Prints the trial balance and the root, or the first position that is not as it was signed; exits with 1 then.
"""
import argparse
import base64
import hashlib
import json
import pathlib
import subprocess
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

EVENTS_PER_FILE = 65_536


class Tampered(Exception):
    def __init__(self, position, what):
        super().__init__(f"DIFFERENT at position {position}: {what}")


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


class Tree:
    """RFC 6962, section 2.1: the roots of the perfect subtrees so far, with their sizes, largest first."""

    def __init__(self):
        self.subtrees = []

    def push(self, leaf):
        size = 1
        while self.subtrees and self.subtrees[-1][0] == size:
            _, left = self.subtrees.pop()
            leaf, size = sha256(b"\x01", left, leaf), size * 2
        self.subtrees.append((size, leaf))

    def root(self):
        if not self.subtrees:
            return sha256()
        *rest, (_, root) = self.subtrees
        for _, left in reversed(rest):
            root = sha256(b"\x01", left, root)
        return root


def unpacked(text):
    """Base64, of which each text has one spelling."""
    raw = base64.b64decode(text, validate=True)
    if base64.b64encode(raw).decode() != text:
        raise ValueError
    return raw


class Key:
    """A public key as C2SP signed-note writes it: NAME+KEY ID+base64(1 || Ed25519 key)."""

    def __init__(self, text):
        self.name, key_id, key = text.strip().split("+", 2)
        key = base64.b64decode(key, validate=True)
        if key[0] != 1 or sha256(self.name.encode(), b"\n", key)[:4].hex() != key_id:
            sys.exit("not a public key")
        self.id, self.public = bytes.fromhex(key_id), Ed25519PublicKey.from_public_bytes(key[1:])

    def open(self, note):
        """The size and the root that a signed note vouches for; None when this key has not signed it."""
        try:
            text, _, signatures = note.partition("\n\n")
            text, signed = text + "\n", False
            for line in signatures.splitlines():
                dash, name, signature = line.split(" ")
                signature = unpacked(signature)
                if dash == "\u2014" and name == self.name and signature[:4] == self.id:
                    self.public.verify(signature[4:], text.encode())
                    signed = True
            origin, size, root = text.splitlines()
            # One text a checkpoint.
            whole = f"{self.name}\n{int(size)}\n{root}\n" == text
            return (int(size), unpacked(root)) if signed and origin == self.name and whole else None
        except (InvalidSignature, ValueError):
            return None


def checkpoints(path, key):
    """The sizes and roots that the bank has signed, one after the other."""
    before = 0
    for line in path.read_bytes().splitlines():
        try:
            said = json.loads(line)
            size, root = key.open(said["note"])
            if (said["size"], said["root"]) != (size, root.hex()) or size <= before:
                raise ValueError
        except (ValueError, TypeError, KeyError):
            raise Tampered(before + 1, f"the checkpoint after event {before}") from None
        yield size, root
        before = size


def outside(path, key):
    """The same of a file that was kept outside the bank: notes, each of which ends with its signature."""
    notes, note = [], ""
    for line in path.read_text().splitlines() if path else []:
        if not note and not line:
            continue
        note += line + "\n"
        if line.startswith("\u2014"):
            opened, note = key.open(note), ""
            if opened is None:
                raise Tampered(0, "a checkpoint from outside is not signed by the bank")
            notes.append(opened)
    return sorted(notes)


def lines(directory, size):
    """The lines of all files of events, with the position that each must have."""
    for first in range(1, size + 1, EVENTS_PER_FILE):
        last = min(size, first + EVENTS_PER_FILE - 1)
        path = directory / "events" / f"{first:012}-{last:012}.jsonl.zst"
        if not path.exists():
            raise Tampered(first, f"no file {path}")
        unpacked = subprocess.run(["zstd", "-dcq", str(path)], capture_output=True, check=False)
        found = unpacked.stdout.split(b"\n")
        if found.pop() or unpacked.returncode:
            raise Tampered(first + len(found), "the file of events cannot be read")
        for position in range(first, last + 1):
            if position - first >= len(found):
                raise Tampered(position, "no such event")
            yield position, found[position - first]
        if len(found) > last + 1 - first:
            raise Tampered(last, "more events than the file can have")


class Books:
    """Every balance, from nothing but postings."""

    def __init__(self):
        self.balances, self.versions, self.customers = {}, {}, set()

    def take(self, position, event):
        stream = event["aggregateType"], event["aggregateId"]
        if event["sequence"] != self.versions.get(stream, 0) + 1:
            raise Tampered(position, f"sequence {event['sequence']} of {stream}")
        self.versions[stream] = event["sequence"]
        if event["eventType"] == "account.opened":
            self.customers.add(event["aggregateId"])
        payload = event["payload"]
        # An event that says nothing but its name is text.
        bodies = [body for body in (payload.values() if isinstance(payload, dict) else []) if isinstance(body, dict)]
        for postings in (body["postings"] for body in bodies if "postings" in body):
            sums = {}
            for posting in postings:
                account, currency = posting["account"], posting["currency"]
                sums[currency] = sums.get(currency, 0) + posting["amount"]
                balance = self.balances.get((currency, account), 0) + posting["amount"]
                if balance != posting["balance"]:
                    raise Tampered(position, f"balance of {account}: {posting['balance']}, not {balance}")
                self.balances[currency, account] = balance
            if any(sums.values()):
                raise Tampered(position, f"postings that sum to {sums}")

    def print(self):
        trial = {}
        for (currency, account), balance in self.balances.items():
            line = "customers" if account in self.customers else account
            trial.setdefault(currency, {}).setdefault(line, 0)
            trial[currency][line] += balance
        for currency, accounts in sorted(trial.items()):
            print(f"trial balance, {currency}, minor units")
            width = max(map(len, accounts))
            for line, balance in [*sorted(accounts.items()), ("total", sum(accounts.values()))]:
                print(f"  {line:<{width}} {balance:>24}")


def check(directory, key, kept):
    try:
        manifest = json.loads((directory / "bundle.json").read_text())
        size = manifest["events"]
        if manifest["version"] != 1 or manifest["origin"] != key.name:
            raise ValueError
    except (ValueError, KeyError, TypeError):
        sys.exit(f"{directory / 'bundle.json'}: not the log of {key.name}")
    hashes = (directory / "hashes.bin").read_bytes()
    promises, kept = checkpoints(directory / "checkpoints.jsonl", key), outside(kept, key)
    tree, books, held, before, promise = Tree(), Books(), 0, "", next(promises, None)
    for position, line in lines(directory, size):
        leaf = sha256(b"\x00", line)
        try:
            event = json.loads(line)
            if event["position"] != position:
                raise Tampered(position, f"the event of position {event['position']} stands here")
            if leaf != hashes[32 * position - 32 : 32 * position]:
                raise Tampered(position, "the event is not the one that was sealed")
            tree.push(leaf)
            # Of one length up to microseconds, or shorter: compared as times.
            if (at := event["recordedAt"].rstrip("Z").ljust(26, "0")) and before > at:
                raise Tampered(position, "recorded before the event in front of it")
            before = at
            books.take(position, event)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise Tampered(position, "not an event") from None
        if promise and promise[0] == position:
            if promise[1] != tree.root():
                raise Tampered(position, f"the checkpoint over events {held + 1} to {position}")
            held, promise = position, next(promises, None)
        while kept and kept[0][0] <= position:
            if kept.pop(0) != (position, tree.root()):
                raise Tampered(position, "another log than a checkpoint from outside says")
    if len(hashes) != 32 * size:
        raise Tampered(size, "more hashes than events")
    if kept or promise:
        raise Tampered(size + 1, f"the log goes on to {max(c[0] for c in [*kept, promise] if c)}, a checkpoint says")
    if held != size:
        raise Tampered(held + 1, "no checkpoint vouches for this event and those that follow")
    books.print()
    print(f"verified: {size} events, {len(books.versions)} aggregates")
    print(f"root: {tree.root().hex()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("--key", help="the bank's public key, as somebody else has kept it")
    parser.add_argument("--checkpoints", type=pathlib.Path, help="a file of checkpoints that was kept outside the bank")
    arguments = parser.parse_args()
    try:
        key = Key(arguments.key or (arguments.dir / "key.txt").read_text())
        check(arguments.dir, key, arguments.checkpoints)
    except Tampered as tampered:
        print(tampered)
        sys.exit(1)


if __name__ == "__main__":
    main()
