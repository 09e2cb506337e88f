//! The forward walk over a log's lines, whatever its bytes come from.
//!
//! **Takes** a [`Source`]. **Gives** one [`Line`] at a time and, at the end, a [`SourceSummary`].
//! **Never** keeps a line, and never looks into one.

use std::io::{BufRead, Read};

use super::defect::{Defects, SourceDefect};
use super::error::SourceError;
use super::stream::{Plain, StreamWalk};
use super::unpack::Unpack;
use super::whole::WholeWalk;
use super::{Encoding, InputDigest, Source};
use crate::line::Line;

/// A forward walk over the lines of a log. Lending: a line lives until the next one is asked for.
pub struct Lines<'log> {
    source: &'log Source,
    walk: Walk<'log>,
    defects: Defects,
}

/// The walk of one kind of source.
pub(super) enum Walk<'log> {
    /// Bytes in memory that are not encoded.
    Whole(WholeWalk<'log>),
    /// A stream that is not encoded.
    Stream(StreamWalk<Plain<Box<dyn Read + Send + 'log>>>),
    /// A compressed log, from wherever.
    Frames(Box<StreamWalk<Unpack<Box<dyn BufRead + 'log>>>>),
    /// A stream that was walked before.
    Spent,
}

/// What is known of a log's bytes after its last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSummary {
    /// How the log is stored.
    pub encoding: Encoding,
    /// Number of lines, those above the limit and a last one without line feed included.
    pub lines: u64,
    /// Length of the decoded log in bytes, as far as it was walked.
    pub decoded_len: u64,
    /// Number of complete frames; 0 in a log that is not compressed.
    pub frames: u64,
    /// What is wrong with the bytes.
    pub defects: Defects,
    /// Whether the file was written (appending aside), replaced or removed while it was read. What was read may then be of no one moment.
    pub changed: bool,
    /// SHA-256 of all bytes of the input, [if wanted](super::SourceOptions::digest): of the file as it lies on disk, or of all a pipe
    /// held.
    pub digest: Option<[u8; 32]>,
}

impl<'log> Lines<'log> {
    pub(super) fn over(source: &'log Source, walk: Walk<'log>) -> Lines<'log> {
        Lines {
            source,
            walk,
            defects: Defects::default(),
        }
    }

    /// The next line. The last one comes with [`LineEnd::Eof`](crate::line::LineEnd::Eof) when nothing ends it; bytes that end with a
    /// line feed have no empty line behind it. A line above the limit is left out, keeps its number, and is a
    /// [`SourceDefect::LineLimit`].
    ///
    /// # Errors
    ///
    /// When the log cannot be read on, was a stream and is walked again, or when bytes handed to [`Source::keep`] found no room.
    #[inline]
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>, SourceError> {
        match &mut self.walk {
            Walk::Whole(walk) => Ok(walk.next_line(&mut self.defects)),
            Walk::Stream(walk) => {
                self.source.check()?;
                walk.next_line(&mut self.defects)
            }
            Walk::Frames(walk) => {
                self.source.check()?;
                walk.next_line(&mut self.defects)
            }
            Walk::Spent => Err(SourceError::AlreadyRead),
        }
    }

    /// The defects noticed so far. Those of a compressed log are ahead of the lines by what is buffered: their decoded offsets count.
    pub fn defects(&self) -> &[SourceDefect] {
        self.defects.as_slice()
    }

    /// What is known after the last line. Before [`next_line`](Lines::next_line) gave `None` it tells of the lines walked so far.
    ///
    /// # Errors
    ///
    /// When kept bytes found no room, the system does not say whether the file changed, or a digest is wanted and the rest of a stream
    /// cannot be read.
    pub fn finish(mut self) -> Result<SourceSummary, SourceError> {
        self.source.check()?;
        self.defects.sort();
        let (lines, decoded_len, frames) = match &self.walk {
            Walk::Whole(walk) => (walk.lines(), walk.walked(), 0),
            Walk::Stream(walk) => (walk.lines(), walk.walked(), 0),
            Walk::Frames(walk) => (walk.lines(), walk.walked(), walk.feed().complete_frames()),
            Walk::Spent => return Err(SourceError::AlreadyRead),
        };
        if self.source.options.digest == InputDigest::Wanted {
            match &mut self.walk {
                Walk::Stream(walk) => walk.drain()?,
                Walk::Frames(walk) => walk.drain()?,
                Walk::Whole(_) | Walk::Spent => {}
            }
        }
        let digest = self.source.digest();
        let changed = self.source.has_changed()?;
        let encoding = self.source.encoding();
        Ok(SourceSummary {
            encoding,
            lines,
            decoded_len,
            frames,
            defects: self.defects,
            changed,
            digest,
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::{self, Read};

    use proptest::prelude::*;
    use sha2::{Digest as _, Sha256};

    use super::super::{Input, Keep, MmapMode, SourceOptions};
    use super::*;
    use crate::line::{LineEnd, LineNo, Span};

    /// Everything a walk tells, owned.
    pub(in super::super) type Told = (Vec<(u64, u64, Vec<u8>, LineEnd)>, SourceSummary);

    pub(in super::super) fn tell(source: &Source) -> Told {
        let mut lines = source.lines();
        let mut told = Vec::new();
        while let Some(line) = lines.next_line().expect("readable") {
            assert_eq!(source.keep().keep(line.bytes, line.span()), line.bytes);
            told.push((line.no.0, line.start, line.bytes.to_vec(), line.end));
        }
        assert!(
            lines.next_line().expect("readable").is_none(),
            "the end stays the end"
        );
        (told, lines.finish().expect("summary"))
    }

    /// Reads a few bytes at a time, and is interrupted now and then.
    struct Slowly(io::Cursor<Vec<u8>>, usize);

    impl Read for Slowly {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.1 += 1;
            if self.1.is_multiple_of(3) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let len = into.len().min(self.1 % 7 + 1);
            self.0.read(&mut into[..len])
        }
    }

    pub(in super::super) fn streamed(bytes: &[u8], options: &SourceOptions) -> Source {
        let reader = Slowly(io::Cursor::new(bytes.to_vec()), 0);
        Source::from_reader(reader, options).expect("readable")
    }

    fn with_max_line(max_line: u64) -> SourceOptions {
        SourceOptions {
            max_line,
            ..SourceOptions::default()
        }
    }

    #[test]
    fn lines_have_numbers_offsets_and_ends() {
        let source = Source::from_bytes(&b"one\r\n\n\xFFthree"[..]);
        let (lines, summary) = tell(&source);
        let expected = [
            (1, 0, b"one\r".to_vec(), LineEnd::Newline),
            (2, 5, b"".to_vec(), LineEnd::Newline),
            (3, 6, b"\xFFthree".to_vec(), LineEnd::Eof),
        ];
        assert_eq!(lines, expected);
        assert_eq!(
            (summary.lines, summary.decoded_len, summary.frames),
            (3, 12, 0)
        );
        assert_eq!(summary.encoding, Encoding::Raw);
        assert!(!summary.changed);
    }

    #[test]
    fn a_source_may_be_shared_by_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Source>();
        shared::<Keep<'_>>();
    }

    #[test]
    fn a_line_above_the_limit_is_left_out_and_counted() {
        let source = Source::from_bytes_with(&b"four\nfive5\nsix"[..], &with_max_line(4));
        let (lines, summary) = tell(&source);
        assert_eq!(lines.iter().map(|line| line.0).collect::<Vec<_>>(), [1, 3]);
        let span = Span { start: 5, end: 10 };
        let defect = SourceDefect::LineLimit {
            line: LineNo(2),
            span,
            end: LineEnd::Newline,
        };
        assert_eq!(summary.defects.as_slice(), [defect]);
        assert_eq!(summary.lines, 3);
    }

    #[test]
    fn a_stream_is_walked_once_and_bytes_any_number_of_times() {
        let source = streamed(b"a\nb\n", &SourceOptions::default());
        assert_eq!(tell(&source).0.len(), 2);
        assert!(matches!(
            source.lines().next_line(),
            Err(SourceError::AlreadyRead)
        ));
        let source = Source::from_bytes(&b"a\nb\n"[..]);
        assert_eq!(tell(&source), tell(&source));
    }

    #[test]
    fn a_long_line_makes_the_buffer_grow_and_no_more_than_the_limit_is_held() {
        let long = vec![b'x'; 3 << 20];
        let bytes = [&long[..], b"\nshort\n", &long].concat();
        for limit in [u64::MAX, 1 << 20, 100] {
            let whole = tell(&Source::from_bytes_with(
                bytes.clone(),
                &with_max_line(limit),
            ));
            let reader = io::Cursor::new(bytes.clone());
            let source = Source::from_reader(reader, &with_max_line(limit)).expect("readable");
            assert!(tell(&source) == whole);
        }
    }

    #[test]
    fn files_are_read_as_they_were_at_open() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("log");
        for mmap in [MmapMode::Auto, MmapMode::Always, MmapMode::Never] {
            std::fs::write(&path, "one\ntwo").expect("write");
            let options = SourceOptions {
                mmap,
                ..SourceOptions::default()
            };
            let source = Source::open(&Input::Path(path.clone()), &options).expect("open");
            std::fs::write(&path, "one\ntwo\nthree\n").expect("append");
            assert_eq!(
                matches!(source.keep(), Keep::Store(_)),
                mmap == MmapMode::Never
            );
            let (lines, summary) = tell(&source);
            assert_eq!(lines.len(), 2);
            assert_eq!(summary.decoded_len, 7);
            assert!(!summary.changed, "grown is no change");
            source.give_back();
        }
    }

    #[test]
    fn the_digest_is_of_all_bytes_even_when_the_walk_ends_early() {
        let bytes = b"one\ntwo\nthree".repeat(100_000);
        let wanted = SourceOptions {
            digest: InputDigest::Wanted,
            ..SourceOptions::default()
        };
        let whole = Source::from_bytes_with(bytes.clone(), &wanted);
        let stream = Source::from_reader(io::Cursor::new(bytes.clone()), &wanted).expect("open");
        for source in [&whole, &stream] {
            let mut lines = source.lines();
            lines.next_line().expect("readable");
            let expected: [u8; 32] = Sha256::digest(&bytes).into();
            assert_eq!(lines.finish().expect("summary").digest, Some(expected));
        }
    }

    #[test]
    fn an_empty_file_has_no_line() {
        let file = tempfile::NamedTempFile::new().expect("file");
        let source = Source::open(&Input::Path(file.path().into()), &SourceOptions::default());
        assert_eq!(tell(&source.expect("open")).0, []);
    }

    #[test]
    fn what_cannot_be_opened_says_why() {
        let dir = tempfile::tempdir().expect("dir");
        let open = |path: &str| {
            Source::open(
                &Input::Path(dir.path().join(path)),
                &SourceOptions::default(),
            )
            .err()
        };
        assert!(matches!(open(""), Some(SourceError::Directory)));
        assert!(matches!(open("nothing"), Some(SourceError::NotFound)));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("nothing", dir.path().join("link")).expect("link");
            assert!(matches!(open("link"), Some(SourceError::BrokenLink)));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_stream_gives_what_a_mapping_gives(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'x'), any::<u8>()], 0..200),
            max_line in prop_oneof![Just(u64::MAX), 0..20_u64],
        ) {
            let options = with_max_line(max_line);
            let file = tempfile::NamedTempFile::new().expect("file");
            std::fs::write(file.path(), &bytes).expect("write");
            let mapped = Source::open(&Input::Path(file.path().into()), &options).expect("open");
            let told = tell(&mapped);
            prop_assert_eq!(&tell(&Source::from_bytes_with(bytes.clone(), &options)), &told);
            prop_assert_eq!(&tell(&streamed(&bytes, &options)), &told);
            if max_line == u64::MAX {
                let joined: Vec<u8> = told.0.iter().flat_map(|(_, _, bytes, end)| {
                    bytes.iter().copied().chain((*end == LineEnd::Newline).then_some(b'\n'))
                }).collect();
                prop_assert_eq!(joined, bytes);
            }
        }
    }
}
