//! SHA-256 of each request, continued from the last one while earlier bytes stay.
//!
//! **Takes** requests in order. **Gives** their digests. **Never** hashes a byte twice that the next request only repeats.

use std::io::{self, Write};

use sha2::{Digest, Sha256};

use super::sent::Request;
use crate::record::Raw;

/// The digests of a walk's requests.
#[derive(Clone, Debug, Default)]
pub struct Digests {
    /// Hasher behind the last message of the previous request, and whether a message was written by then.
    behind: Option<(Sha256, bool)>,
}

struct Hashing<'h>(&'h mut Sha256);

impl Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Digests {
    /// The digest of the next request's options, in hex. Costs the bytes that are new in it, as long as nothing before them changes.
    ///
    /// # Errors
    ///
    /// None of its own: hashing does not fail.
    pub fn next(&mut self, request: &Request<'_, '_>) -> io::Result<String> {
        let touched = request.touched();
        let continued = touched.same_frame && touched.kept == touched.before;
        let (mut hasher, mut any, from) = match self.behind.take().filter(|_| continued) {
            Some((hasher, any)) => (hasher, any, touched.before),
            None => {
                let mut hasher = Sha256::new();
                let any = request.write_head(&mut Hashing(&mut hasher))?;
                (hasher, any, 0)
            }
        };
        for message in request.surface().iter().skip(from) {
            any = request.write_message(*message, any, &mut Hashing(&mut hasher))?;
        }
        self.behind = Some((hasher.clone(), any));
        request.write_tail(&mut Hashing(&mut hasher))?;
        Ok(hex(&hasher.finalize()))
    }
}

/// SHA-256 of a value's printed form, in hex: comparable with the digest of a request.
pub fn digest_of(value: Raw<'_>) -> String {
    let mut hasher = Sha256::new();
    // Hashing does not fail.
    let _ = value.print(&mut Hashing(&mut hasher));
    hex(&hasher.finalize())
}

/// SHA-256 of bytes that were written out, in hex.
pub fn digest_of_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// A digest as [`digest_of`] gives it, out of hex digits of either case; `None` if the text is no SHA-256.
pub fn hex_digest_of(text: &str) -> Option<String> {
    let is_digest = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_digest.then(|| text.to_ascii_lowercase())
}

/// Bytes as lower-case hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            text.push(char::from_digit(u32::from(byte >> 4), 16).unwrap_or('0'));
            text.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or('0'));
            text
        })
}
