//! What is noted of a line's values while it is validated, so that nothing walks through them again: where long ones end, what lists hold.
//!
//! **Takes** containers and strings in the order in which they begin. **Gives** the end of one that is long.
//! **Never** notes a short value, or one far down: those are walked through.

use super::joined::Joined;

/// Values of fewer bytes are not noted.
pub(super) const LONG: usize = 32;
/// Containers further down are not noted, so that nesting costs no memory.
const DEEP: usize = 32;
/// No container is open.
const NONE: usize = usize::MAX;

/// The ends of the long values of one line. Offsets count in the line.
#[derive(Debug)]
pub(super) struct Jumps {
    /// Where the line begins in the decoded log.
    base: u64,
    /// Start and end of each value, ascending by start; of a container that is open, in place of its end, the index of the one around it.
    values: Vec<(usize, usize)>,
    /// Index of the innermost open container.
    open: usize,
    depth: usize,
    /// The lists of runs of deltas, ascending by start.
    lists: Vec<List>,
    /// The texts of the lists of strings.
    pub(super) joined: Joined,
    /// Where objects begin that stand in arrays of the member that is being read.
    elements: Vec<usize>,
    /// How many of them were asked for.
    asked: usize,
}

/// An array of natural numbers or of strings that was passed over. Offsets count in the line.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Number of elements.
    pub(super) len: u64,
    /// Sum of the numbers.
    pub(super) sum: u64,
    /// Ends of the strings' joined text.
    pub(super) text: (usize, usize),
}

impl Default for Jumps {
    fn default() -> Self {
        Jumps {
            base: 0,
            values: Vec::new(),
            open: NONE,
            depth: 0,
            lists: Vec::new(),
            joined: Joined::default(),
            elements: Vec::new(),
            asked: 0,
        }
    }
}

impl Jumps {
    /// Forgets what was noted, for a line that begins at `base`.
    pub(super) fn clear(&mut self, base: u64) {
        self.base = base;
        self.values.clear();
        self.lists.clear();
        self.joined.clear();
        self.next_member();
        self.open = NONE;
        self.depth = 0;
    }

    /// A container opens.
    #[inline]
    pub(super) fn enter(&mut self, at: usize) {
        self.depth += 1;
        if self.depth <= DEEP {
            self.values.push((at, self.open));
            self.open = self.values.len() - 1;
        }
    }

    /// The innermost open container ends before `end`.
    #[inline]
    pub(super) fn leave(&mut self, end: usize) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth >= DEEP {
            return;
        }
        let Some(value) = self.values.get_mut(self.open) else {
            return;
        };
        let (start, around) = *value;
        value.1 = end;
        if end - start < LONG {
            // What is inside is shorter still: the container is the last value.
            self.values.truncate(self.open);
        }
        self.open = around;
    }

    /// A long value in which nothing is noted.
    pub(super) fn value(&mut self, start: usize, end: usize) {
        self.values.push((start, end));
    }

    /// A member of the outermost object ends.
    pub(super) fn next_member(&mut self) {
        self.elements.clear();
        self.asked = 0;
    }

    /// An object begins inside of an array.
    pub(super) fn element(&mut self, at: usize) {
        self.elements.push(at);
    }

    /// Where the object ends that begins at `at`, if it is the same bytes as the next object of the member that stood in an array.
    /// Each is asked for once, so that no byte is compared twice.
    pub(super) fn repeated(&mut self, line: &[u8], at: usize) -> Option<usize> {
        let start = *self.elements.get(self.asked)?;
        self.asked += 1;
        let known = self.values.binary_search_by_key(&start, |value| value.0);
        let (_, end) = *self.values.get(known.ok()?)?;
        // What is open has no end yet.
        let object = line.get(start..end).filter(|_| end <= at)?;
        line.get(at..)?
            .starts_with(object)
            .then(|| at + object.len())
    }

    /// A list behind those noted before.
    pub(super) fn list(&mut self, list: List) {
        self.lists.push(list);
    }

    /// The list that begins at this offset of the decoded log, if it was noted.
    pub(super) fn list_at(&self, at: u64) -> Option<&List> {
        let start = usize::try_from(at.checked_sub(self.base)?).ok()?;
        let found = self.lists.binary_search_by_key(&start, |list| list.start);
        self.lists.get(found.ok()?)
    }

    /// The joined text of a list of strings that was noted.
    pub(super) fn text_of(&self, list: &List) -> &[u8] {
        self.joined.text(list.text.0, list.text.1)
    }

    /// Where the value ends that begins at this offset of the decoded log, if it was noted.
    #[inline]
    pub(super) fn end_of(&self, at: u64) -> Option<u64> {
        let start = usize::try_from(at.checked_sub(self.base)?).ok()?;
        let found = self.values.binary_search_by_key(&start, |value| value.0);
        let (_, end) = self.values.get(found.ok()?)?;
        Some(self.base + *end as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_found_by_their_start() {
        let mut jumps = Jumps::default();
        jumps.clear(1000);
        jumps.enter(0);
        jumps.enter(10);
        jumps.leave(20);
        jumps.enter(30);
        jumps.value(40, 140);
        jumps.leave(150);
        jumps.value(160, 260);
        jumps.leave(300);
        let ends = [0, 10, 30, 40, 160].map(|at| jumps.end_of(1000 + at));
        assert_eq!(ends, [Some(1300), None, Some(1150), Some(1140), Some(1260)]);
        assert_eq!(jumps.end_of(999), None);
    }

    #[test]
    fn objects_that_come_again_in_their_order_are_known() {
        let object = format!("{{\"text\":\"{}\"}}", "a".repeat(LONG));
        let line = format!("[{object},{{}}]{object}{object}").into_bytes();
        let behind = object.len() + 5;
        let mut jumps = Jumps::default();
        jumps.clear(0);
        jumps.enter(0);
        jumps.element(1);
        jumps.enter(1);
        assert_eq!(jumps.repeated(&line, behind), None);
        jumps.leave(1 + object.len());
        jumps.leave(behind);
        jumps.asked = 0;
        assert_eq!(jumps.repeated(&line, behind), Some(behind + object.len()));
        assert_eq!(jumps.repeated(&line, behind + object.len()), None);
        jumps.next_member();
        assert_eq!(jumps.repeated(&line, behind), None);
        jumps.element(1);
        assert_eq!(jumps.repeated(&line, behind + 1), None);
    }

    #[test]
    fn containers_far_down_are_not_noted() {
        let mut jumps = Jumps::default();
        jumps.clear(0);
        (0..1000).for_each(|at| jumps.enter(at));
        (0..1000).for_each(|at| jumps.leave(2000 + at));
        assert_eq!(jumps.values.len(), DEEP);
        let at = |depth: u64| jumps.end_of(depth);
        assert_eq!((at(0), at(31), at(32)), (Some(2999), Some(2968), None));
    }
}
