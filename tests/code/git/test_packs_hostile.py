"""Packs that were made to keep whoever reads them busy."""

import zlib

from claude_mem_lite.code.git.commits import Commits
from claude_mem_lite.code.git.objects import Objects
from tests.support.git_repositories import Checkout


def test_a_commit_that_takes_countless_steps_to_make_is_missing(shop: Checkout) -> None:
    head = f"tree {'a' * 40}\nauthor a <a> 1700000000 +0000\ncommitter a <a> 1700000000 +0000\n\n".encode()
    usual = hostile_pack(shop, "b", head, steps=100)
    assert Commits(Objects(shop.root / ".git")).get(usual) is not None
    for steps in (50_001, 1_000_000):
        assert Commits(Objects(shop.root / ".git")).get(hostile_pack(shop, "c", head, steps)) is None


def hostile_pack(shop: Checkout, name: str, head: bytes, steps: int) -> str:
    """A pack with one commit, made from another by adding its head and then one byte with each of many steps."""

    def sized(first: int, size: int, bits: int) -> bytes:
        parts = [first | size & (1 << bits) - 1]
        size >>= bits
        while size:
            parts[-1] |= 128
            parts.append(size & 127)
            size >>= 7
        return bytes(parts)

    delta = sized(0, 16, 7) + sized(0, len(head) + steps, 7)
    delta += b"".join(bytes([len(head[at : at + 99])]) + head[at : at + 99] for at in range(0, len(head), 99))
    delta += b"\x90\x01" * steps
    base, made = b"\x01" * 20, b"\x02" * 19 + name.encode()
    content = [b"PACK\0\0\0\2\0\0\0\2", sized(1 << 4, 16, 4) + zlib.compress(b" " * 16)]
    content.append(sized(7 << 4, len(delta), 4) + base + zlib.compress(delta))
    offsets = [len(content[0]), len(content[0]) + len(content[1])]
    fanout = [0] + [1] + [2] * 254
    index = b"\xfftOc\0\0\0\2" + b"".join(one.to_bytes(4, "big") for one in fanout) + base + made
    index += bytes(8) + b"".join(one.to_bytes(4, "big") for one in offsets) + bytes(40)
    folder = shop.root / ".git" / "objects" / "pack"
    (folder / f"pack-{name * 40}.pack").write_bytes(b"".join(content) + bytes(20))
    (folder / f"pack-{name * 40}.idx").write_bytes(index)
    return made.hex()
