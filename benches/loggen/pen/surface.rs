//! The surface as far as a writer needs it: which events stand in the conversation, and their weight.
//!
//! **Takes** appended and replacing events. **Gives** spans to replace and sums of tokens. **Never** keeps a message, apart from
//! the two ends of a long tool result, which a prune writes again.

/// What a node is.
#[derive(Clone, Debug)]
pub(super) enum Role {
    /// A system prompt; its text, empty for none.
    System(String),
    /// A message of the user, a plugin or a checkpoint.
    User,
    /// A model's answer.
    Assistant,
    /// A tool's result.
    Tool(Option<Box<LongResult>>),
    /// News about tools.
    Developer,
}

/// What a prune needs of a long tool result.
#[derive(Clone, Debug)]
pub(super) struct LongResult {
    pub turn: u64,
    pub step: u64,
    pub answer: super::Answer,
    /// The text with its middle left out.
    pub pruned: String,
}

/// A node before it has a number.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub role: Role,
    pub tokens: u64,
}

impl Node {
    pub(super) fn is_system(&self) -> bool {
        matches!(self.role, Role::System(_))
    }
}

/// The ordered nodes.
#[derive(Debug, Default)]
pub(super) struct Surface {
    nodes: Vec<(u64, Node)>,
    tokens: u64,
}

impl Surface {
    pub(super) fn append(&mut self, seq: u64, node: Node) {
        self.tokens += node.tokens;
        self.nodes.push((seq, node));
    }

    pub(super) fn replace(&mut self, seq: u64, first: usize, last: usize, node: Node) {
        self.tokens += node.tokens;
        let shadowed = self.nodes.splice(first..=last, [(seq, node)]);
        self.tokens -= shadowed.map(|(_, node)| node.tokens).sum::<u64>();
    }

    pub(super) fn seq(&self, at: usize) -> u64 {
        self.nodes[at].0
    }

    pub(super) fn seqs(&self, first: usize, last: usize) -> Vec<u64> {
        self.nodes[first..=last]
            .iter()
            .map(|(seq, _)| *seq)
            .collect()
    }

    pub(super) fn tokens(&self) -> u64 {
        self.tokens
    }

    pub(super) fn tokens_before(&self, at: usize) -> u64 {
        self.nodes[..at].iter().map(|(_, node)| node.tokens).sum()
    }

    pub(super) fn tokens_of(&self, first: usize, last: usize) -> u64 {
        self.nodes[first..=last]
            .iter()
            .map(|(_, node)| node.tokens)
            .sum()
    }

    /// System prompts: position and text.
    pub(super) fn systems(&self) -> impl Iterator<Item = (usize, &str)> {
        self.nodes
            .iter()
            .enumerate()
            .filter_map(|(at, (_, node))| match &node.role {
                Role::System(text) => Some((at, text.as_str())),
                _ => None,
            })
    }

    /// All but the protected head and the last `kept` answers with what follows them; `None` if that is less than four messages.
    ///
    /// Messages that only some shapes have do not count, so that all shapes condense the same.
    pub(super) fn old_span(&self, kept: usize) -> Option<(usize, usize)> {
        let first = usize::from(self.nodes.first().is_some_and(|(_, node)| node.is_system()));
        let answers = self.nodes.iter().enumerate();
        let mut answers = answers.filter(|(_, (_, node))| matches!(node.role, Role::Assistant));
        let end = answers.nth_back(kept.checked_sub(1)?)?.0;
        let shared = |role: &Role| !matches!(role, Role::System(_) | Role::Developer);
        let old = self.nodes.get(first..end)?;
        let messages = old.iter().filter(|(_, node)| shared(&node.role)).count();
        (messages >= 4).then(|| (first, end - 1))
    }

    /// Long tool results in front of position `end`, not pruned before.
    pub(super) fn long_results(&self, end: usize) -> impl Iterator<Item = (usize, &LongResult)> {
        self.nodes[..end]
            .iter()
            .enumerate()
            .filter_map(|(at, (_, node))| match &node.role {
                Role::Tool(Some(result)) => Some((at, &**result)),
                _ => None,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_span_leaves_one_node_and_its_tokens() {
        let mut surface = Surface::default();
        for seq in 0..8 {
            let role = if seq % 2 == 0 {
                Role::User
            } else {
                Role::Assistant
            };
            surface.append(seq, Node { role, tokens: 10 });
        }
        let (first, last) = surface.old_span(1).expect("seven old nodes");
        assert_eq!(surface.seqs(first, last), [0, 1, 2, 3, 4, 5, 6]);
        surface.replace(
            9,
            first,
            last,
            Node {
                role: Role::User,
                tokens: 3,
            },
        );
        assert_eq!((surface.tokens(), surface.seqs(0, 1)), (13, vec![9, 7]));
        assert!(surface.old_span(1).is_none());
    }
}
