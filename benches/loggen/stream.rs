//! One provider response as it streams: blocks, and where and when they were cut into deltas.
//!
//! **Takes** texts. **Gives** [`Response`]. **Never** knows how a chunk is written.

use super::rng::Rng;
use super::text;

/// What a block is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Thinking that is logged and sent again.
    Reasoning,
    /// What the user reads.
    Text,
    /// A call of a tool; the block's text is its arguments.
    Call {
        /// The provider's id of the call.
        id: String,
        /// The tool.
        name: &'static str,
    },
}

/// One block with its deltas.
#[derive(Clone, Debug)]
pub struct Block {
    /// What it is.
    pub kind: Kind,
    /// All of its text.
    pub text: String,
    /// The end of each delta in `text`.
    pub ends: Vec<u32>,
    /// Milliseconds between a delta and what came before it.
    pub waits: Vec<u8>,
}

impl Block {
    /// Cuts `text` into deltas; a call begins with an empty one, which announces its name.
    pub fn new(rng: &mut Rng, kind: Kind, text: String) -> Self {
        let mut ends = text::cuts(rng, &text);
        if matches!(kind, Kind::Call { .. }) {
            ends.insert(0, 0);
        }
        let waits = ends.iter().map(|_| wait(rng)).collect();
        Self {
            kind,
            text,
            ends,
            waits,
        }
    }

    /// The text of delta `at`.
    pub fn delta(&self, at: usize) -> &str {
        let start = if at == 0 {
            0
        } else {
            self.ends[at - 1] as usize
        };
        &self.text[start..self.ends[at] as usize]
    }

    /// A rough count of tokens.
    pub fn tokens(&self) -> u64 {
        self.text.len() as u64 / 4 + 3
    }

    /// Keeps only the first `deltas` deltas: what a broken stream left.
    pub fn truncate(&mut self, deltas: usize) {
        self.ends.truncate(deltas);
        self.waits.truncate(deltas);
        self.text
            .truncate(self.ends.last().copied().unwrap_or(0) as usize);
    }
}

/// Deltas come in bursts: most with no time between them.
fn wait(rng: &mut Rng) -> u8 {
    match rng.below(16) {
        0..=2 => rng.between(15, 35) as u8,
        3..=4 => 1,
        _ => 0,
    }
}

/// Why an attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The provider's words.
    pub message: &'static str,
    /// The harness's code.
    pub code: &'static str,
    /// The HTTP status, where there was one.
    pub status: Option<u64>,
}

/// How a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The model had nothing more to say.
    Stop,
    /// The model waits for its tools.
    ToolCalls,
    /// The provider or the network failed.
    Failed(Failure),
}

/// One attempt's response.
#[derive(Clone, Debug)]
pub struct Response {
    /// Its blocks, in the order they began.
    pub blocks: Vec<Block>,
    /// How it ended.
    pub finish: Finish,
    /// Milliseconds until the first chunk.
    pub delay: u64,
}

impl Response {
    /// The tokens of all blocks.
    pub fn tokens(&self) -> u64 {
        self.blocks.iter().map(Block::tokens).sum()
    }

    /// The tokens of the reasoning blocks.
    pub fn reasoning_tokens(&self) -> u64 {
        self.blocks
            .iter()
            .filter(|block| block.kind == Kind::Reasoning)
            .map(Block::tokens)
            .sum()
    }

    /// Blocks that are calls: index in the response, id, tool, arguments.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &'static str, &str)> {
        self.blocks.iter().filter_map(|block| match &block.kind {
            Kind::Call { id, name } => Some((id.as_str(), *name, block.text.as_str())),
            _ => None,
        })
    }

    /// About how many bytes the response takes as raw version-0 lines, its message included.
    pub fn raw_size(&self) -> u64 {
        let mut size = 700;
        for block in &self.blocks {
            let overhead = match &block.kind {
                Kind::Reasoning => 154,
                Kind::Text => 149,
                Kind::Call { id, name } => 176 + (id.len() + name.len()) as u64,
            };
            size +=
                420 + 3 * block.text.len() as u64 * 26 / 25 + overhead * block.ends.len() as u64;
        }
        size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_join_to_the_text() {
        let mut rng = Rng::new(1);
        let kind = Kind::Call {
            id: "c".into(),
            name: "bash",
        };
        let mut block = Block::new(&mut rng, kind, "{\"command\":\"cargo test\"}".into());
        let joined: String = (0..block.ends.len()).map(|at| block.delta(at)).collect();
        assert_eq!((block.delta(0), joined), ("", block.text.clone()));
        block.truncate(3);
        let joined: String = (0..3).map(|at| block.delta(at)).collect();
        assert_eq!(joined, block.text);
    }
}
