//! Prefixes that earlier requests had.
//!
//! **Takes** the prompt of each request, as digests that change behind its kept part only. **Gives** the longest prefix that any
//! earlier request shares with it, exactly. **Never** costs more than what is new in a request, as long as its head is known.
//!
//! The history's digests make a tree: a node is a prefix. A [`Chain`] is a run of nodes of which each is the first child of the one
//! before; a path is a stack of chains, and a head (everything before the history) knows how deep each chain was used under it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use xxhash_rust::xxh3::xxh3_128;

/// Nodes and heads that are kept before both are begun anew; only prefixes of the requests since are found then.
const MOST_NODES: usize = 1 << 21;

/// A place in the tree: the first `len` nodes of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    chain: u32,
    len: u32,
}

#[derive(Debug, Default)]
struct Chain {
    /// How deep its base is.
    depth: usize,
    digests: Vec<u128>,
}

/// How far an earlier request shares a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shared {
    pub(super) request: u32,
    /// Segments before the history.
    pub(super) head: usize,
    /// Segments of the history.
    pub(super) history: usize,
}

/// All prefixes so far.
#[derive(Debug)]
pub(super) struct EarlierPrefixes {
    chains: Vec<Chain>,
    /// Chains that begin behind a node that already had a child.
    branches: HashMap<(Place, u128), u32>,
    path: Vec<Place>,
    nodes: usize,
    most_nodes: usize,
    /// Rolling digest of each prefix of a head: the last request that had it.
    heads: HashMap<u128, u32>,
    /// Under a head, how deep a chain was used, and by which request.
    used: HashMap<(u128, u32), (u32, u32)>,
    /// The current head: rolling digests of its prefixes.
    head: Vec<u128>,
}

impl EarlierPrefixes {
    pub(super) fn new() -> EarlierPrefixes {
        EarlierPrefixes::with_limit(MOST_NODES)
    }

    fn with_limit(most_nodes: usize) -> EarlierPrefixes {
        let mut new = EarlierPrefixes {
            chains: Vec::new(),
            branches: HashMap::new(),
            path: Vec::new(),
            nodes: 0,
            most_nodes,
            heads: HashMap::new(),
            used: HashMap::new(),
            head: Vec::new(),
        };
        new.forget();
        new
    }

    fn forget(&mut self) {
        self.chains = vec![Chain::default()];
        self.branches = HashMap::new();
        self.path = vec![Place { chain: 0, len: 0 }];
        self.nodes = 0;
        self.heads = HashMap::new();
        self.used = HashMap::new();
    }

    /// Takes the digests before the history.
    pub(super) fn set_head(&mut self, digests: impl Iterator<Item = u128>) {
        let mut rolling = 0_u128;
        self.head.clear();
        self.head.extend(digests.map(|digest| {
            rolling = roll(rolling, digest);
            rolling
        }));
    }

    /// Takes a request: of the history before it, `kept` segments stay and `behind` follow. `all` gives the whole history again.
    pub(super) fn request(
        &mut self,
        number: u32,
        kept: usize,
        behind: impl Iterator<Item = u128>,
        all: impl Iterator<Item = u128>,
    ) -> Option<Shared> {
        if self.nodes.max(self.heads.len()) > self.most_nodes {
            self.forget();
            all.for_each(|digest| self.push(digest));
        } else {
            self.truncate(kept);
            behind.for_each(|digest| self.push(digest));
        }
        let shared = self.shared();
        self.mark(number);
        shared
    }

    fn whole_head(&self) -> u128 {
        self.head.last().copied().unwrap_or_default()
    }

    fn shared(&self) -> Option<Shared> {
        let head = self.whole_head();
        for place in self.path.iter().rev() {
            if let Some(&(len, request)) = self.used.get(&(head, place.chain)) {
                return Some(Shared {
                    request,
                    head: self.head.len(),
                    history: self.depth(place.chain) + len.min(place.len) as usize,
                });
            }
        }
        let known = self
            .head
            .iter()
            .enumerate()
            .rev()
            .find_map(|(at, prefix)| Some((at, *self.heads.get(prefix)?)));
        known.map(|(at, request)| Shared {
            request,
            head: at + 1,
            history: 0,
        })
    }

    fn mark(&mut self, number: u32) {
        let head = self.whole_head();
        for prefix in &self.head {
            self.heads.insert(*prefix, number);
        }
        for place in self.path.iter().rev() {
            match self.used.entry((head, place.chain)) {
                Entry::Vacant(entry) => {
                    entry.insert((place.len, number));
                }
                // What it stands on is known to be used then.
                Entry::Occupied(mut entry) => {
                    if place.len >= entry.get().0 {
                        entry.insert((place.len, number));
                    }
                    break;
                }
            }
        }
    }

    fn depth(&self, chain: u32) -> usize {
        self.chains
            .get(chain as usize)
            .map_or(0, |chain| chain.depth)
    }

    fn truncate(&mut self, depth: usize) {
        while self.path.len() > 1
            && self
                .path
                .last()
                .is_some_and(|place| self.depth(place.chain) >= depth)
        {
            self.path.pop();
        }
        if let Some(&Place { chain, .. }) = self.path.last() {
            let most = depth.saturating_sub(self.depth(chain)) as u32;
            if let Some(place) = self.path.last_mut() {
                place.len = place.len.min(most);
            }
        }
    }

    fn push(&mut self, digest: u128) {
        let Some(place) = self.path.last_mut() else {
            return;
        };
        let at = *place;
        let Some(chain) = self.chains.get_mut(at.chain as usize) else {
            return;
        };
        match chain.digests.get(at.len as usize) {
            Some(next) if *next == digest => return place.len += 1,
            Some(_) => {}
            None => {
                chain.digests.push(digest);
                self.nodes += 1;
                return place.len += 1;
            }
        }
        let depth = chain.depth + at.len as usize;
        let chain = *self.branches.entry((at, digest)).or_insert_with(|| {
            self.chains.push(Chain {
                depth,
                digests: vec![digest],
            });
            self.nodes += 1;
            (self.chains.len() - 1) as u32
        });
        self.path.push(Place { chain, len: 1 });
    }
}

fn roll(before: u128, digest: u128) -> u128 {
    let mut both = [0; 32];
    both[..16].copy_from_slice(&before.to_le_bytes());
    both[16..].copy_from_slice(&digest.to_le_bytes());
    xxh3_128(&both)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What [`EarlierPrefixes`] answers, found by comparing with every earlier prompt.
    fn longest(prompts: &[(Vec<u128>, Vec<u128>)], at: usize) -> (usize, usize) {
        let (head, history) = &prompts[at];
        let common = |a: &[u128], b: &[u128]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let all = prompts[..at].iter().map(|(other, messages)| {
            let heads = common(head, other);
            if heads == head.len() && heads == other.len() {
                (heads, common(history, messages))
            } else {
                (heads, 0)
            }
        });
        all.max().unwrap_or_default()
    }

    fn check(prompts: &[(Vec<u128>, Vec<u128>)], limit: usize) {
        let mut earlier = EarlierPrefixes::with_limit(limit);
        let mut before: Vec<u128> = Vec::new();
        for (at, (head, history)) in prompts.iter().enumerate() {
            let kept = before
                .iter()
                .zip(history)
                .take_while(|(a, b)| a == b)
                .count();
            earlier.set_head(head.iter().copied());
            let shared = earlier.request(
                at as u32,
                kept,
                history.iter().skip(kept).copied(),
                history.iter().copied(),
            );
            let found = shared.map_or((0, 0), |shared| (shared.head, shared.history));
            assert_eq!(found, longest(prompts, at), "request {at} of {prompts:?}");
            if let Some(shared) = shared {
                let named = &prompts[shared.request as usize];
                assert!(shared.request < at as u32);
                assert_eq!(named.0[..shared.head], head[..shared.head]);
                assert_eq!(named.1[..shared.history], history[..shared.history]);
            }
            before.clone_from(history);
        }
    }

    #[test]
    fn returns_to_what_was_there() {
        let (a, b) = (vec![1, 2], vec![1, 3]);
        check(
            &[
                (a.clone(), vec![10]),
                (a.clone(), vec![10, 11, 12]),
                (b.clone(), vec![10, 11, 12, 13]),
                (a.clone(), vec![10, 11, 12, 13, 14]),
                (a.clone(), vec![20, 12]),
                (b, vec![20, 12, 15]),
                (a.clone(), vec![10, 11, 99]),
                (a, vec![]),
            ],
            MOST_NODES,
        );
    }

    #[test]
    fn random_prompts_agree_with_the_slow_way() {
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..300 {
            let mut history: Vec<u128> = Vec::new();
            let mut prompts = Vec::new();
            for _ in 0..12 {
                let keep = random(history.len() as u64 + 2) as usize;
                history.truncate(keep);
                history.extend((0..random(4)).map(|_| u128::from(random(2))));
                let head = (0..random(3))
                    .map(|_| u128::from(100 + random(2)))
                    .collect();
                prompts.push((head, history.clone()));
            }
            check(&prompts, MOST_NODES);
        }
    }

    #[test]
    fn the_tree_is_bounded() {
        let mut earlier = EarlierPrefixes::with_limit(10);
        for at in 0..100_u32 {
            let history: Vec<u128> = (0..5).map(|ix| u128::from(at * 10 + ix)).collect();
            earlier.request(at, 0, history.iter().copied(), history.iter().copied());
            assert!(earlier.nodes <= 15 && earlier.chains.len() <= 4);
        }
    }
}
