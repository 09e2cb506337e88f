//! The SHA-256 of a log's bytes as they lie in the file, or as they came through the pipe.
//!
//! **Takes** bytes on their way to a walk. **Gives** their digest after the last one.
//! **Never** decodes: of a compressed log it is the digest of the compressed bytes.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

/// Whether the digest of the input is wanted. It costs a second look at all bytes, and reads on to the end where the walk ended early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputDigest {
    /// No.
    #[default]
    Unwanted,
    /// Yes.
    Wanted,
}

/// A digest that grows while a stream is read elsewhere.
#[derive(Clone, Default)]
pub(super) struct RunningDigest(Arc<Mutex<Sha256>>);

impl RunningDigest {
    pub(super) fn update(&self, bytes: &[u8]) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .update(bytes);
    }

    /// The digest of all bytes so far.
    pub(super) fn so_far(&self) -> [u8; 32] {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
            .finalize()
            .into()
    }
}

/// A reader whose bytes are digested as they pass.
pub(super) struct Digesting<R> {
    pub(super) reader: R,
    pub(super) digest: RunningDigest,
}

impl<R: Read> Read for Digesting<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(into)?;
        self.digest.update(into.get(..read).unwrap_or_default());
        Ok(read)
    }
}
