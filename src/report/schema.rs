//! The JSON Schemas of what this program prints, and of captured requests, which it reads.
//!
//! **Takes** a name. **Gives** the schema's text. **Never** makes one up: they are files, and tests validate outputs
//! against them.

/// Every schema: its name, as in `dsh-audit schema verify`, and its text.
pub(crate) const SCHEMAS: &[(&str, &str)] = &[
    ("cache-report", include_str!("schemas/cache-report.json")),
    (
        "cache-report-row",
        include_str!("schemas/cache-report-row.json"),
    ),
    ("captured", include_str!("schemas/captured.json")),
    ("diff-headers", include_str!("schemas/diff-headers.json")),
    ("formats", include_str!("schemas/formats.json")),
    ("reconstruct", include_str!("schemas/reconstruct.json")),
    ("rules", include_str!("schemas/rules.json")),
    ("verify", include_str!("schemas/verify.json")),
    ("verify-file", include_str!("schemas/verify-file.json")),
];

/// The schema of that name.
pub(crate) fn find(name: &str) -> Option<&'static str> {
    SCHEMAS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}
