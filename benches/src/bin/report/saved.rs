//! The saved results, as the programs left them.
//!
//! A missing file is a part that was not measured, which is no error. A line that can't be read is
//! an error: a report that silently lacks rows would look as if they had never been promised.

use std::path::Path;
use std::{fs, io};

use anyhow::{Context, Result};
use gmp_benches::report::{Line, MEAN, Minute, Mix, Ticker};
use gmp_benches::sysmon_cost::Sysmon;
use serde::de::DeserializeOwned;

use crate::about::About;
use crate::part::{MIX, PROCS, Part};
use crate::run::about_path;

/// All data of a report.
#[derive(Debug, Default)]
pub(crate) struct Saved {
    pub(crate) table: Vec<Line>,
    /// The scheduler's rows, once for each number of Ps.
    pub(crate) procs: Vec<Line>,
    pub(crate) mix: Vec<Mix>,
    pub(crate) ticker: Vec<Ticker>,
    pub(crate) sysmon: Vec<Sysmon>,
    pub(crate) minutes: Vec<Minute>,
    /// How each part was measured, if that was recorded.
    pub(crate) about: Vec<(Part, About)>,
}

impl Saved {
    /// How `part` was measured.
    pub(crate) fn about_of(&self, part: Part) -> Option<&About> {
        self.about.iter().find(|(of, _)| *of == part).map(|(_, about)| about)
    }
}

/// Reads the results in `dir`.
pub(crate) fn read(dir: &Path) -> Result<Saved> {
    let procs = PROCS.into_iter().map(|procs| rows(&dir.join(format!("procs-{procs}.jsonl"))));
    let mut about = Vec::new();
    for part in Part::ALL {
        about.extend(whole(&about_path(dir, part))?.map(|it| (part, it)));
    }
    Ok(Saved {
        table: rows(&dir.join("table.jsonl"))?,
        procs: procs.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect(),
        mix: all_lines(dir, &MIX)?,
        ticker: lines(&dir.join("ticker.jsonl"))?,
        sysmon: lines(&dir.join("sysmon.jsonl"))?,
        minutes: lines(&dir.join("minutes.jsonl"))?,
        about,
    })
}

/// Without the geometric mean, which the report computes from the rows.
fn rows(path: &Path) -> Result<Vec<Line>> {
    let mut rows: Vec<Line> = lines(path)?;
    rows.retain(|row| row.workload != MEAN);
    Ok(rows)
}

fn all_lines<T: DeserializeOwned>(dir: &Path, files: &[&str]) -> Result<Vec<T>> {
    let files = files.iter().map(|file| lines(&dir.join(file)));
    Ok(files.collect::<Result<Vec<Vec<T>>>>()?.into_iter().flatten().collect())
}

fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = text(path)?.unwrap_or_default();
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let parse =
        |(index, line)| serde_json::from_str(line).with_context(|| format!("{}, line {}", path.display(), index + 1));
    lines.map(parse).collect()
}

fn whole<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let parse = |text: String| serde_json::from_str(&text).with_context(|| path.display().to_string());
    text(path)?.map(parse).transpose()
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

    const ROW: &str = r#"{"workload":"w","unit":"ns/op","gmp":null,"tokio":2.0,"ratio":null,"reps":3,"procs":2}"#;

    #[test]
    fn what_is_missing_was_not_measured() {
        let saved = read(tempfile::tempdir().unwrap().path()).unwrap();
        assert!(saved.table.is_empty() && saved.mix.is_empty() && saved.about.is_empty());
    }

    #[test]
    fn a_median_that_is_null_is_not_a_number_and_a_missing_side_is_none() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("procs-8.jsonl"), format!("{ROW}\n\n{ROW}\n")).unwrap();
        let saved = read(dir.path()).unwrap();
        assert_eq!(saved.procs.len(), 2);
        assert!(saved.procs[0].gmp.is_nan() && saved.procs[0].go.is_none());
    }

    #[test]
    fn the_mean_of_the_rows_is_no_row() {
        let dir = tempfile::tempdir().unwrap();
        let mean = ROW.replace("\"w\"", "\"geometric_mean\"");
        fs::write(dir.path().join("table.jsonl"), format!("{ROW}\n{mean}\n")).unwrap();
        assert_eq!(read(dir.path()).unwrap().table.len(), 1);
    }

    #[test]
    fn a_line_that_is_cut_off_is_named() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("table.jsonl"), format!("{ROW}\n{}", &ROW[..30])).unwrap();
        let error = read(dir.path()).unwrap_err();
        let error = format!("{error:#}");
        assert!(error.contains("table.jsonl, line 2: "), "{error}");
    }

    #[test]
    fn a_side_that_nobody_knows_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let line = r#"{"side":"glommio","minute":1,"rate":1,"p50":1,"p99":1,"rss":1,"threads":1}"#;
        fs::write(dir.path().join("minutes.jsonl"), line).unwrap();
        assert!(format!("{:#}", read(dir.path()).unwrap_err()).contains("`glommio`"));
    }
}
