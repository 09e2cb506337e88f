//! The headers of a log as data of their own, to be compared with those of another origin.
//!
//! **Takes** a session and a walk over its requests. **Gives** one [`HeaderState`] for each header that comes into force. **Never**
//! holds the same part twice.

use std::collections::HashMap;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use super::effective::{Effective, Prompt};
use super::moments::{Moment, Walk};
use crate::analyse::answer::{HeaderSpot, Part};
use crate::fold::Session;
use crate::record::Raw;
use crate::request::Requests;

/// A header, with its parts in canonical form. A part that is absent is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderState {
    /// Where it came into force.
    pub spot: HeaderSpot,
    /// The config: JSON.
    pub config: Arc<[u8]>,
    /// Which members the adapter filled in: JSON.
    pub defaults: Arc<[u8]>,
    /// The system prompt: text in WTF-8.
    pub system: Arc<[u8]>,
    /// The tools: a JSON array.
    pub tools: Arc<[u8]>,
    /// The session prefix: a JSON array.
    pub prefix: Arc<[u8]>,
}

impl HeaderState {
    /// The header, to be compared.
    pub fn view(&self) -> Effective<'_> {
        fn json(bytes: &[u8]) -> Option<Raw<'_>> {
            Raw::parse(bytes).ok()
        }
        Effective {
            config: json(&self.config),
            defaults: json(&self.defaults),
            system: match self.system.is_empty() {
                true => Prompt::None,
                false => Prompt::Text(&self.system),
            },
            tools: json(&self.tools),
            prefix: json(&self.prefix),
        }
    }

    /// Leaves a part out.
    pub fn clear(&mut self, part: Part) {
        match part {
            Part::Config => {
                self.config = Arc::default();
                self.defaults = Arc::default();
            }
            Part::System => self.system = Arc::default(),
            Part::Tools => self.tools = Arc::default(),
            Part::Prefix => self.prefix = Arc::default(),
        }
    }

    /// Digests of its parts, in the order of [`Part::ALL`].
    pub fn digests(&self) -> [u128; 4] {
        let view = self.view();
        Part::ALL.map(|part| view.digest(part))
    }
}

/// Keeps each text once.
#[derive(Default)]
struct Shelf(HashMap<u128, Arc<[u8]>>);

impl Shelf {
    fn keep(&mut self, bytes: &[u8]) -> Arc<[u8]> {
        let kept = self.0.entry(xxh3_128(bytes));
        Arc::clone(kept.or_insert_with(|| Arc::from(bytes)))
    }
}

/// The headers of a log, in order. One that repeats its predecessor is left out, apart from the first that is not inherited.
pub fn states<'log>(session: &Session<'log>, requests: Requests<'_, 'log>) -> Vec<HeaderState> {
    let mut shelf = Shelf::default();
    let mut states: Vec<HeaderState> = Vec::new();
    Walk::new(session).run(requests, None, |moment| {
        let state = state(&moment, &mut shelf);
        let is_same = states.last().is_some_and(|last| {
            last.spot.inherited == state.spot.inherited && is_same(last, &state)
        });
        if !is_same {
            states.push(state);
        }
    });
    states
}

fn is_same(a: &HeaderState, b: &HeaderState) -> bool {
    let parts = |state: &HeaderState| {
        let HeaderState {
            spot: _,
            config,
            defaults,
            system,
            tools,
            prefix,
        } = state;
        [config, defaults, system, tools, prefix].map(|part| part.as_ptr())
    };
    parts(a) == parts(b)
}

fn state(moment: &Moment<'_, '_>, shelf: &mut Shelf) -> HeaderState {
    let mut json = |raw: Option<Raw<'_>>| match raw {
        Some(raw) => shelf.keep(&raw.printed()),
        None => shelf.keep(b""),
    };
    let header = &moment.header;
    let (config, defaults) = (json(header.config), json(header.defaults));
    let (tools, prefix) = (json(header.tools), json(header.prefix));
    HeaderState {
        spot: HeaderSpot {
            seq: moment.place.seq,
            turn: moment.place.turn,
            step: moment.place.step,
            time: moment.place.time,
            inherited: moment.place.inherited,
            locked: None,
        },
        config,
        defaults,
        system: shelf.keep(&moment.text),
        tools,
        prefix,
    }
}
