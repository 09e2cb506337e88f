//! Digests that do not see the order of members.
//!
//! **Takes** values. **Gives** digests that may be added up. **Never** prints a value.

use xxhash_rust::xxh3::xxh3_128;

use crate::record::Raw;

/// A digest of a digest, in a place of its own.
pub(super) fn tagged(tag: u8, digest: u128) -> u128 {
    let mut bytes = [tag; 17];
    for (slot, byte) in bytes.iter_mut().skip(1).zip(digest.to_le_bytes()) {
        *slot = byte;
    }
    xxh3_128(&bytes)
}

/// A member under a name. Order does not matter: members may be added up.
pub(super) fn member(name: &[u8], value: u128) -> u128 {
    tagged(3, xxh3_128(name).wrapping_add(value))
}

/// A member of this name; nothing where it is absent.
pub(super) fn named(name: &str, value: Option<Raw<'_>>) -> u128 {
    value.map_or(0, |value| member(name.as_bytes(), value.deep_digest()))
}

/// All members of an object but those of these names.
pub(super) fn members_but(object: Raw<'_>, names: &[&str]) -> u128 {
    object
        .members()
        .filter(|(key, _)| !names.iter().any(|name| key.is_str(name)))
        .map(|(key, value)| {
            let name = key.text().map(|text| text.to_owned());
            member(
                name.as_ref().map_or(b"", |name| name.bytes()),
                value.deep_digest(),
            )
        })
        .fold(0, u128::wrapping_add)
}
