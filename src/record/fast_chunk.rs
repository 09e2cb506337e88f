//! Records of a stream that begin and end blocks, in exactly the bytes the harness prints.
//!
//! **Takes** a cursor that stands before the record. **Gives** its parts, as the general pass would.
//! **Never** reads a block: it is taken where it is known where it ends.

use super::fast::Scan;
use super::raw::Raw;

/// The edge of a block.
#[derive(Clone, Copy, Debug)]
pub enum Edge<'b> {
    /// It begins, and this is its type: a string.
    Start(Raw<'b>),
    /// It ends, and this is what it became.
    End(Raw<'b>),
}

impl<'line> Scan<'line> {
    /// Takes a record that holds the edge of a block: its time, the block's index, and the edge. `known` says where the block ends
    /// that begins at an offset of the cursor's bytes.
    #[inline]
    pub(super) fn edge(
        &mut self,
        known: impl FnOnce(usize) -> Option<usize>,
    ) -> Option<(u64, u64, Edge<'line>)> {
        self.literal(b"{\"type\":\"chunk\",\"time\":")?;
        let time = self.natural()?;
        self.literal(b",\"chunk\":{\"type\":\"block-")?;
        let starts = self.literal(b"start\",\"index\":").is_some();
        if !starts {
            self.literal(b"end\",\"index\":")?;
        }
        let index = self.natural()?;
        let edge = if starts {
            self.literal(b",\"blockType\":")?;
            Edge::Start(self.string()?)
        } else {
            self.literal(b",\"block\":")?;
            let from = self.at();
            self.move_to(known(from)?);
            Edge::End(self.value(from))
        };
        self.literal(b"}}")?;
        Some((time, index, edge))
    }
}

impl<'b> Raw<'b> {
    /// The time, the block's index and the edge of a record of a stream, where it is written as the harness prints it.
    pub fn edge(self) -> Option<(u64, u64, Edge<'b>)> {
        if !self.is_known_canonical() {
            return None;
        }
        let mut scan = Scan::over(self);
        let edge = scan.edge(|at| self.noted_end(at))?;
        scan.whole()?;
        Some(edge)
    }
}
