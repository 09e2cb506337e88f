//! Where bytes go that must outlive their line.
//!
//! **Takes** bytes of the current line. **Gives** the same bytes for as long as the source lives: as a slice of the log where it lies
//! in memory as a whole, otherwise as a copy in an append-only [`Store`]. **Never** frees or moves what was kept, and never writes
//! anywhere but into memory and nameless temporary files.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::error::SourceError;
use super::map::Segment;
use crate::line::Span;

/// How to make bytes of the current line outlive it.
#[derive(Clone, Copy)]
pub enum Keep<'log> {
    /// The decoded log lies in memory from its first to its last byte: kept bytes are a slice of it.
    Whole(&'log [u8]),
    /// The log passes by: kept bytes are copied.
    Store(&'log Store),
}

impl<'log> Keep<'log> {
    /// Keeps `bytes`, which stand at `span` of the decoded log. Copies only over a stream.
    ///
    /// Always gives the bytes asked for. When a stream's store has no room left the next
    /// [`Lines::next_line`](super::Lines::next_line) or [`Source::check`](super::Source::check) is an error.
    pub fn keep(self, bytes: &[u8], span: Span) -> &'log [u8] {
        match self {
            Keep::Whole(log) => {
                let range = usize::try_from(span.start)
                    .ok()
                    .zip(usize::try_from(span.end).ok());
                let kept = range
                    .and_then(|(start, end)| log.get(start..end))
                    .unwrap_or_default();
                debug_assert_eq!(kept.len(), bytes.len(), "a span of this log");
                kept
            }
            Keep::Store(store) => store.keep(bytes),
        }
    }
}

/// Append-only memory that spills into nameless temporary files. Slices stay valid while more is kept.
pub struct Store {
    /// Opened in order, never closed before the store is.
    segments: [OnceLock<Segment>; Store::SEGMENTS],
    growth: Mutex<Growth>,
    /// Set with the growth's failure; asked at every line.
    failed: AtomicBool,
    memory_limit: u64,
}

struct Growth {
    /// Number of segments opened; the last of them is being filled.
    opened: usize,
    /// Bytes of address space taken by segments in memory.
    in_memory: u64,
    /// The first refusal of the system.
    failure: Option<io::Error>,
}

impl Store {
    const FIRST_SEGMENT: usize = 1 << 20;
    const LARGEST_SEGMENT: usize = 1 << 30;
    /// More than 50 GiB in segments that double from the first to the largest size.
    const SEGMENTS: usize = 64;

    /// An empty store. Takes memory or files only when something is kept.
    pub(super) fn new(memory_limit: u64) -> Store {
        Store {
            segments: [const { OnceLock::new() }; Store::SEGMENTS],
            growth: Mutex::new(Growth {
                opened: 0,
                in_memory: 0,
                failure: None,
            }),
            failed: AtomicBool::new(false),
            memory_limit,
        }
    }

    /// Keeps a copy of `bytes`.
    ///
    /// Always gives the bytes: when the system refuses room they are leaked, and [`check`](Store::check) fails from then on,
    /// which ends the reading at the next line.
    pub(super) fn keep(&self, bytes: &[u8]) -> &[u8] {
        if bytes.is_empty() {
            return &[];
        }
        let mut growth = self.growth();
        self.try_keep(&mut growth, bytes).unwrap_or_else(|error| {
            growth.failure.get_or_insert(error);
            self.failed.store(true, Ordering::Relaxed);
            Box::leak(Box::from(bytes))
        })
    }

    /// Whether everything could be kept so far.
    ///
    /// # Errors
    ///
    /// [`SourceError::Keep`] when something could not.
    #[inline]
    pub(super) fn check(&self) -> Result<(), SourceError> {
        if self.failed.load(Ordering::Relaxed) {
            Err(self.failure())
        } else {
            Ok(())
        }
    }

    #[cold]
    fn failure(&self) -> SourceError {
        SourceError::Keep(match &self.growth().failure {
            Some(error) => io::Error::new(error.kind(), error.to_string()),
            None => io::ErrorKind::StorageFull.into(),
        })
    }

    /// Gives the pages of kept bytes that lie in files back to the system. Slices stay valid.
    pub(super) fn give_back(&self) {
        self.segments
            .iter()
            .map_while(OnceLock::get)
            .for_each(Segment::give_back);
    }

    fn growth(&self) -> MutexGuard<'_, Growth> {
        self.growth.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_keep(&self, growth: &mut Growth, bytes: &[u8]) -> io::Result<&[u8]> {
        if growth.failure.is_some() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let filling = growth
            .opened
            .checked_sub(1)
            .and_then(|last| self.segments.get(last)?.get());
        if let Some(kept) = filling
            .map(|segment| segment.append(bytes))
            .transpose()?
            .flatten()
        {
            return Ok(kept);
        }
        let kept = self.open_segment(growth, bytes.len())?.append(bytes)?;
        kept.ok_or_else(|| io::ErrorKind::StorageFull.into())
    }

    /// Opens the next segment, with room for `least` bytes.
    fn open_segment(&self, growth: &mut Growth, least: usize) -> io::Result<&Segment> {
        let slot = self
            .segments
            .get(growth.opened)
            .ok_or(io::ErrorKind::StorageFull)?;
        let doubled = Self::FIRST_SEGMENT << growth.opened.min(10);
        let size = doubled.min(Self::LARGEST_SEGMENT).max(least);
        let memory_left = self.memory_limit.saturating_sub(growth.in_memory);
        let in_memory = usize::try_from(memory_left).unwrap_or(usize::MAX).min(size);
        let segment = if in_memory >= least {
            growth.in_memory += in_memory as u64;
            Segment::in_memory(in_memory)?
        } else {
            Segment::in_file(tempfile::tempfile()?, size)?
        };
        growth.opened += 1;
        Ok(slot.get_or_init(|| segment))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of many sizes; what was kept first must still be there when the last was kept.
    fn fill(store: &Store, values: usize) -> Vec<&[u8]> {
        let value = |n: usize| vec![n as u8; n * 7919 % 50_000];
        let kept: Vec<&[u8]> = (0..values).map(|n| store.keep(&value(n))).collect();
        assert!(kept.iter().enumerate().all(|(n, bytes)| *bytes == value(n)));
        kept
    }

    #[test]
    fn kept_bytes_survive_growth_in_memory() {
        let store = Store::new(u64::MAX);
        fill(&store, 400);
        assert!(store.growth().opened > 2);
        assert!(store.check().is_ok());
    }

    #[test]
    fn kept_bytes_spill_into_files() {
        let store = Store::new(3 << 20);
        let kept = fill(&store, 400);
        assert!(kept.iter().map(|bytes| bytes.len()).sum::<usize>() > 3 << 20);
        assert_eq!(store.growth().in_memory, 3 << 20);
        assert!(store.check().is_ok());
        store.give_back();
        assert!(
            kept.iter()
                .enumerate()
                .all(|(n, bytes)| bytes.iter().all(|byte| *byte == n as u8))
        );
        fill(&Store::new(0), 100);
    }

    #[test]
    fn a_value_larger_than_any_segment_has_its_own() {
        let store = Store::new(16);
        let large = vec![7; Store::FIRST_SEGMENT * 3];
        assert_eq!(store.keep(b"small"), b"small");
        assert_eq!(store.keep(&large), large);
        assert!(store.check().is_ok());
    }

    #[test]
    fn a_refusal_is_an_error_later_and_loses_nothing_now() {
        let store = Store::new(0);
        store.growth().opened = Store::SEGMENTS;
        assert_eq!(store.keep(b"one"), b"one");
        assert_eq!(store.keep(b"two"), b"two");
        assert!(matches!(store.check(), Err(SourceError::Keep(_))));
    }

    #[test]
    fn a_whole_log_keeps_slices_of_itself() {
        let log = b"header\nevent\n";
        let kept = Keep::Whole(log).keep(b"event", Span { start: 7, end: 12 });
        assert!(std::ptr::eq(kept.as_ptr(), &raw const log[7]));
        assert_eq!(kept, b"event");
    }
}
