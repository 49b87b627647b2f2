//! The saved results, as the programs left them.
//!
//! A missing file is a part that was not measured, which is no error. A line that can't be read is
//! an error: a report that silently lacks rows would look as if they had never been promised.

use std::path::Path;
use std::{fs, io};

use anyhow::{Context, Result};
use clap::ValueEnum;
use gmp_benches::report::{Bar, Line, MEAN, Mix, Ticker};
use serde::de::DeserializeOwned;

use crate::about::About;
use crate::part::Part;

#[derive(Debug, Default)]
pub(crate) struct Saved {
    pub(crate) table: Vec<Line>,
    /// The scheduler's rows, once for each number of Ps.
    pub(crate) procs: Vec<Line>,
    pub(crate) mix: Vec<Mix>,
    pub(crate) ticker: Vec<Ticker>,
    pub(crate) stall: Vec<Bar>,
    pub(crate) texts: Vec<(Part, String)>,
    /// How each part was measured, if that was recorded.
    pub(crate) about: Vec<(Part, About)>,
}

impl Saved {
    pub(crate) fn about_of(&self, part: Part) -> Option<&About> {
        self.about.iter().find(|(of, _)| *of == part).map(|(_, about)| about)
    }
}

pub(crate) fn read(dir: &Path) -> Result<Saved> {
    let mut saved = Saved {
        table: values(dir, Part::Table, "jsonl")?,
        procs: values(dir, Part::Procs, "jsonl")?,
        mix: values(dir, Part::Mix, "jsonl")?,
        ticker: values(dir, Part::Ticker, "jsonl")?,
        stall: values(dir, Part::Stall, "jsonl")?,
        ..Saved::default()
    };
    for &part in Part::value_variants() {
        saved.texts.extend(text(&dir.join(part.file("txt")))?.map(|text| (part, text)));
        saved.about.extend(values(dir, part, "about.json")?.into_iter().map(|about| (part, about)));
    }
    // The report computes the geometric mean from the rows.
    for rows in [&mut saved.table, &mut saved.procs] {
        rows.retain(|row| row.workload != MEAN);
    }
    Ok(saved)
}

fn values<T: DeserializeOwned>(dir: &Path, part: Part, kind: &str) -> Result<Vec<T>> {
    let path = dir.join(part.file(kind));
    let text = text(&path)?.unwrap_or_default();
    let values = serde_json::Deserializer::from_str(&text).into_iter();
    values.collect::<Result<_, _>>().with_context(|| path.display().to_string())
}

fn text(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        text => text.map(Some).with_context(|| format!("cannot read {}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = r#"{"workload":"w","unit":"ns/op","gmp":null,"tokio":2.0,"ratio":null,"reps":3,"procs":2,"samples":{"gmp":[],"tokio":[2.0]}}"#;

    /// Reads a directory with this file.
    fn saved(file: &str, text: &str) -> Result<Saved, String> {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(file), text).unwrap();
        read(dir.path()).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn null_is_not_a_number_and_a_line_that_is_cut_off_is_named() {
        let saved_procs = saved("procs.jsonl", &format!("{ROW}\n\n{ROW}\n")).unwrap().procs;
        assert!(
            saved_procs.len() == 2 && saved_procs[0].gmp.is_nan() && saved_procs[0].go.is_none(),
            "{saved_procs:?}"
        );
        let error = saved("table.jsonl", &format!("{ROW}\n{}", &ROW[..30])).unwrap_err();
        assert!(error.contains("table.jsonl: ") && error.contains("at line 2"), "{error}");
    }
}
