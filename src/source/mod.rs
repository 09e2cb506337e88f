//! The bytes of one log: mapped, streamed or decompressed, within limits, and kept where they must outlive their line.
//!
//! **Takes** a path, standard input or bytes. **Gives** [`Lines`], [`Keep`] and, at the end, a [`SourceSummary`] with
//! [`SourceDefect`]s. **Never** writes to a log or next to it, never holds a whole log that is not mapped, and never looks for files.
//!
//! ```
//! use dsh_audit::source::Source;
//!
//! let source = Source::from_bytes(&b"{\"type\":\"session\"}\n{\"type\":\"turn/st"[..]);
//! let mut lines = source.lines();
//! while let Some(line) = lines.next_line()? {
//!     assert!(line.no.0 < 3);
//! }
//! assert_eq!(lines.finish()?.lines, 2);
//! # Ok::<(), dsh_audit::source::SourceError>(())
//! ```

mod defect;
mod digest;
mod error;
mod frames;
mod lines;
mod map;
mod stamp;
mod store;
mod stream;
mod unpack;
mod whole;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

pub use defect::{Defects, Frame, FrameFault, SourceDefect};
pub use digest::InputDigest;
pub use error::SourceError;
pub use lines::{Lines, SourceSummary};
pub use store::{Keep, Store};

use digest::{Digesting, RunningDigest};
use lines::Walk;
use map::Map;
use stamp::Stamp;
use stream::{Plain, StreamWalk};
use unpack::Unpack;
use whole::{Behind, WholeWalk, Windows};

/// Whether files are mapped into memory. A mapped file that shrinks while it is read kills the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MmapMode {
    /// Regular files, where the file system can. Whether a file is quiet enough is for the caller to say: that takes a clock.
    #[default]
    Auto,
    /// Regular files; one that cannot be mapped is an error.
    Always,
    /// No file: everything streams.
    Never,
}

/// How a log is read, and how much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceOptions {
    /// Whether a file is mapped. The lines are the same either way.
    pub mmap: MmapMode,
    /// The longest line given out, in bytes without its line feed.
    pub max_line: u64,
    /// The longest decoded log, in bytes, when it is compressed.
    pub max_decompressed: u64,
    /// How many bytes the [`Store`] of a stream keeps in memory before it takes to temporary files.
    pub store_memory: u64,
    /// Whether [`SourceSummary::digest`] is made.
    pub digest: InputDigest,
}

impl Default for SourceOptions {
    /// Maps where possible; lines up to 512 MiB, logs up to 16 GiB, 64 MiB of kept bytes in memory, no digest.
    fn default() -> SourceOptions {
        SourceOptions {
            mmap: MmapMode::Auto,
            max_line: 512 << 20,
            max_decompressed: 16 << 30,
            store_memory: 64 << 20,
            digest: InputDigest::Unwanted,
        }
    }
}

/// Where a log comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A file, or a named pipe.
    Path(PathBuf),
    /// Standard input.
    Stdin,
}

/// How a log is stored. Its first bytes decide, never its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As it is.
    Raw,
    /// As concatenated Zstandard frames.
    Zstd,
}

/// The bytes of one log, opened.
pub struct Source {
    bytes: Held,
    encoding: Encoding,
    /// The file as it was when it was opened. None for pipes and bytes.
    stamp: Option<Stamp>,
    store: Store,
    options: SourceOptions,
    /// Of the bytes of a stream that have passed, when it is wanted.
    passed: Option<RunningDigest>,
    /// Of all bytes, once it is known.
    digest: OnceLock<[u8; 32]>,
}

/// Where the bytes are.
enum Held {
    Mapped(Map),
    Memory(Cow<'static, [u8]>),
    /// Taken by the first walk.
    Stream(Mutex<Option<Box<dyn Read + Send>>>),
}

impl Source {
    /// Opens a log. A regular file counts with the length it has now: what is appended later is not read.
    ///
    /// Waits for the first bytes of a pipe.
    ///
    /// # Errors
    ///
    /// When there is no such file, it is a directory, or it must not or cannot be read.
    pub fn open(input: &Input, options: &SourceOptions) -> Result<Source, SourceError> {
        match input {
            Input::Path(path) => Source::open_path(path, options),
            Input::Stdin => Source::of_stream(Box::new(io::stdin()), None, options),
        }
    }

    /// A log that is already in memory, with default limits.
    pub fn from_bytes(bytes: impl Into<Cow<'static, [u8]>>) -> Source {
        Source::from_bytes_with(bytes, &SourceOptions::default())
    }

    /// A log that is already in memory.
    pub fn from_bytes_with(
        bytes: impl Into<Cow<'static, [u8]>>,
        options: &SourceOptions,
    ) -> Source {
        let bytes = bytes.into();
        let encoding = sniff(&bytes);
        Source::of(Held::Memory(bytes), encoding, None, options)
    }

    /// A log that a reader yields once, front to back.
    ///
    /// # Errors
    ///
    /// When its first bytes cannot be read.
    pub fn from_reader(
        reader: impl Read + Send + 'static,
        options: &SourceOptions,
    ) -> Result<Source, SourceError> {
        Source::of_stream(Box::new(reader), None, options)
    }

    /// How the log is stored.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Walks the lines from the first on. A source that streams can be walked once; a second walk fails at its first line.
    pub fn lines(&self) -> Lines<'_> {
        let max_line = self.options.max_line;
        let walk = match (&self.bytes, self.encoding) {
            (Held::Mapped(map), Encoding::Raw) => Walk::Whole(WholeWalk::over(
                map.bytes(),
                Behind::of(Some(map)),
                max_line,
            )),
            (Held::Memory(bytes), Encoding::Raw) => {
                Walk::Whole(WholeWalk::over(bytes, Behind::of(None), max_line))
            }
            (Held::Mapped(map), Encoding::Zstd) => {
                self.frames(Windows::over(map.bytes(), Behind::of(Some(map))))
            }
            (Held::Memory(bytes), Encoding::Zstd) => self.frames(&bytes[..]),
            (Held::Stream(reader), encoding) => match (take(reader), encoding) {
                (None, _) => Walk::Spent,
                (Some(reader), Encoding::Raw) => {
                    Walk::Stream(StreamWalk::over(Plain(reader), max_line))
                }
                (Some(reader), Encoding::Zstd) => {
                    self.frames(BufReader::with_capacity(Self::READ_AHEAD, reader))
                }
            },
        };
        Lines::over(self, walk)
    }

    /// How to make bytes outlive their line.
    pub fn keep(&self) -> Keep<'_> {
        match (&self.bytes, self.encoding) {
            (Held::Mapped(map), Encoding::Raw) => Keep::Whole(map.bytes()),
            (Held::Memory(bytes), Encoding::Raw) => Keep::Whole(bytes),
            _ => Keep::Store(&self.store),
        }
    }

    /// Gives the pages behind kept bytes back to the system, as far as a file holds them. For walks over kept bytes, every few
    /// megabytes. Slices stay valid: what is read again comes back.
    pub fn give_back(&self) {
        self.store.give_back();
        if let Held::Mapped(map) = &self.bytes {
            map.give_back(0, usize::MAX);
        }
    }

    /// Whether all bytes to keep found room so far. For those who keep bytes after the last line.
    ///
    /// # Errors
    ///
    /// [`SourceError::Keep`] when memory or the directory for temporary files is full.
    pub fn check(&self) -> Result<(), SourceError> {
        self.store.check()
    }

    /// How much of a compressed stream is read at once.
    const READ_AHEAD: usize = 128 << 10;

    fn frames<'log>(&self, input: impl BufRead + 'log) -> Walk<'log> {
        let input: Box<dyn BufRead + 'log> = Box::new(input);
        let feed = Unpack::over(input, self.options.max_decompressed);
        Walk::Frames(Box::new(StreamWalk::over(feed, self.options.max_line)))
    }

    /// Whether the file was written (appending aside), replaced or removed since it was opened. For those who work with kept bytes
    /// after the last line: over a mapped file these are the file's.
    ///
    /// # Errors
    ///
    /// When the system does not say.
    pub fn has_changed(&self) -> Result<bool, SourceError> {
        self.stamp.as_ref().map_or(Ok(false), |stamp| {
            stamp.has_changed().map_err(SourceError::Read)
        })
    }

    /// The digest of all bytes, when it is wanted. A stream must have been read to its end.
    fn digest(&self) -> Option<[u8; 32]> {
        let of_windows = |mut windows: Windows<'_>| {
            let digest = RunningDigest::default();
            while let Ok(bytes @ [_, ..]) = windows.fill_buf() {
                digest.update(bytes);
                let len = bytes.len();
                windows.consume(len);
            }
            digest.so_far()
        };
        let of_all = || match &self.bytes {
            Held::Mapped(map) => of_windows(Windows::over(map.bytes(), Behind::of(Some(map)))),
            Held::Memory(bytes) => of_windows(Windows::over(bytes, Behind::of(None))),
            Held::Stream(_) => self
                .passed
                .as_ref()
                .map(RunningDigest::so_far)
                .unwrap_or_default(),
        };
        let is_wanted = self.options.digest == InputDigest::Wanted;
        is_wanted.then(|| *self.digest.get_or_init(of_all))
    }

    fn open_path(path: &Path, options: &SourceOptions) -> Result<Source, SourceError> {
        let file = File::open(path).map_err(|error| SourceError::opening(path, error))?;
        let metadata = file.metadata().map_err(SourceError::Read)?;
        if metadata.is_dir() {
            return Err(SourceError::Directory);
        }
        if !metadata.is_file() {
            return Source::of_stream(Box::new(file), None, options);
        }
        let stamp = Stamp::of(file, path, &metadata);
        if stamp.len > 0 && options.mmap != MmapMode::Never {
            match Map::of(stamp.file(), stamp.len) {
                Ok(map) => {
                    let encoding = sniff(map.bytes());
                    return Ok(Source::of(
                        Held::Mapped(map),
                        encoding,
                        Some(stamp),
                        options,
                    ));
                }
                Err(error) if options.mmap == MmapMode::Always => {
                    return Err(SourceError::Map(error));
                }
                Err(_) => {}
            }
        }
        let reader = stamp
            .file()
            .try_clone()
            .map_err(SourceError::Read)?
            .take(stamp.len);
        Source::of_stream(Box::new(reader), Some(stamp), options)
    }

    fn of_stream(
        mut reader: Box<dyn Read + Send>,
        stamp: Option<Stamp>,
        options: &SourceOptions,
    ) -> Result<Source, SourceError> {
        let mut first = Vec::new();
        let start = reader.by_ref().take(4).read_to_end(&mut first);
        start.map_err(SourceError::Read)?;
        let encoding = sniff(&first);
        let reader = io::Cursor::new(first).chain(reader);
        let wanted = options.digest == InputDigest::Wanted;
        let passed = wanted.then(RunningDigest::default);
        let reader: Box<dyn Read + Send> = match passed.clone() {
            Some(digest) => Box::new(Digesting { reader, digest }),
            None => Box::new(reader),
        };
        let stream = Held::Stream(Mutex::new(Some(reader)));
        let source = Source::of(stream, encoding, stamp, options);
        Ok(Source { passed, ..source })
    }

    fn of(
        bytes: Held,
        encoding: Encoding,
        stamp: Option<Stamp>,
        options: &SourceOptions,
    ) -> Source {
        Source {
            bytes,
            encoding,
            stamp,
            store: Store::new(options.store_memory),
            options: *options,
            passed: None,
            digest: OnceLock::new(),
        }
    }
}

/// A stream's reader, for the first walk.
fn take(reader: &Mutex<Option<Box<dyn Read + Send>>>) -> Option<Box<dyn Read + Send>> {
    reader.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// A skippable frame is taken for compression, too: it is no frame of a session log, and can be no line of one.
fn sniff(first: &[u8]) -> Encoding {
    match first.first_chunk() {
        Some(magic) if *magic == frames::MAGIC || frames::is_skippable(*magic) => Encoding::Zstd,
        _ => Encoding::Raw,
    }
}
