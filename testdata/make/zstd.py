"""Writes zstd frames of stored (uncompressed) blocks, so that fixtures do not depend on a compressor's version."""

MAGIC = b"\x28\xb5\x2f\xfd"
MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = 11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261


def rotate(value, by):
    return ((value << by) | (value >> (64 - by))) & MASK


def mix(lane, word):
    return rotate((lane + word * P2) & MASK, 31) * P1 & MASK


def xxh64(data):
    """The 64-bit xxHash with seed 0: its low four bytes are a frame's checksum."""
    word = lambda at, size: int.from_bytes(data[at:at + size], "little")
    at = 0
    if len(data) >= 32:
        lanes = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
        while at + 32 <= len(data):
            lanes = [mix(lane, word(at + 8 * n, 8)) for n, lane in enumerate(lanes)]
            at += 32
        value = sum(rotate(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            value = ((value ^ mix(0, lane)) * P1 + P4) & MASK
    else:
        value = P5
    value = (value + len(data)) & MASK
    while at + 8 <= len(data):
        value = (rotate(value ^ mix(0, word(at, 8)), 27) * P1 + P4) & MASK
        at += 8
    if at + 4 <= len(data):
        value = (rotate(value ^ (word(at, 4) * P1 & MASK), 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        value = rotate(value ^ (byte * P5 & MASK), 11) * P1 & MASK
    value = (value ^ (value >> 33)) * P2 & MASK
    value = (value ^ (value >> 29)) * P3 & MASK
    return value ^ (value >> 32)


def frame(data, checksum=True):
    """One frame, with one block for each line of `data`, so that a cut between blocks leaves whole lines."""
    pieces = data.splitlines(keepends=True) or [b""]
    blocks = b""
    for n, piece in enumerate(pieces):
        last = n + 1 == len(pieces)
        blocks += (last | len(piece) << 3).to_bytes(3, "little") + piece
    # single segment, content size in four bytes
    descriptor = bytes([0b1010_0000 | (0b100 if checksum else 0)])
    tail = (xxh64(data) & 0xFFFFFFFF).to_bytes(4, "little") if checksum else b""
    return MAGIC + descriptor + len(data).to_bytes(4, "little") + blocks + tail
