//! Damages lines of a log in the ways that a scanner could take for sound.
//!
//! **Takes** a line and a seed. **Gives** another line. **Never** depends on anything else.

/// A small generator of numbers: the same seed gives the same numbers.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    /// A number below `end`; 0 when there is none.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.roll() % end.max(1) as u64) as usize
    }

    pub(crate) fn pick<'p, T: ?Sized>(&mut self, from: &[&'p T]) -> &'p T {
        from[self.below(from.len())]
    }
}

/// Bytes that mean something to a reader of JSON, or nearly.
const BYTES: &[u8] = b"\"\\{}[]:,0123456789-+.eE \t\r\x00\x0b\x1f\x7f\x80\xbf\xc3\xe2\xed\xa0\xf0\xff/uUnbfrtaAxZ_\n";

const NUMBERS: &[&str] = &[
    "-0",
    "-1",
    "0",
    "00",
    "01",
    "7",
    "1.0",
    "0.5",
    "1e3",
    "1E400",
    "-12",
    "999999999999999",
    "1000000000000000",
    "9007199254740991",
    "9007199254740992",
    "99999999999999999999",
    "12345678",
    "123456789",
    "null",
    "\"1\"",
    "[1]",
    "",
];

const TEXTS: &[&[u8]] = &[
    b"\\u0041",
    b"\\u001b",
    b"\\u000a",
    b"\\u00e9",
    b"\\uD83D\\uDE00",
    b"\\ud83d",
    b"\\ude00",
    b"\\ud83",
    b"\\/",
    b"\\\\",
    b"\\\"",
    b"\\b\\f\\n\\r\\t",
    b"\\x",
    b"\\",
    b"\"",
    b"\",\"",
    b"\xC3\xA9",
    b"\xF0\x9F\x98\x80",
    b"\xE6\x97\xA5\xE6\x9C\xAC",
    b"\xED\xA0\x80",
    b"\xC0\xAF",
    b"\xE2\x82",
    b"\x1B",
    b"\x7F",
    b"plain words that make the text longer",
];

const MEMBERS: &[&[u8]] = &[
    b",\"extra\":1",
    b",\"seq\":7",
    b",\"type\":\"text-delta\"",
    b",\"index\":0",
    b",\"text\":\"more\"",
    b",\"id\":\"\"",
    b",\"name\":\"\"",
    b",\"dt\":[]",
    b",\"surfaceOp\":\"append\"",
    b",\"sourceEventSeqs\":[1]",
    b",\"ignorable\":true",
    b",\"1\":1",
];

/// Damages a line once, or leaves it as it is.
pub(crate) fn mutate(line: &mut Vec<u8>, dice: &mut Dice) {
    match dice.below(12) {
        0 => replace_byte(line, dice),
        1 => insert(
            line,
            dice.below(line.len() + 1),
            &[BYTES[dice.below(BYTES.len())]],
        ),
        2 => drop(remove(line, dice.below(line.len()), 1)),
        3 | 4 => replace_number(line, dice),
        5 | 6 => insert_text(line, dice),
        7 => insert_member(line, dice),
        8 => move_part(line, dice),
        9 => repeat_part(line, dice),
        10 => line.truncate(dice.below(line.len() + 1)),
        _ => drop_part(line, dice),
    }
}

fn replace_byte(line: &mut [u8], dice: &mut Dice) {
    let at = dice.below(line.len());
    if let Some(byte) = line.get_mut(at) {
        *byte = BYTES[dice.below(BYTES.len())];
    }
}

fn insert(line: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    line.splice(at..at, bytes.iter().copied());
}

fn remove(line: &mut Vec<u8>, at: usize, len: usize) -> Vec<u8> {
    let end = (at + len).min(line.len());
    line.drain(at.min(end)..end).collect()
}

fn replace_number(line: &mut Vec<u8>, dice: &mut Dice) {
    let starts = |at: usize| line[at].is_ascii_digit() && !line[at - 1].is_ascii_digit();
    let places: Vec<usize> = (1..line.len()).filter(|&at| starts(at)).collect();
    if places.is_empty() {
        return;
    }
    let at = places[dice.below(places.len())];
    let len = line[at..].iter().take_while(|b| b.is_ascii_digit()).count();
    let number = dice.pick(NUMBERS);
    line.splice(at..at + len, number.bytes());
}

/// Where one of these bytes stands.
fn places(line: &[u8], of: &[u8]) -> Vec<usize> {
    (0..line.len())
        .filter(|&at| of.contains(&line[at]))
        .collect()
}

fn insert_text(line: &mut Vec<u8>, dice: &mut Dice) {
    // Behind a quote: inside a string every second time.
    let quotes = places(line, b"\"");
    if !quotes.is_empty() {
        let at = quotes[dice.below(quotes.len())] + dice.below(2);
        insert(line, at, dice.pick(TEXTS));
    }
}

fn insert_member(line: &mut Vec<u8>, dice: &mut Dice) {
    let ends = places(line, b",}");
    if !ends.is_empty() {
        insert(line, ends[dice.below(ends.len())], dice.pick(MEMBERS));
    }
}

/// A range that begins and ends at a comma or a bracket: mostly a member or an element.
fn part(line: &[u8], dice: &mut Dice) -> (usize, usize) {
    let ends = places(line, b",{}[]");
    if ends.len() < 2 {
        return (0, 0);
    }
    let first = dice.below(ends.len() - 1);
    let more = 1 + dice.below((ends.len() - 1 - first).min(3));
    (ends[first], ends[first + more] - ends[first])
}

fn move_part(line: &mut Vec<u8>, dice: &mut Dice) {
    let (at, len) = part(line, dice);
    let moved = remove(line, at, len);
    let ends = places(line, b",}]");
    if !ends.is_empty() {
        insert(line, ends[dice.below(ends.len())], &moved);
    }
}

fn repeat_part(line: &mut Vec<u8>, dice: &mut Dice) {
    let (at, len) = part(line, dice);
    let repeated = line[at..at + len].to_vec();
    insert(line, at, &repeated);
}

fn drop_part(line: &mut Vec<u8>, dice: &mut Dice) {
    let (at, len) = part(line, dice);
    remove(line, at, len);
}
