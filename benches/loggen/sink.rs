//! Where lines go: raw, or as one zstd frame per append batch.
//!
//! **Takes** whole lines and the ends of batches. **Gives** bytes to a writer, as they come. **Never** holds more than a batch.

use std::io::{self, Write};

use zstd::bulk::Compressor;
use zstd::zstd_safe::CParameter;

/// How the lines are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// The lines as they are.
    Raw,
    /// Concatenated frames with checksums: the header line alone, then one frame per append batch.
    Zstd,
}

/// Lines held before they are written or made a frame.
const BATCH: usize = 1 << 20;

/// An open log.
pub struct Sink<W> {
    out: W,
    batch: Vec<u8>,
    compressor: Option<Compressor<'static>>,
    decoded: u64,
    lines: u64,
}

impl<W: Write> Sink<W> {
    /// Opens a log over `out`.
    pub fn new(out: W, encoding: Encoding) -> io::Result<Self> {
        let compressor = match encoding {
            Encoding::Raw => None,
            Encoding::Zstd => {
                let mut compressor = Compressor::new(3)?;
                compressor.set_parameter(CParameter::ChecksumFlag(true))?;
                compressor.set_parameter(CParameter::ContentSizeFlag(false))?;
                Some(compressor)
            }
        };
        Ok(Self {
            out,
            batch: Vec::with_capacity(2 * BATCH),
            compressor,
            decoded: 0,
            lines: 0,
        })
    }

    /// Adds one line; `line` has no newline.
    pub fn line(&mut self, line: &[u8]) -> io::Result<()> {
        self.batch.extend_from_slice(line);
        self.batch.push(b'\n');
        self.lines += 1;
        self.decoded += line.len() as u64 + 1;
        if self.batch.len() >= BATCH {
            self.write_batch()
        } else {
            Ok(())
        }
    }

    /// Ends an append batch: here a writer flushed, and a compressed log begins a new frame.
    pub fn end_batch(&mut self) -> io::Result<()> {
        if self.compressor.is_some() {
            self.write_batch()
        } else {
            Ok(())
        }
    }

    /// Writes what is left; gives the number of decoded bytes and of lines.
    pub fn finish(mut self) -> io::Result<(u64, u64)> {
        self.write_batch()?;
        self.out.flush()?;
        Ok((self.decoded, self.lines))
    }

    fn write_batch(&mut self) -> io::Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        match &mut self.compressor {
            None => self.out.write_all(&self.batch)?,
            Some(compressor) => {
                let frame = compressor.compress(&self.batch)?;
                self.out.write_all(&frame)?;
            }
        }
        self.batch.clear();
        Ok(())
    }
}
