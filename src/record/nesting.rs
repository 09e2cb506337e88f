//! The kinds of open containers, one bit each: ten million levels are little more than a megabyte.
//!
//! **Takes** what opens and closes. **Gives** whether the innermost open container is an object.
//! **Never** checks that brackets match; that is the pass's.

/// Kinds of the open containers: a set bit is an object, the lowest one the innermost. Above them stand a zero and a one.
pub(super) struct Nesting {
    inner: u64,
    outer: Vec<u64>,
}

/// No open container.
const NOTHING_OPEN: u64 = 0b10;

impl Nesting {
    pub(super) fn new() -> Nesting {
        Nesting {
            inner: NOTHING_OPEN,
            outer: Vec::new(),
        }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, object: bool) {
        if self.inner >> 63 != 0 {
            self.outer.push(self.inner);
            self.inner = NOTHING_OPEN;
        }
        self.inner = self.inner << 1 | u64::from(object);
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) {
        self.inner >>= 1;
        if self.inner == NOTHING_OPEN {
            self.inner = self.outer.pop().unwrap_or(NOTHING_OPEN);
        }
    }

    #[inline(always)]
    pub(super) fn in_object(&self) -> bool {
        self.inner & 1 == 1
    }

    #[inline(always)]
    pub(super) fn in_array(&self) -> bool {
        !self.in_object() && !self.is_empty()
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.inner == NOTHING_OPEN
    }

    /// Whether the outermost object is the innermost, too.
    #[inline(always)]
    pub(super) fn in_outermost_object(&self) -> bool {
        self.inner == (NOTHING_OPEN << 1 | 1) && self.outer.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_every_level() {
        let mut nesting = Nesting::new();
        assert!(nesting.is_empty() && !nesting.in_object());
        let is_object = |level: usize| matches!(level % 7, 0 | 1 | 4);
        for level in 0..1000 {
            nesting.push(is_object(level));
            assert!(!nesting.is_empty());
            assert_eq!(nesting.in_object(), is_object(level));
            assert_eq!(nesting.in_outermost_object(), level == 0);
        }
        for level in (0..1000).rev() {
            assert_eq!(nesting.in_object(), is_object(level));
            nesting.pop();
        }
        assert!(nesting.is_empty() && !nesting.in_object());
    }
}
