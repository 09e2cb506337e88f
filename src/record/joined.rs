//! The texts of a line's runs, each run's one behind the other without quotes and commas.
//!
//! **Takes** the words of strings while they are read. **Gives** the joined text of a run.
//! **Never** looks at what it takes: strings whose texts change where they meet are not read this way.

use super::fast::WORD;

/// Memory that is kept from line to line.
const KEPT: usize = 1 << 20;

/// Takes the texts of a run while they are read.
pub(super) trait Texts {
    /// Puts a word behind the text; `None` where there is no room.
    fn put(&mut self, word: &[u8; WORD]) -> Option<()>;
    /// Makes the first bytes of the word that was put a part of the text.
    fn keep(&mut self, len: usize) -> Option<()>;
}

/// Nothing is joined.
impl Texts for () {
    #[inline(always)]
    fn put(&mut self, _word: &[u8; WORD]) -> Option<()> {
        Some(())
    }

    #[inline(always)]
    fn keep(&mut self, _len: usize) -> Option<()> {
        Some(())
    }
}

/// Where the text goes on.
pub(super) struct Room<'j>(&'j mut [u8]);

impl Room<'_> {
    /// How many bytes are left.
    pub(super) fn left(&self) -> usize {
        self.0.len()
    }
}

impl Texts for Room<'_> {
    #[inline(always)]
    fn put(&mut self, word: &[u8; WORD]) -> Option<()> {
        *self.0.first_chunk_mut()? = *word;
        Some(())
    }

    #[inline(always)]
    fn keep(&mut self, len: usize) -> Option<()> {
        self.0 = std::mem::take(&mut self.0).get_mut(len..)?;
        Some(())
    }
}

/// The joined texts of one line. Behind the last one stand bytes of no meaning.
#[derive(Debug, Default)]
pub(super) struct Joined {
    bytes: Vec<u8>,
    end: usize,
}

impl Joined {
    /// Forgets all texts, and the memory that an unusual line took.
    pub(super) fn clear(&mut self) {
        self.bytes.truncate(KEPT);
        self.bytes.shrink_to(KEPT);
        self.end = 0;
    }

    /// Room behind the texts, for the rest of a line of this length.
    pub(super) fn room(&mut self, line: usize) -> Room<'_> {
        // The texts of a line are shorter than the line.
        let most = line + WORD;
        if self.bytes.len() < most {
            self.bytes.resize(most, 0);
        }
        Room(self.bytes.get_mut(self.end..).unwrap_or_default())
    }

    /// Ends a text behind which this much room is left: where it begins and ends.
    pub(super) fn ends(&mut self, left: usize) -> (usize, usize) {
        let start = self.end;
        self.end = self.bytes.len().saturating_sub(left);
        (start, self.end)
    }

    /// The text between two offsets.
    pub(super) fn text(&self, from: usize, to: usize) -> &[u8] {
        self.bytes.get(from..to).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stand_one_behind_the_other() {
        let mut joined = Joined::default();
        for line in [20, 20, 3 * KEPT] {
            joined.clear();
            let mut room = joined.room(line);
            room.put(b"abcdefgh").unwrap();
            room.keep(3).unwrap();
            room.put(b"ABCDEFGH").unwrap();
            room.keep(8).unwrap();
            let left = room.left();
            assert_eq!(joined.ends(left), (0, 11));
            let mut room = joined.room(line);
            room.put(b"12345678").unwrap();
            let unused = room.left();
            room.keep(1).unwrap();
            let left = room.left();
            assert_eq!((unused - left, joined.ends(left)), (1, (11, 12)));
            assert_eq!(joined.text(0, 12), b"abcABCDEFGH1");
            assert_eq!(joined.bytes.len(), line + WORD);
        }
        joined.clear();
        assert_eq!(joined.bytes.len(), KEPT);
    }

    #[test]
    fn there_is_room_for_a_line() {
        let mut joined = Joined::default();
        let mut room = joined.room(9);
        room.put(b"abcdefgh").and_then(|()| room.keep(8)).unwrap();
        room.put(b"i       ").and_then(|()| room.keep(1)).unwrap();
        room.put(b"        ").and_then(|()| room.keep(8)).unwrap();
        assert!(room.put(b"        ").is_none() && room.keep(1).is_none());
    }
}
