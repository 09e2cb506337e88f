//! The structure of a compressed log: where frames and blocks begin and end, whatever is in them.
//!
//! **Takes** the file's bytes, in pieces of any size. **Gives** [`Step`]s: what the next bytes are, and where structure is broken.
//! **Never** decodes a block, and never holds more than a frame header.
//!
//! *Source*: format.md B.0; RFC 8878, section 3.1.1.

use super::defect::FrameFault;

/// The first bytes of every frame.
pub(super) const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// The largest window granted, in bytes: what readers of the format grant by default, the harness's among them.
const MAX_WINDOW: u64 = (1 << 27) + 1;

/// Whether four bytes begin a skippable frame.
pub(super) fn is_skippable(magic: [u8; 4]) -> bool {
    matches!(magic, [0x50..=0x5F, 0x2A, 0x4D, 0x18])
}

/// What the next bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Not known yet: more bytes are needed than there were.
    Hungry,
    /// A frame header, block header or checksum is complete: [`FrameWalk::unit`]. Its bytes are taken.
    Unit,
    /// So many bytes of the input are of a block's body, or of a skippable frame's. Not taken: the caller takes them all.
    Body(usize),
    /// The frame is over.
    FrameEnd,
    /// Something is wrong with the frame. Where its end is [known](FrameFault::has_known_end) the walk goes on, otherwise it must not.
    Fault(FrameFault),
}

/// A walk over frames, fed with consecutive bytes.
#[derive(Default)]
pub(super) struct FrameWalk {
    state: State,
    unit: Unit,
    has_checksum: bool,
    /// How many bytes the frame says it holds.
    content_size: Option<u64>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Magic,
    Descriptor,
    /// Collecting a frame header of this length.
    Header(usize),
    BlockHeader,
    Body {
        left: usize,
        last: bool,
    },
    Checksum,
    SkippableHeader,
    FrameOver,
}

impl FrameWalk {
    /// Looks at the next bytes of the file. Gives how many of `input` were taken, and what they were. Empty `input` means that there are
    /// none for now; the step is then [`Step::Hungry`] or [`Step::FrameEnd`].
    pub(super) fn step(&mut self, input: &[u8]) -> (usize, Step) {
        match self.state {
            State::Magic => self.collect(input, 4, Self::on_magic),
            State::Descriptor => self.collect(input, 5, Self::on_descriptor),
            State::Header(len) => self.collect(input, len, Self::on_header),
            State::BlockHeader => self.collect(input, 3, Self::on_block_header),
            State::Checksum => self.collect(input, 4, |walk| {
                walk.state = State::FrameOver;
                Some(Step::Unit)
            }),
            State::SkippableHeader => self.collect(input, 8, Self::on_skippable_header),
            State::Body { left, last } => {
                let len = left.min(input.len());
                self.after_body(left - len, last);
                (
                    0,
                    if len == 0 {
                        Step::Hungry
                    } else {
                        Step::Body(len)
                    },
                )
            }
            State::FrameOver => {
                *self = FrameWalk::default();
                (0, Step::FrameEnd)
            }
        }
    }

    /// The bytes of the unit given out last.
    pub(super) fn unit(&self) -> &[u8] {
        self.unit.bytes()
    }

    /// Whether no byte of a further frame was seen.
    pub(super) fn is_between_frames(&self) -> bool {
        self.state == State::Magic && self.unit.len == 0
    }

    /// Whether bytes of a body are still to come.
    pub(super) fn is_in_body(&self) -> bool {
        matches!(self.state, State::Body { .. })
    }

    /// How many bytes the frame whose header was given out last says it holds, if it does.
    pub(super) fn content_size(&self) -> Option<u64> {
        self.content_size
    }

    /// Whether the unit given out last is a checksum.
    pub(super) fn gave_checksum(&self) -> bool {
        self.state == State::FrameOver && self.has_checksum
    }

    /// Collects bytes until the unit has `len`, then asks `done` what follows; none means that the unit goes on.
    fn collect(
        &mut self,
        input: &[u8],
        len: usize,
        done: fn(&mut FrameWalk) -> Option<Step>,
    ) -> (usize, Step) {
        let taken = self.unit.collect(input, len);
        if self.unit.bytes().len() < len {
            return (taken, Step::Hungry);
        }
        match done(self) {
            None => {
                let (more, step) = self.step(input.get(taken..).unwrap_or_default());
                (taken + more, step)
            }
            Some(step) => {
                self.unit.close();
                (taken, step)
            }
        }
    }

    fn on_magic(&mut self) -> Option<Step> {
        let magic = self.unit.array();
        if magic == MAGIC {
            self.state = State::Descriptor;
        } else if is_skippable(magic) {
            self.state = State::SkippableHeader;
        } else {
            return Some(Step::Fault(FrameFault::Magic(magic)));
        }
        None
    }

    fn on_descriptor(&mut self) -> Option<Step> {
        let [.., descriptor] = self.unit.array::<5>();
        if descriptor & 0x18 != 0 {
            return Some(Step::Fault(FrameFault::ReservedBits(descriptor)));
        }
        self.has_checksum = descriptor & 4 != 0;
        self.state = State::Header(5 + Header::len_behind(descriptor));
        None
    }

    fn on_header(&mut self) -> Option<Step> {
        self.state = State::BlockHeader;
        self.content_size = Header::content_size(self.unit.bytes());
        let window = Header::window(self.unit.bytes());
        Some(if window > MAX_WINDOW {
            Step::Fault(FrameFault::Window(window))
        } else {
            Step::Unit
        })
    }

    fn on_block_header(&mut self) -> Option<Step> {
        let [a, b, c] = self.unit.array();
        let header = u32::from_le_bytes([a, b, c, 0]);
        let size = (header >> 3) as usize;
        let left = match header >> 1 & 3 {
            1 => 1,
            3 => return Some(Step::Fault(FrameFault::ReservedBlock)),
            _ => size,
        };
        self.after_body(left, header & 1 != 0);
        Some(Step::Unit)
    }

    fn on_skippable_header(&mut self) -> Option<Step> {
        let [_, _, _, _, size @ ..] = self.unit.array::<8>();
        self.after_body(u32::from_le_bytes(size) as usize, true);
        Some(Step::Fault(FrameFault::Skippable))
    }

    /// What follows when `left` bytes of a block's body are still to come.
    fn after_body(&mut self, left: usize, last: bool) {
        self.state = match (left, last) {
            (0, false) => State::BlockHeader,
            (0, true) if self.has_checksum => State::Checksum,
            (0, true) => State::FrameOver,
            _ => State::Body { left, last },
        };
    }
}

/// The part of a frame header behind magic and descriptor.
struct Header;

impl Header {
    /// Its length: window, dictionary and content size, as far as the descriptor says that they are there.
    fn len_behind(descriptor: u8) -> usize {
        let single = descriptor & 0x20 != 0;
        let window = usize::from(!single);
        let dictionary = match descriptor & 3 {
            3 => 4,
            flag => usize::from(flag),
        };
        window + dictionary + Self::content_size_len(descriptor)
    }

    fn content_size_len(descriptor: u8) -> usize {
        match descriptor >> 6 {
            0 => usize::from(descriptor & 0x20 != 0),
            flag => 1 << flag,
        }
    }

    /// The window a whole frame header asks for, in bytes. A frame of a single segment asks for its content's size.
    fn window(header: &[u8]) -> u64 {
        let Some((descriptor, fields)) = header.get(4..).and_then(<[u8]>::split_first) else {
            return 0;
        };
        if descriptor & 0x20 == 0 {
            let byte = fields.first().copied().unwrap_or_default();
            let base = 1_u64 << (10 + (byte >> 3));
            return base + (base >> 3) * u64::from(byte & 7);
        }
        Self::content_size(header).unwrap_or_default()
    }

    /// The size of its content, where a whole frame header says it.
    fn content_size(header: &[u8]) -> Option<u64> {
        let (descriptor, fields) = header.get(4..)?.split_first()?;
        let len = Self::content_size_len(*descriptor);
        let size = fields
            .iter()
            .rev()
            .take(len)
            .fold(0, |size, byte| size << 8 | u64::from(*byte));
        match len {
            0 => None,
            2 => Some(size + 256),
            _ => Some(size),
        }
    }
}

/// A few bytes collected from pieces of input.
#[derive(Default)]
struct Unit {
    bytes: [u8; 18],
    len: usize,
    /// The next byte begins a new unit.
    closed: bool,
}

impl Unit {
    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// Takes bytes until there are `len`; how many were taken.
    fn collect(&mut self, input: &[u8], len: usize) -> usize {
        if self.closed {
            (self.len, self.closed) = (0, false);
        }
        let wanted = self.bytes.get_mut(self.len..len).unwrap_or_default();
        let taken = wanted.len().min(input.len());
        for (to, from) in wanted.iter_mut().zip(input) {
            *to = *from;
        }
        self.len += taken;
        taken
    }

    fn close(&mut self) {
        self.closed = true;
    }

    /// The first `N` bytes.
    fn array<const N: usize>(&self) -> [u8; N] {
        self.bytes.first_chunk().copied().unwrap_or([0; N])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps of a walk that sees `bytes` in pieces, bodies joined, up to a fault without a known end.
    fn steps(bytes: &[u8], piece: usize) -> Vec<(Step, Vec<u8>)> {
        let (mut walk, mut steps) = (FrameWalk::default(), Vec::<(Step, Vec<u8>)>::new());
        let mut at = 0;
        loop {
            let input = bytes
                .get(at..bytes.len().min(at + piece))
                .unwrap_or_default();
            let (taken, step) = walk.step(input);
            at += taken;
            let unit = match step {
                Step::Hungry if input.is_empty() => return steps,
                Step::Hungry => continue,
                Step::Body(len) => {
                    at += len;
                    match steps.last_mut() {
                        Some((Step::Body(sum), _)) => *sum += len,
                        _ => steps.push((step, Vec::new())),
                    }
                    continue;
                }
                Step::Unit => walk.unit().to_vec(),
                Step::FrameEnd | Step::Fault(_) => Vec::new(),
            };
            steps.push((step, unit));
            if matches!(step, Step::Fault(fault) if !fault.has_known_end()) {
                return steps;
            }
        }
    }

    fn walk(bytes: &[u8]) -> Vec<Step> {
        let whole = steps(bytes, bytes.len() + 1);
        for piece in 1..12 {
            assert_eq!(steps(bytes, piece), whole, "pieces of {piece}");
        }
        whole.into_iter().map(|(step, _)| step).collect()
    }

    fn frame(behind_magic: &[u8]) -> Vec<u8> {
        [&MAGIC, behind_magic].concat()
    }

    #[test]
    fn blocks_of_every_type_are_passed() {
        // Checksum, window 1 KiB; raw of 2, run of 9 with a body of 1, compressed of 3, empty last block.
        let blocks = [
            &[0x04, 0x00][..],
            &[2 << 3, 0, 0, b'a', b'b'],
            &[9 << 3 | 1 << 1, 0, 0, b'c'],
            &[3 << 3 | 2 << 1, 0, 0, 1, 2, 3],
            &[1, 0, 0],
            b"SUM!",
        ];
        let bytes = frame(&blocks.concat());
        use Step::{Body, FrameEnd, Unit};
        let once = [
            Unit,
            Unit,
            Body(2),
            Unit,
            Body(1),
            Unit,
            Body(3),
            Unit,
            Unit,
            FrameEnd,
        ];
        assert_eq!(walk(&bytes), once);
        assert_eq!(walk(&bytes.repeat(2)), once.repeat(2));
        assert_eq!(walk(&bytes[..bytes.len() - 1]), once[..8]);
    }

    #[test]
    fn faults_of_structure_are_told_apart() {
        let fault = |bytes: &[u8]| match walk(bytes).into_iter().find(|step| *step != Step::Unit) {
            Some(Step::Fault(fault)) => Some(fault),
            _ => None,
        };
        assert_eq!(fault(b"none"), Some(FrameFault::Magic(*b"none")));
        assert_eq!(fault(b"non"), None);
        assert_eq!(fault(&frame(&[0x08])), Some(FrameFault::ReservedBits(0x08)));
        assert_eq!(fault(&frame(&[0x10])), Some(FrameFault::ReservedBits(0x10)));
        assert_eq!(
            fault(&frame(&[0, 0, 3 << 1, 0, 0])),
            Some(FrameFault::ReservedBlock)
        );
        assert_eq!(
            fault(b"\x5F\x2A\x4D\x18\0\0\0\0"),
            Some(FrameFault::Skippable)
        );
    }

    #[test]
    fn headers_have_every_length_and_say_their_window() {
        let window = |bytes: &[u8]| {
            let bytes = frame(bytes);
            let descriptor = bytes[4];
            assert_eq!(
                bytes.len(),
                5 + Header::len_behind(descriptor),
                "{descriptor:#x}"
            );
            Header::window(&bytes)
        };
        assert_eq!(window(&[0x00, 0x00]), 1 << 10);
        assert_eq!(window(&[0x00, 0x8F]), (1 << 27) + (7 << 24));
        assert_eq!(window(&[0x03, 0x08, 1, 2, 3, 4]), 1 << 11);
        assert_eq!(window(&[0x20, 7]), 7);
        assert_eq!(window(&[0x61, 9, 1, 0]), 257);
        assert_eq!(window(&[0xA2, 9, 9, 0, 0, 0, 8]), 1 << 27);
        assert_eq!(window(&[0xE0, 0, 0, 0, 0, 0, 0, 0, 0x80]), 1 << 63);
        assert_eq!(window(&[0xC0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), 1 << 10);
    }
}
