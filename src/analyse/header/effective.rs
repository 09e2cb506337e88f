//! The header in force, as one notion for every generation.
//!
//! **Takes** a snapshot and, from version 3 on, the prompt that stands on the surface. **Gives** [`Effective`]. **Never** keeps an
//! empty part apart from an absent one.
//!
//! Source: format reference, sections A.9, D.1 and F (the text of several blocks is joined without a separator).

use std::borrow::Cow;

use xxhash_rust::xxh3::xxh3_128;

use super::lines::count_lines;
use crate::analyse::answer::{HeaderSize, Part};
use crate::fold::header_part;
use crate::record::{Kind, Raw, TextBuf};

/// A header in force: what of a request is not history.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effective<'b> {
    /// Provider, model, and options of the call.
    pub config: Option<Raw<'b>>,
    /// Which of them the adapter filled in.
    pub defaults: Option<Raw<'b>>,
    /// The system prompt.
    pub system: Prompt<'b>,
    /// The tools: an array, or a placeholder.
    pub tools: Option<Raw<'b>>,
    /// The session prefix: an array, or a placeholder.
    pub prefix: Option<Raw<'b>>,
}

/// Where a system prompt stands.
#[derive(Clone, Copy, Debug, Default)]
pub enum Prompt<'b> {
    /// Nowhere.
    #[default]
    None,
    /// In the header, as a string.
    Header(Raw<'b>),
    /// On the surface: the content of a message.
    Surface(Raw<'b>),
    /// Decoded already, in WTF-8.
    Text(&'b [u8]),
}

impl<'b> Prompt<'b> {
    /// Its bytes as they stand.
    fn bytes(self) -> Option<&'b [u8]> {
        match self {
            Prompt::None => None,
            Prompt::Header(raw) | Prompt::Surface(raw) => Some(raw.bytes()),
            Prompt::Text(text) => Some(text),
        }
    }

    /// Its text in WTF-8. Of blocks, the text of all of them.
    pub fn text(self) -> Vec<u8> {
        let mut text = TextBuf::new();
        match self {
            Prompt::None => {}
            Prompt::Header(raw) => {
                raw.append_to(&mut text);
            }
            Prompt::Surface(content) => content_text(content, &mut text),
            Prompt::Text(bytes) => return bytes.to_vec(),
        }
        text.bytes().to_vec()
    }

    /// Whether two prompts are known to be the same without decoding them.
    pub fn is_same(self, other: Prompt<'_>) -> bool {
        let is_text = |prompt: Prompt<'_>| matches!(prompt, Prompt::Text(_));
        let (a, b) = (self.bytes(), other.bytes());
        a == b && (a.is_none() || is_text(self) == is_text(other))
    }
}

/// The text of a message's content: a string, or the text blocks of a list.
pub(super) fn content_text(content: Raw<'_>, out: &mut TextBuf) {
    if content.append_to(out) {
        return;
    }
    for block in content.elements() {
        let is_text = block.get("type").is_some_and(|kind| kind.is_str("text"));
        if let Some(text) = block.get("text").filter(|_| is_text) {
            text.append_to(out);
        }
    }
}

impl<'b> Effective<'b> {
    /// The header that a snapshot alone makes.
    pub fn of_snapshot(header: Raw<'b>) -> Effective<'b> {
        Effective {
            config: header.get("config"),
            defaults: header.get("adapterDefaults"),
            system: header_part(header, "system").map_or(Prompt::None, Prompt::Header),
            tools: header_part(header, "tools"),
            prefix: header_part(header, "messagePrefix"),
        }
    }

    /// The same with the prompt that stands on the surface.
    pub fn with_surface_prompt(self, content: Raw<'b>) -> Effective<'b> {
        Effective {
            system: Prompt::Surface(content),
            ..self
        }
    }

    /// Whether the adapter filled a member of the config in.
    pub fn is_default(&self, member: &str) -> bool {
        self.defaults
            .and_then(|flags| flags.get(member))
            .and_then(Raw::as_bool)
            == Some(true)
    }

    /// Whether a part is a placeholder: it tells nothing, or of tools nothing but the names.
    pub fn is_redacted(&self, part: Part) -> bool {
        match part {
            Part::Config => false,
            Part::System => self.system.bytes().is_some_and(|bytes| {
                bytes.len() < MOST_REDACTED && is_placeholder(&self.system.text())
            }),
            Part::Tools => self.tools.is_some_and(|tools| {
                let first = tools.elements().next();
                tools.kind() == Kind::String
                    || first.is_some_and(|tool| tool.kind() == Kind::String)
            }),
            Part::Prefix => self.prefix.is_some_and(|prefix| {
                let first = prefix.elements().next().and_then(Raw::text);
                prefix.kind() == Kind::String
                    || first.is_some_and(|text| is_placeholder(text.bytes()))
            }),
        }
    }

    /// A part in canonical form, as two equal ones have it: JSON, of the prompt its text.
    pub fn canonical(&self, part: Part) -> Cow<'b, [u8]> {
        let printed = |raw: Option<Raw<'b>>| raw.map_or(Cow::Borrowed(&b""[..]), Raw::printed);
        match part {
            Part::Config => {
                let mut text = printed(self.config).into_owned();
                for member in DEFAULTED {
                    if self.is_default(member) {
                        text.extend_from_slice(b"\n");
                        text.extend_from_slice(member.as_bytes());
                    }
                }
                Cow::Owned(text)
            }
            Part::System => Cow::Owned(self.system.text()),
            Part::Tools => printed(self.tools),
            Part::Prefix => printed(self.prefix),
        }
    }

    /// Whether a part is known to be the same by its bytes. False says nothing.
    pub fn is_same_bytes(&self, other: &Effective<'_>, part: Part) -> bool {
        let same = |a: Option<Raw<'_>>, b: Option<Raw<'_>>| match (a, b) {
            (None, None) => true,
            (Some(a), Some(b)) => a.bytes() == b.bytes(),
            _ => false,
        };
        match part {
            Part::Config => same(self.config, other.config) && same(self.defaults, other.defaults),
            Part::System => self.system.is_same(other.system),
            Part::Tools => same(self.tools, other.tools),
            Part::Prefix => same(self.prefix, other.prefix),
        }
    }

    /// A digest of a part's canonical form.
    pub fn digest(&self, part: Part) -> u128 {
        xxh3_128(&self.canonical(part))
    }

    /// How large its parts are. `system` is the prompt's text.
    pub fn size(&self, system: &[u8]) -> HeaderSize {
        let count = |raw: Option<Raw<'_>>| raw.map_or(0, |raw| raw.elements().count() as u64);
        let bytes = |raw: Option<Raw<'_>>| raw.map_or(0, |raw| raw.printed().len() as u64);
        HeaderSize {
            system: system.len() as u64,
            system_lines: count_lines(system) as u64,
            tools: count(self.tools),
            tools_bytes: bytes(self.tools),
            prefix: count(self.prefix),
            prefix_bytes: bytes(self.prefix),
        }
    }
}

/// Members of the config that an adapter fills in.
pub(super) const DEFAULTED: [&str; 2] = ["reasoningEffort", "maxTokens"];

/// Longest value, as it stands, that may be a placeholder.
const MOST_REDACTED: usize = 256;

/// Whether a text is a fixture's placeholder and nothing else, such as `{{system}}`.
fn is_placeholder(text: &[u8]) -> bool {
    text.starts_with(b"{{") && text.ends_with(b"}}") && text.len() < MOST_REDACTED / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw<'_> {
        Raw::parse(text.as_bytes()).expect("valid JSON")
    }

    #[test]
    fn empty_parts_are_absent_and_blocks_are_joined() {
        let header =
            Effective::of_snapshot(raw(r#"{"config":{"model":"m"},"system":"","tools":[]}"#));
        assert!(matches!(header.system, Prompt::None) && header.tools.is_none());
        let content =
            raw(r#"[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]"#);
        assert_eq!(header.with_surface_prompt(content).system.text(), b"ab");
    }

    #[test]
    fn the_same_text_is_the_same_wherever_it_stands() {
        let old = Effective::of_snapshot(raw(r#"{"system":"a\u0062"}"#));
        let new = Effective::default().with_surface_prompt(raw(r#"[{"type":"text","text":"ab"}]"#));
        assert_eq!(old.digest(Part::System), new.digest(Part::System));
        assert!(!old.is_same_bytes(&new, Part::System));
    }

    #[test]
    fn placeholders_are_redacted_and_prompts_with_braces_are_not() {
        let header = Effective::of_snapshot(raw(
            r#"{"system":"{{system}}","tools":["bash"],"messagePrefix":["{{messagePrefix}}"]}"#,
        ));
        for part in [Part::System, Part::Tools, Part::Prefix] {
            assert!(header.is_redacted(part));
        }
        let header = Effective::of_snapshot(raw(r#"{"system":"{{cwd}} is your directory"}"#));
        assert!(!header.is_redacted(Part::System));
    }
}
