//! Mapped memory: log files read in place, and append-only memory whose slices stay where they are.
//!
//! **Takes** open files and bytes to keep. **Gives** slices that live as long as their [`Map`] or [`Segment`].
//! **Never** writes to a log, and never lets an `unsafe` operation out: this is the crate's only file that has any.

use std::fs::File;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use memmap2::{Mmap, MmapMut, MmapOptions, MmapRaw};

/// A log file in memory, read only.
pub(super) struct Map {
    pages: Mmap,
}

impl Map {
    /// Maps the first `len` bytes of a regular file.
    ///
    /// The file may grow while it is mapped. When it shrinks, reading a page that is gone kills the process (SIGBUS); when it is
    /// written in place, the slices show the new bytes. Both are said in the documentation of `--mmap`.
    ///
    /// # Errors
    ///
    /// When the file system cannot map files, or `len` does not fit the address space.
    pub(super) fn of(file: &File, len: u64) -> io::Result<Map> {
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        #[expect(
            unsafe_code,
            reason = "a file mapping is unsafe because other processes can write to the file"
        )]
        // SAFETY: the mapping is read only and lives as long as the slices borrowed from it. Another process may change the bytes
        // under it. No code of this crate rests memory safety on the bytes of a log staying equal between two reads: they are
        // only ever treated as plain `u8`, every offset taken from them is checked where it is used, and text is never built from
        // them with unchecked conversions. A changed file is noticed after reading, and its results are thrown away.
        let pages = unsafe { MmapOptions::new().len(len).map(file)? };
        #[cfg(unix)]
        let _ = pages.advise(memmap2::Advice::Sequential);
        Ok(Map { pages })
    }

    /// The whole mapping.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.pages
    }

    /// Gives the pages of `from..to` back to the system. Slices stay valid: their pages come back when they are read again. A hint;
    /// what the system refuses is let be.
    pub(super) fn give_back(&self, from: usize, to: usize) {
        give_back(&self.pages, from, to);
    }
}

/// Gives the pages of `from..to` of a file mapping back to the system.
fn give_back(pages: &Mmap, from: usize, to: usize) {
    let to = to.min(pages.len());
    #[cfg(unix)]
    if from < to {
        #[expect(
            unsafe_code,
            reason = "DONTNEED throws writes to private pages away; these pages are never written"
        )]
        // SAFETY: the mapping is shared, file-backed and read only, so the kernel drops page table entries and nothing else:
        // a later access through a living slice faults the same page of the file in again.
        let _ = unsafe {
            pages.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, from, to - from)
        };
    }
}

/// Append-only memory of a fixed size. What was appended never moves and never changes.
pub(super) struct Segment {
    pages: Pages,
    size: usize,
    /// Bytes in use. The lock also keeps two appends apart.
    used: Mutex<usize>,
}

enum Pages {
    /// Anonymous memory; pages cost nothing before they are written.
    Memory(MmapRaw),
    /// A temporary file without a name, written with `write` and read through the mapping.
    File { file: File, pages: Mmap },
}

impl Segment {
    /// A segment in memory.
    ///
    /// # Errors
    ///
    /// When the system has no address space left.
    pub(super) fn in_memory(size: usize) -> io::Result<Segment> {
        let pages = Pages::Memory(MmapRaw::from(MmapMut::map_anon(size)?));
        Ok(Segment {
            pages,
            size,
            used: Mutex::new(0),
        })
    }

    /// A segment in a file that nobody else can open by name. The file takes room as it is filled.
    ///
    /// # Errors
    ///
    /// When the file cannot be given its length or cannot be mapped.
    pub(super) fn in_file(file: File, size: usize) -> io::Result<Segment> {
        file.set_len(size as u64)?;
        #[expect(
            unsafe_code,
            reason = "a file mapping is unsafe because other processes can write to the file"
        )]
        // SAFETY: the file has no name and is not shared, so this process alone writes it, through `append` alone, and that writes
        // only behind `used`, where no slice has been handed out. It is never shortened.
        let pages = unsafe { MmapOptions::new().len(size).map(&file)? };
        Ok(Segment {
            pages: Pages::File { file, pages },
            size,
            used: Mutex::new(0),
        })
    }

    /// Gives the pages of a file back to the system; memory is kept. Slices stay valid.
    pub(super) fn give_back(&self) {
        if let Pages::File { pages, .. } = &self.pages {
            give_back(pages, 0, self.size);
        }
    }

    /// Copies `bytes` behind what is there. `None` when they do not fit.
    ///
    /// # Errors
    ///
    /// When the temporary file cannot be written, most likely because its file system is full. The segment must then be left alone.
    pub(super) fn append(&self, bytes: &[u8]) -> io::Result<Option<&[u8]>> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let start = *used;
        let Some(end) = start
            .checked_add(bytes.len())
            .filter(|end| *end <= self.size)
        else {
            return Ok(None);
        };
        let kept = match &self.pages {
            Pages::Memory(pages) => write_behind(pages, start, bytes),
            Pages::File { file, pages } => {
                // `write`, not a store through the mapping: a full file system is an error here, and SIGBUS there.
                let mut file = file;
                file.write_all(bytes)?;
                pages.get(start..end).unwrap_or_default()
            }
        };
        *used = end;
        Ok(Some(kept))
    }
}

/// Copies `bytes` to `start` and gives the copy. The caller holds the segment's lock, `start` is its `used`, and the bytes fit.
fn write_behind<'log>(pages: &'log MmapRaw, start: usize, bytes: &[u8]) -> &'log [u8] {
    assert!(
        start <= pages.len() && bytes.len() <= pages.len() - start,
        "append checked the size"
    );
    #[expect(
        unsafe_code,
        reason = "bytes are written next to slices that are already handed out"
    )]
    // SAFETY: `start..start + len` lies in the mapping (asserted). Slices handed out before cover only bytes before `start`, because
    // `used` only grows and the lock is held; so nothing borrowed is written, and `bytes`, which may be such a slice, does not
    // overlap. The copy is initialised, never written again, and lives as long as the mapping, which `'log` borrows.
    unsafe {
        let to = pages.as_mut_ptr().add(start);
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        std::slice::from_raw_parts(to, bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appended_bytes_stay_where_they_are() {
        for segment in [
            Segment::in_memory(10).expect("memory"),
            Segment::in_file(tempfile::tempfile().expect("file"), 10).expect("mapped"),
        ] {
            let one = segment.append(b"abcd").expect("write").expect("room");
            let none = segment.append(b"").expect("write").expect("room");
            let two = segment.append(one).expect("write").expect("room");
            assert_eq!((one, none, two), (&b"abcd"[..], &b""[..], &b"abcd"[..]));
            assert!(segment.append(b"xyz").expect("no write").is_none());
            assert_eq!(segment.append(b"xy").expect("write"), Some(&b"xy"[..]));
            assert_eq!(one, b"abcd");
        }
    }

    #[test]
    fn pages_given_back_come_back() {
        let mut file = tempfile::tempfile().expect("file");
        let bytes: Vec<u8> = (0..100_000_u32).map(|n| n as u8).collect();
        file.write_all(&bytes).expect("write");
        let map = Map::of(&file, 99_999).expect("map");
        let slice = map.bytes();
        map.give_back(0, 50_000);
        map.give_back(0, usize::MAX);
        assert_eq!(slice, &bytes[..99_999]);
    }
}
