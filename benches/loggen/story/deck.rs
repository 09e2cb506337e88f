//! The unusual things that happen in a session, dealt so that each comes up before any comes twice.
//!
//! **Takes** the session's [`Habits`] and how often something shall happen. **Gives** at most one [`Happening`] per step.
//! **Never** deals what the habits exclude.

use super::super::Habits;
use super::super::rng::Rng;

/// Something unusual at the beginning of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Happening {
    /// The conversation is condensed.
    Compaction,
    /// It is tried, in vain.
    FailedCompaction,
    /// The user has it condensed behind this turn.
    ManualCompaction,
    /// Old tool results lose their middle.
    Prune,
    /// Another process goes on behind this turn.
    Resume,
    /// The system prompt changes.
    System,
    /// A tool appears.
    AddTool,
    /// A tool that appeared goes.
    RemoveTool,
    /// A tool is described differently.
    EditTool,
    /// The same tools come in another order.
    MoveTools,
    /// The user picks another model.
    Model,
    /// The user picks another effort.
    Effort,
    /// The provider fails before it answers.
    Retry,
    /// The user speaks while tools run.
    Steering,
}

/// The order in which things happen first.
const FIRST: [Happening; 18] = [
    Happening::Retry,
    Happening::System,
    Happening::Compaction,
    Happening::AddTool,
    Happening::Steering,
    Happening::Resume,
    Happening::Prune,
    Happening::MoveTools,
    Happening::Retry,
    Happening::Model,
    Happening::FailedCompaction,
    Happening::Effort,
    Happening::RemoveTool,
    Happening::Resume,
    Happening::EditTool,
    Happening::ManualCompaction,
    Happening::Model,
    Happening::Effort,
];

/// What will happen, and when.
#[derive(Debug)]
pub(super) struct Deck {
    cards: Vec<Happening>,
    next: usize,
    cadence: u64,
    rest: u64,
}

impl Deck {
    pub(super) fn new(habits: &Habits, cadence: u64) -> Self {
        let cards = FIRST
            .into_iter()
            .filter(|&happening| allowed(habits, happening))
            .collect();
        Self {
            cards,
            next: 0,
            cadence,
            rest: cadence,
        }
    }

    /// What happens at this step.
    pub(super) fn draw(&mut self, rng: &mut Rng) -> Option<Happening> {
        self.rest = self.rest.saturating_sub(1);
        if self.rest > 0 || self.cards.is_empty() {
            return None;
        }
        self.rest = rng
            .between(self.cadence.div_ceil(2), self.cadence + self.cadence / 2)
            .max(1);
        if self.next == self.cards.len() {
            self.next = 0;
            for at in (1..self.cards.len()).rev() {
                self.cards.swap(at, rng.below(at as u64 + 1) as usize);
            }
        }
        self.next += 1;
        self.cards.get(self.next - 1).copied()
    }
}

fn allowed(habits: &Habits, happening: Happening) -> bool {
    match happening {
        Happening::Compaction
        | Happening::FailedCompaction
        | Happening::ManualCompaction
        | Happening::Prune => habits.compactions,
        Happening::Resume => habits.resumes,
        Happening::Retry => habits.retries,
        Happening::Steering => habits.steering,
        Happening::System
        | Happening::AddTool
        | Happening::RemoveTool
        | Happening::EditTool
        | Happening::MoveTools
        | Happening::Model
        | Happening::Effort => habits.header_changes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_allowed_happens_once_before_anything_again() {
        let mut deck = Deck::new(&Habits::default(), 1);
        let mut rng = Rng::new(1);
        let dealt: Vec<_> = std::iter::repeat_with(|| deck.draw(&mut rng))
            .flatten()
            .take(FIRST.len())
            .collect();
        assert_eq!(dealt, FIRST);
    }

    #[test]
    fn nothing_excluded_happens() {
        let habits = Habits {
            compactions: false,
            header_changes: false,
            resumes: false,
            steering: false,
            ..Habits::default()
        };
        let mut deck = Deck::new(&habits, 2);
        let mut rng = Rng::new(1);
        assert!(
            (0..100)
                .filter_map(|_| deck.draw(&mut rng))
                .all(|happening| happening == Happening::Retry)
        );
    }
}
