//! Reads TOML by asking for what is known, so that what is left is known to be unknown.
//!
//! **Takes** a document. **Gives** values with the place they stand at, and messages that begin with the line
//! (`4: unknown key …`). **Never** leaves a key unread: [`Table::finish`] refuses it and says what was probably meant.

use std::fmt::Display;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};
use toml::value::Datetime;

/// A place in the document.
pub(super) type Spot = Range<usize>;

/// A document.
pub(super) struct Reader<'t> {
    text: &'t str,
}

/// A table of it that is being read.
pub(super) struct Table<'r, 't> {
    reader: &'r Reader<'t>,
    known: Vec<&'static str>,
    left: DeTable<'t>,
    spot: Spot,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Reader<'t> {
        Reader { text }
    }

    /// The document's top table.
    pub(super) fn top(&self) -> Result<Table<'_, 't>, String> {
        let table = DeTable::parse(self.text).map_err(|error| {
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            self.wrong(error.span().unwrap_or_default(), message)
        })?;
        let spot = table.span();
        Ok(self.table_of(table.into_inner(), spot))
    }

    fn table_of(&self, left: DeTable<'t>, spot: Spot) -> Table<'_, 't> {
        Table {
            reader: self,
            known: Vec::new(),
            left,
            spot,
        }
    }

    /// A message about a place: `4: expected a string`.
    pub(super) fn wrong(&self, spot: Spot, message: impl Display) -> String {
        let before = self.text.get(..spot.start).unwrap_or(self.text);
        format!("{}: {message}", before.matches('\n').count() + 1)
    }

    /// A message about a word that is not known, with the known one that is most like it.
    pub(super) fn unknown<'k>(
        &self,
        spot: Spot,
        noun: &str,
        word: &str,
        known: impl IntoIterator<Item = &'k str>,
    ) -> String {
        let hint = super::suggest::closest(word, known).map_or(String::new(), |closest| {
            format!("; did you mean `{closest}`?")
        });
        self.wrong(spot, format_args!("unknown {noun} `{word}`{hint}"))
    }
}

impl<'r, 't> Table<'r, 't> {
    /// Where the table stands.
    pub(super) fn spot(&self) -> Spot {
        self.spot.clone()
    }

    /// Its keys, each with its place.
    pub(super) fn keys(&self) -> Vec<(String, Spot)> {
        self.left
            .keys()
            .map(|key| (key.get_ref().to_string(), key.span()))
            .collect()
    }

    fn take(&mut self, key: &'static str) -> Option<Spanned<DeValue<'t>>> {
        self.known.push(key);
        let found = self
            .left
            .keys()
            .find(|known| known.get_ref().as_ref() == key)?
            .clone();
        self.left.remove(&found)
    }

    /// A string.
    pub(super) fn text(&mut self, key: &'static str) -> Result<Option<(String, Spot)>, String> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        string_of(self.reader, &value).map(Some)
    }

    /// The string behind a key that [`Table::keys`] gave.
    pub(super) fn word(&self, key: &str) -> Result<(String, Spot), String> {
        let value = self
            .left
            .iter()
            .find(|(known, _)| known.get_ref().as_ref() == key);
        match value {
            Some((_, value)) => string_of(self.reader, value),
            None => Err(self
                .reader
                .wrong(self.spot(), format_args!("expected `{key}`"))),
        }
    }

    /// A list of strings.
    pub(super) fn texts(
        &mut self,
        key: &'static str,
    ) -> Result<Option<Vec<(String, Spot)>>, String> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let spot = value.span();
        match value.into_inner() {
            DeValue::Array(list) => {
                let strings = list.iter().map(|value| string_of(self.reader, value));
                strings.collect::<Result<_, _>>().map(Some)
            }
            _ => Err(self.reader.wrong(spot, "expected a list of strings")),
        }
    }

    /// A whole number, not negative.
    pub(super) fn number(&mut self, key: &'static str) -> Result<Option<u64>, String> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let number = match value.get_ref() {
            DeValue::Integer(digits) => u64::from_str_radix(digits.as_str(), digits.radix()).ok(),
            _ => None,
        };
        let wrong = || {
            self.reader
                .wrong(value.span(), "expected a whole number, not negative")
        };
        number.map(Some).ok_or_else(wrong)
    }

    /// A number from 0 to 1.
    pub(super) fn share(&mut self, key: &'static str) -> Result<Option<f64>, String> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let number = match value.get_ref() {
            DeValue::Float(digits) => digits.as_str().parse::<f64>().ok(),
            DeValue::Integer(digits) => digits.as_str().parse::<f64>().ok(),
            _ => None,
        };
        let wrong = || {
            self.reader
                .wrong(value.span(), "expected a number from 0 to 1")
        };
        number
            .filter(|number| (0.0..=1.0).contains(number))
            .map(Some)
            .ok_or_else(wrong)
    }

    /// `true` or `false`.
    pub(super) fn truth(&mut self, key: &'static str) -> Result<Option<bool>, String> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        match value.get_ref() {
            DeValue::Boolean(truth) => Ok(Some(*truth)),
            _ => Err(self.reader.wrong(value.span(), "expected true or false")),
        }
    }

    /// A number that is not negative, with its decimals as they stand.
    pub(super) fn decimal(&mut self, key: &'static str) -> Result<Option<(String, Spot)>, String> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let spot = value.span();
        let digits = match value.get_ref() {
            DeValue::Float(digits) => digits.as_str(),
            DeValue::Integer(digits) if digits.radix() == 10 => digits.as_str(),
            _ => "",
        };
        let is_plain = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
        match is_plain {
            true => Ok(Some((digits.to_string(), spot))),
            false => Err(self.reader.wrong(spot, "expected a number like 0.0028")),
        }
    }

    /// A date, or a date with a time.
    pub(super) fn time(&mut self, key: &'static str) -> Result<Option<(Datetime, Spot)>, String> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        match value.get_ref() {
            DeValue::Datetime(time) => Ok(Some((*time, value.span()))),
            _ => {
                let example = "expected a time like 2026-08-16T16:00:00Z";
                Err(self.reader.wrong(value.span(), example))
            }
        }
    }

    /// A table inside this one.
    pub(super) fn table(&mut self, key: &'static str) -> Result<Option<Table<'r, 't>>, String> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let spot = value.span();
        match value.into_inner() {
            DeValue::Table(table) => Ok(Some(self.reader.table_of(table, spot))),
            _ => Err(self
                .reader
                .wrong(spot, format_args!("expected a table, [{key}]"))),
        }
    }

    /// A list of tables inside this one.
    pub(super) fn tables(&mut self, key: &'static str) -> Result<Vec<Table<'r, 't>>, String> {
        let Some(value) = self.take(key) else {
            return Ok(Vec::new());
        };
        let spot = value.span();
        let wrong = |spot| {
            self.reader
                .wrong(spot, format_args!("expected tables, [[{key}]]"))
        };
        let DeValue::Array(list) = value.into_inner() else {
            return Err(wrong(spot));
        };
        let tables = list.into_iter().map(|value| {
            let spot = value.span();
            match value.into_inner() {
                DeValue::Table(table) => Ok(self.reader.table_of(table, spot)),
                _ => Err(wrong(spot)),
            }
        });
        tables.collect()
    }

    /// Ends the reading of the table.
    ///
    /// # Errors
    ///
    /// A key was never asked for.
    pub(super) fn finish(self) -> Result<(), String> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(key) => Err(self
                .reader
                .unknown(key.span(), "key", key.get_ref(), self.known)),
        }
    }
}

fn string_of(reader: &Reader<'_>, value: &Spanned<DeValue<'_>>) -> Result<(String, Spot), String> {
    match value.get_ref() {
        DeValue::String(text) => Ok((DeString::to_string(text), value.span())),
        _ => Err(reader.wrong(value.span(), "expected a string")),
    }
}
