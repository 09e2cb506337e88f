//! The list of events that an event was made from, with its ranges (format.md B.0).
//!
//! **Takes** the value of `sourceEventSeqs`. **Gives** inclusive ranges, one by one.
//! **Never** expands a range: `[[0,9007199254740991]]` costs what its bytes cost.

use crate::line::{Seq, Span};

use super::fast::natural;
use super::members::Elements;
use super::raw::{Kind, Raw};
use super::scan::byte;

/// A list of sequence numbers as it stands. Nothing is refused; what is wrong is said.
#[derive(Clone, Copy, Debug)]
pub struct SourceSeqs<'b> {
    value: Raw<'b>,
    /// Whether the value is an array.
    pub is_array: bool,
    /// The first element that is neither a safe integer of at least 0 nor a pair of two, the smaller one first.
    pub bad_member: Option<Span>,
    /// Whether a good element is a pair.
    pub has_pair: bool,
    /// Whether every number is larger than the one before. A list with pairs must be so.
    pub is_increasing: bool,
    /// How many numbers the good elements stand for.
    pub len: u64,
    /// The smallest and the largest number.
    pub ends: Option<(Seq, Seq)>,
}

impl<'b> SourceSeqs<'b> {
    /// Looks through the list once.
    pub fn of(value: Raw<'b>) -> SourceSeqs<'b> {
        let mut list = SourceSeqs {
            value,
            is_array: value.kind() == Kind::Array,
            bad_member: None,
            has_pair: false,
            is_increasing: true,
            len: 0,
            ends: None,
        };
        let numbers = list.numbers();
        for element in value.elements_from(numbers) {
            match range_of(element) {
                Some((start, end)) => list.add(start, end, element.kind() == Kind::Array),
                None => drop(list.bad_member.get_or_insert(element.span())),
            }
        }
        list
    }

    /// Looks through the numbers at the list's begin that stand as the engine prints them; the offset of the comma or bracket before
    /// the first element that does not.
    fn numbers(&mut self) -> usize {
        if !self.is_array {
            return 0;
        }
        let bytes = self.value.bytes();
        let (mut at, mut count) = (0, 0);
        let (mut smallest, mut largest, mut last) = (u64::MAX, 0, None);
        while let Some((number, len)) = natural(bytes, at + 1) {
            let end = at + 1 + len;
            if !matches!(byte(bytes, end), b',' | b']') {
                break;
            }
            self.is_increasing &= last.is_none_or(|last| number > last);
            last = Some(number);
            smallest = smallest.min(number);
            largest = largest.max(number);
            count += 1;
            at = end;
        }
        self.len = count;
        self.ends = last.map(|_| (Seq(smallest), Seq(largest)));
        at
    }

    #[inline]
    fn add(&mut self, start: Seq, end: Seq, is_pair: bool) {
        self.has_pair |= is_pair;
        // At most 2^53 a pair, and a pair takes five bytes: no log is long enough to overflow it, but a hostile one might try.
        self.len = self.len.saturating_add(end.0 - start.0 + 1);
        self.ends = Some(match self.ends {
            None => (start, end),
            Some((first, last)) => {
                self.is_increasing &= start > last;
                (first.min(start), last.max(end))
            }
        });
    }

    /// Whether it stands for no number.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value as it stands.
    pub fn value(&self) -> Raw<'b> {
        self.value
    }

    /// The good elements as inclusive ranges, in their order; a lone number is a range of one.
    pub fn ranges(&self) -> Ranges<'b> {
        Ranges {
            elements: self.value.elements(),
        }
    }

    /// The same, with ranges that follow each other joined. O(1) for a list without gaps.
    pub fn runs(&self) -> impl Iterator<Item = (Seq, Seq)> + use<'b> {
        let is_sound = self.is_increasing && self.bad_member.is_none();
        let whole = self
            .ends
            .filter(|(first, last)| is_sound && last.0 - first.0 + 1 == self.len);
        let ranges = whole.is_none().then(|| self.ranges());
        let mut ranges = ranges.into_iter().flatten().peekable();
        let rest = std::iter::from_fn(move || {
            let (start, mut end) = ranges.next()?;
            while let Some((_, last)) =
                ranges.next_if(|next| end.0.checked_add(1) == Some(next.0.0))
            {
                end = last;
            }
            Some((start, end))
        });
        whole.into_iter().chain(rest)
    }

    /// A number that stands there twice. O(elements · log elements), and O(1) for an increasing list.
    pub fn repeated(&self) -> Option<Seq> {
        if self.is_increasing {
            return None;
        }
        let mut ranges: Vec<_> = self.ranges().collect();
        ranges.sort_unstable();
        let mut last: Option<Seq> = None;
        for (start, end) in ranges {
            if last.is_some_and(|last| start <= last) {
                return Some(start);
            }
            last = Some(end);
        }
        None
    }
}

/// Inclusive ranges of sequence numbers. See [`SourceSeqs::ranges`].
#[derive(Clone, Debug)]
pub struct Ranges<'b> {
    elements: Elements<'b>,
}

impl Iterator for Ranges<'_> {
    type Item = (Seq, Seq);

    fn next(&mut self) -> Option<(Seq, Seq)> {
        self.elements.find_map(range_of)
    }
}

fn range_of(element: Raw<'_>) -> Option<(Seq, Seq)> {
    let seq = |raw: Raw<'_>| {
        raw.safe_int()
            .and_then(|value| u64::try_from(value).ok())
            .map(Seq)
    };
    if element.kind() != Kind::Array {
        return seq(element).map(|seq| (seq, seq));
    }
    let mut pair = element.elements();
    let (start, end) = (seq(pair.next()?)?, seq(pair.next()?)?);
    (pair.next().is_none() && start <= end).then_some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> SourceSeqs<'_> {
        SourceSeqs::of(Raw::parse(text.as_bytes()).unwrap())
    }

    #[test]
    fn ranges_come_one_by_one() {
        let seqs = list("[1,[3,7],8.0,[9,9007199254740991]]");
        let ranges: Vec<_> = seqs.ranges().map(|(start, end)| (start.0, end.0)).collect();
        assert_eq!(ranges, [(1, 1), (3, 7), (8, 8), (9, 9_007_199_254_740_991)]);
        assert!(seqs.is_array && seqs.has_pair && seqs.is_increasing && seqs.bad_member.is_none());
        assert_eq!(seqs.len, 9_007_199_254_740_990);
        assert_eq!(seqs.ends, Some((Seq(1), Seq(9_007_199_254_740_991))));
        assert_eq!(seqs.repeated(), None);
    }

    #[test]
    fn runs_join_what_follows() {
        let runs = |text: &str| -> Vec<(u64, u64)> {
            list(text).runs().map(|(a, b)| (a.0, b.0)).collect()
        };
        assert_eq!(
            runs("[5,6,7,8,100000007,100000008,100000009]"),
            [(5, 8), (100_000_007, 100_000_009)]
        );
        assert_eq!(
            runs("[12345678,12345679,[12345680,12345690],12345691.0]"),
            [(12_345_678, 12_345_691)]
        );
        assert_eq!(runs("[3,2,[1,2],4]"), [(3, 3), (2, 2), (1, 2), (4, 4)]);
        assert_eq!(
            runs("[0,9007199254740991]"),
            [(0, 0), (9_007_199_254_740_991, 9_007_199_254_740_991)]
        );
        assert_eq!(runs("[ 1 , 2 ]"), [(1, 2)]);
        assert_eq!(runs("[]"), []);
    }

    #[test]
    fn says_what_is_wrong() {
        assert!(!list("{}").is_array && list("{}").is_empty());
        assert!(list("[]").is_array && list("[]").is_empty() && list("[]").is_increasing);
        for bad in [
            "-1", "1.5", "\"1\"", "null", "[1]", "[2,1]", "[1,2,3]", "[1,-2]", "[1,[2]]", "1e400",
        ] {
            let text = format!("[0,{bad},5]");
            let seqs = list(&text);
            assert_eq!(seqs.bad_member, Some(Span::at(3, bad.len())), "{bad}");
            assert_eq!(seqs.ranges().count(), 2);
        }
    }

    #[test]
    fn repeats_are_found_in_any_order() {
        assert_eq!(list("[5,3,4]").repeated(), None);
        assert!(!list("[5,3,4]").is_increasing);
        assert_eq!(list("[5,3,5]").repeated(), Some(Seq(5)));
        assert_eq!(list("[[1,4],2]").repeated(), Some(Seq(2)));
        assert_eq!(list("[7,[6,9007199254740991]]").repeated(), Some(Seq(7)));
    }
}
