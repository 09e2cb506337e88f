//! Pieces of a response, in an event of their own or in a response's stream.
//!
//! **Takes** a chunk object or a stream. **Gives** [`Chunk`]s and [`Piece`]s. **Never** knows the pieces around one.
//!
//! Source: format reference, sections B.1 to B.3.

use super::Chunk;
use crate::line::Millis;
use crate::record::{DeltaKind, DeltaRun, Edge, Kind as JsonKind, Raw};

impl<'b> Chunk<'b> {
    /// Reads a chunk. What is malformed is [`Chunk::Other`]: the grammar of the stream reports it.
    pub fn read(raw: Raw<'b>) -> Chunk<'b> {
        try_read(raw).unwrap_or(Chunk::Other)
    }
}

fn try_read(raw: Raw<'_>) -> Option<Chunk<'_>> {
    let [kind, index, text] = raw.fields(["type", "index", "text"]);
    let kind = kind?.text()?;
    let index = whole(index);
    Some(match kind.bytes() {
        b"block-start" => Chunk::BlockStart {
            index,
            kind: raw.get("blockType"),
        },
        b"text-delta" => Chunk::Text {
            index,
            text: string(text)?,
        },
        b"reasoning-delta" => Chunk::Reasoning {
            index,
            text: string(text)?,
        },
        b"tool-call-delta" => {
            let [id, name, arguments] = raw.fields(["id", "name", "argumentsDelta"]);
            Chunk::ToolCall {
                index,
                id: string(id)?,
                name: string(name),
                arguments: string(arguments)?,
            }
        }
        b"block-end" => Chunk::BlockEnd {
            index,
            block: raw.get("block")?,
        },
        b"usage" => Chunk::Usage(raw.get("usage")?),
        b"finish" => {
            let [reason, replay] = raw.fields(["reason", "replayState"]);
            Chunk::Finish { reason, replay }
        }
        _ => return None,
    })
}

fn string(raw: Option<Raw<'_>>) -> Option<Raw<'_>> {
    raw.filter(|raw| raw.kind() == JsonKind::String)
}

fn whole(raw: Option<Raw<'_>>) -> Option<u64> {
    raw.and_then(Raw::safe_int)
        .and_then(|n| u64::try_from(n).ok())
}

/// The chunks of a response, inside its event (version 2 and later).
#[derive(Clone, Copy, Debug)]
pub struct Stream<'b> {
    /// The array as it stands.
    pub raw: Raw<'b>,
}

/// One record of a stream.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'b> {
    /// A chunk.
    Chunk(Millis, Chunk<'b>),
    /// A packed run of deltas.
    Run(DeltaRun<'b>),
    /// No record of a stream.
    Malformed(Raw<'b>),
}

impl<'b> Stream<'b> {
    /// Its records, in order.
    pub fn pieces(self) -> impl Iterator<Item = Piece<'b>> {
        self.raw
            .elements()
            .map(|raw| piece(raw).unwrap_or(Piece::Malformed(raw)))
    }
}

fn piece(raw: Raw<'_>) -> Option<Piece<'_>> {
    if let Some((time, index, edge)) = raw.edge() {
        let index = Some(index);
        let chunk = match edge {
            Edge::Start(kind) => Chunk::BlockStart {
                index,
                kind: Some(kind),
            },
            Edge::End(block) => Chunk::BlockEnd { index, block },
        };
        return Some(Piece::Chunk(Millis(time.cast_signed()), chunk));
    }
    let kind = raw.get("type")?;
    let run = |kind| DeltaRun::parse(kind, raw).ok().map(Piece::Run);
    match kind.text()?.bytes() {
        b"chunk" => {
            let time = Millis(raw.get("time")?.safe_int()?);
            Some(Piece::Chunk(time, Chunk::read(raw.get("chunk")?)))
        }
        b"text-chunks" => run(DeltaKind::Text),
        b"reasoning-chunks" => run(DeltaKind::Reasoning),
        b"tool-call-chunks" => run(DeltaKind::ToolCall),
        _ => None,
    }
}
