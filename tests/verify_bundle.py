#!/usr/bin/env python3
"""Checks a directory that `bursar audit export` wrote. Shares no code with bursar: the standard library, `cryptography`
for Ed25519, and the program `zstd`.

    python3 verify_bundle.py DIR [--key KEY]

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
        text, _, signatures = note.partition("\n\n")
        text += "\n"
        for line in signatures.splitlines():
            dash, name, signature = line.split(" ")
            signature = base64.b64decode(signature, validate=True)
            if dash == "\u2014" and name == self.name and signature[:4] == self.id:
                try:
                    self.public.verify(signature[4:], text.encode())
                except InvalidSignature:
                    return None
                origin, size, root = text.splitlines()[:3]
                return (int(size), base64.b64decode(root)) if origin == self.name else None
        return None


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


def check(directory, key):
    size = json.loads((directory / "bundle.json").read_text())["events"]
    hashes = (directory / "hashes.bin").read_bytes()
    promises = [json.loads(line) for line in (directory / "checkpoints.jsonl").read_text().splitlines()]
    tree, books, held, before = Tree(), Books(), 0, ""
    for position, line in lines(directory, size):
        try:
            event = json.loads(line)
        except ValueError:
            raise Tampered(position, "not an event") from None
        if event.get("position") != position:
            raise Tampered(position, f"the event of position {event.get('position')} stands here")
        leaf = sha256(b"\x00", line)
        if leaf != hashes[32 * position - 32 : 32 * position]:
            raise Tampered(position, "the event is not the one that was sealed")
        tree.push(leaf)
        # Of one length up to microseconds, or shorter: compared as times.
        if (at := event["recordedAt"].rstrip("Z").ljust(26, "0")) and before > at:
            raise Tampered(position, "recorded before the event in front of it")
        before = at
        books.take(position, event)
        while promises and promises[0]["size"] <= position:
            promise = promises.pop(0)
            if key.open(promise["note"]) != (position, tree.root()):
                raise Tampered(position, f"the checkpoint over events {held + 1} to {position}")
            held = position
    if promises or held != size:
        raise Tampered(min(held, size) + 1, "the log and its checkpoints end in different places")
    books.print()
    print(f"verified: {size} events, {len(books.versions)} aggregates")
    print(f"root: {tree.root().hex()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("--key", help="the bank's public key, as somebody else has kept it")
    arguments = parser.parse_args()
    try:
        check(arguments.dir, Key(arguments.key or (arguments.dir / "key.txt").read_text()))
    except Tampered as tampered:
        print(tampered)
        sys.exit(1)


if __name__ == "__main__":
    main()
