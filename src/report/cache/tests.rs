//! What holds for all formats of cache reports.
//!
//! **Takes** the sample. **Gives** failures. **Never** looks at one format's wording.

use std::collections::BTreeSet;

use unicode_width::UnicodeWidthStr;

use super::super::safe::is_hostile;
use super::super::sample::{HOSTILE, look};
use super::super::tests::{faults, strict};
use super::super::{Excerpts, Look, Paint, schema};
use super::{CacheFormat, ExplainWindow, OnlyBusts, Parts, sample, write_cache};
use crate::analyse::answer::Grouping;

const FORMATS: [CacheFormat; 5] = [
    CacheFormat::Human,
    CacheFormat::Json,
    CacheFormat::Jsonl,
    CacheFormat::Html,
    CacheFormat::Markdown,
];

/// Everything a report can hold, and only busts.
fn all_parts() -> Vec<Parts> {
    let groupings = [
        None,
        Some(Grouping::Session),
        Some(Grouping::Model),
        Some(Grouping::Cause),
        Some(Grouping::Day),
    ];
    let mut parts = Vec::new();
    for by in groupings {
        for only in [None, Some(OnlyBusts)] {
            let window = Some(ExplainWindow);
            parts.push(Parts { by, only, window });
        }
    }
    parts
}

fn printed(format: CacheFormat, parts: Parts, look: Look, hostile: &str) -> String {
    let files = sample::files(hostile);
    let mut out = Vec::new();
    write_cache(&sample::run(&files, parts), format, look, &mut out).expect("a vector takes all");
    String::from_utf8(out).expect("every format is text")
}

#[test]
fn no_format_prints_a_hostile_character() {
    for format in FORMATS {
        for parts in all_parts() {
            let text = printed(format, parts, look(), HOSTILE);
            let hostile: BTreeSet<char> = text
                .chars()
                .filter(|c| is_hostile(*c) && *c != '\n')
                .collect();
            assert!(hostile.is_empty(), "{format:?}: {hostile:?}");
        }
    }
}

#[test]
fn human_text_fits_its_columns() {
    for width in [60, 80, 100, 200] {
        for hostile in ["", "漢字", HOSTILE] {
            for parts in all_parts() {
                let look = Look { width, ..look() };
                let text = printed(CacheFormat::Human, parts, look, hostile);
                // A path is shown whole, and so is a word that is longer than a line.
                let is_long = |line: &&str| line.split(' ').any(|word| word.width() > 40);
                let lines = text.lines().filter(|line| !line.contains("logs/"));
                for line in lines.filter(|line| !is_long(line)) {
                    assert!(line.width() <= width, "{width}: {} {line}", line.width());
                }
            }
        }
    }
}

#[test]
fn json_is_what_its_schemas_say() {
    let run = strict(schema::find("cache-report").expect("known"));
    let row = strict(schema::find("cache-report-row").expect("known"));
    for parts in all_parts() {
        let json = printed(CacheFormat::Json, parts, look(), HOSTILE);
        assert_eq!(faults(&run, &json), Vec::<String>::new());
    }
    let jsonl = printed(CacheFormat::Jsonl, Parts::default(), look(), HOSTILE);
    for line in jsonl.lines() {
        assert_eq!(faults(&row, line), Vec::<String>::new());
    }
}

#[test]
fn rows_of_both_forms_are_the_same_and_have_the_same_columns() {
    let json = printed(CacheFormat::Json, Parts::default(), look(), "");
    let jsonl = printed(CacheFormat::Jsonl, Parts::default(), look(), "");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let mut inside = Vec::new();
    for log in json["logs"].as_array().expect("logs") {
        inside.extend(log["rows"].as_array().expect("rows").clone());
    }
    let lines: Vec<serde_json::Value> = jsonl
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines, inside);
    let columns = |row: &serde_json::Value| -> Vec<String> {
        row.as_object().expect("a row").keys().cloned().collect()
    };
    let schema: serde_json::Value =
        serde_json::from_str(schema::find("cache-report-row").expect("known")).expect("JSON");
    for line in &lines {
        assert_eq!(columns(line), columns(&schema["properties"]));
    }
}

#[test]
fn hidden_excerpts_are_hidden_everywhere() {
    let hidden = Look {
        excerpt: Excerpts::Hidden,
        ..look()
    };
    for format in FORMATS {
        let shown = printed(format, Parts::default(), look(), "");
        assert!(shown.contains("14:02"), "{format:?} shows none");
        let text = printed(format, Parts::default(), hidden, "");
        assert!(!text.contains("14:02"), "{format:?}");
    }
}

#[test]
fn every_report_ends_with_what_a_log_cannot_show() {
    for format in [CacheFormat::Human, CacheFormat::Html, CacheFormat::Markdown] {
        let text = printed(format, Parts::default(), look(), "");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let at = text.find("What a log cannot show:").expect("it is said");
        assert!(
            text.split_at(at)
                .1
                .contains("gateways that rotate accounts")
        );
        assert!(text.len() - at < 1200, "{format:?}");
    }
}

/// The texts between `>` and `<` of the cells of the page's tables, row by row.
fn cells(page: &str) -> Vec<Vec<String>> {
    let rows = page.split("<tr").skip(1);
    rows.map(|row| {
        let row = row.split("</tr>").next().unwrap_or_default();
        let cells = row.split("<td").skip(1);
        cells
            .map(|cell| {
                let text = cell.split_once('>').map_or("", |(_, text)| text);
                text.split("</td>").next().unwrap_or_default().to_string()
            })
            .collect()
    })
    .collect()
}

#[test]
fn the_numbers_of_the_page_are_those_of_the_json() {
    let json = printed(CacheFormat::Json, Parts::default(), look(), "");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let page = printed(CacheFormat::Html, Parts::default(), look(), "");
    let exact = |value: &serde_json::Value| {
        value
            .as_u64()
            .map_or("–".to_string(), super::super::words::grouped)
    };
    let shown = cells(&page);
    let (mut rows, mut busts) = (0, 0);
    for log in json["logs"].as_array().expect("logs") {
        for row in log["rows"].as_array().expect("rows") {
            if row["kind"] != "request" {
                continue;
            }
            rows += 1;
            busts += usize::from(!row["certainty"].is_null());
            let expected = [&row["prompt"], &row["hit"], &row["output"], &row["lost"]].map(exact);
            let verdict = row["verdict"].as_str().expect("a verdict");
            let found = shown.iter().any(|cells| match &cells[..] {
                [_, prompt, hit, _, output, lost, word, _] => {
                    [prompt, hit, output, lost].into_iter().eq(expected.iter()) && word == verdict
                }
                _ => false,
            });
            assert!(found, "{row}");
        }
    }
    let of_requests = shown.iter().filter(|cells| cells.len() == 8).count();
    assert_eq!(of_requests, rows);
    assert_eq!(page.matches("<li id=\"l").count(), busts);
    for name in ["prompt", "hit", "output", "lost"] {
        let value = json["totals"][name].as_u64().expect("a sum");
        let tag = format!("<data class=\"{name}\" value=\"{value}\"");
        assert!(page.contains(&tag), "{tag}");
    }
}

#[test]
fn the_page_loads_nothing_and_runs_nothing() {
    let page = printed(CacheFormat::Html, Parts::default(), look(), HOSTILE);
    let lower = page.to_lowercase();
    for word in [
        "<script",
        "javascript:",
        "onload=",
        "src=",
        "@import",
        "url(",
        " style=",
    ] {
        let found = lower.matches(word).count();
        // The attack itself is text in it, escaped.
        let escaped = lower.matches("&lt;img src=x").count();
        let allowed = if word == "src=" { escaped } else { 0 };
        assert_eq!(found, allowed, "{word}");
    }
    assert!(!lower.contains("<img"));
    assert!(lower.contains("default-src 'none'"));
}

/// Prints the sample as a person would see it: `cargo test --lib look_at_caches -- --ignored --nocapture`.
#[test]
#[ignore = "for the eye"]
fn look_at_caches() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let look = Look {
        paint: if std::env::var_os("PLAIN").is_some() {
            Paint::Plain
        } else {
            Paint::Colour
        },
        width: number("COLUMNS").unwrap_or(80),
        ..look()
    };
    let hostile = if std::env::var_os("HOSTILE").is_some() {
        HOSTILE
    } else {
        ""
    };
    let parts = Parts {
        by: match std::env::var("BY").as_deref() {
            Ok("cause") => Some(Grouping::Cause),
            Ok("day") => Some(Grouping::Day),
            Ok("model") => Some(Grouping::Model),
            Ok("session") => Some(Grouping::Session),
            _ => None,
        },
        only: std::env::var_os("BUSTS").map(|_| OnlyBusts),
        window: Some(ExplainWindow),
    };
    let format = match std::env::var("FORMAT").as_deref() {
        Ok("json") => CacheFormat::Json,
        Ok("jsonl") => CacheFormat::Jsonl,
        Ok("html") => CacheFormat::Html,
        Ok("markdown") => CacheFormat::Markdown,
        _ => CacheFormat::Human,
    };
    println!("{}", printed(format, parts, look, hostile));
}
