//! What the report says, as numbers.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use gmp_exec::trace::Snapshot;

use crate::support::succeeds;

pub(super) struct Told {
    pub(super) text: String,
}

/// A row of the busiest places. Times are in seconds.
#[derive(Debug)]
pub(super) struct Row {
    /// `None`: not known.
    pub(super) share: Option<f64>,
    pub(super) with_processor: f64,
    pub(super) without: f64,
    pub(super) asleep: f64,
    pub(super) polls: u64,
    pub(super) longest: f64,
    place: String,
}

pub(super) fn command(files: &[impl AsRef<Path>]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-gmp"));
    command.args(["gmp", "trace"]).args(files.iter().map(AsRef::as_ref));
    command
}

pub(super) fn tell(files: &[impl AsRef<Path>]) -> Told {
    Told { text: succeeds(&mut command(files)) }
}

impl Told {
    pub(super) fn of(snapshot: &Snapshot) -> Told {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.pftrace");
        snapshot.write_perfetto(File::create(&path).unwrap()).unwrap();
        tell(&[path])
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Row> {
        let rows = self.text.lines().skip_while(|line| !line.starts_with("busiest places")).skip(1);
        rows.take_while(|line| !line.is_empty()).map(row)
    }

    /// That of the only place that ends like this.
    pub(super) fn row(&self, place: &str) -> Row {
        let mut rows = self.rows().filter(|row| row.place.ends_with(place));
        let row = rows.next().unwrap_or_else(|| panic!("no {place}: {}", self.text));
        assert!(rows.next().is_none(), "{}", self.text);
        row
    }

    /// The share of all places in this file, in percent.
    pub(super) fn share_of(&self, file: &str) -> f64 {
        self.rows().filter(|row| row.place.contains(file)).filter_map(|row| row.share).sum()
    }

    /// Of the whole recording.
    pub(super) fn length(&self) -> f64 {
        seconds(self.text.lines().next().unwrap())
    }

    /// 0 if the report has no such words.
    pub(super) fn time_after(&self, words: &str) -> f64 {
        self.text.split_once(words).map_or(0.0, |(_, rest)| seconds(rest))
    }

    /// The time in brackets after such words, or 0.
    pub(super) fn time_in(&self, words: &str) -> f64 {
        let line = self.text.split_once(words).map(|(_, rest)| rest);
        line.map_or(0.0, |rest| seconds(rest.split_once('(').unwrap().1))
    }

    /// The share after such words, or 0.
    pub(super) fn percent_after(&self, words: &str) -> f64 {
        self.text.split_once(words).map_or(0.0, |(_, rest)| rest.split_once(" %").unwrap().0.parse().unwrap())
    }
}

fn row(line: &str) -> Row {
    let share = line.split_whitespace().next().unwrap().trim_start_matches('≤').parse().ok();
    let rest = line.trim_start().trim_start_matches(|c: char| !c.is_whitespace()).trim_start();
    let mut words = rest.strip_prefix('%').unwrap_or(rest).split_whitespace();
    let mut time = || format!("{} {}", words.next().unwrap(), words.next().unwrap());
    let [with_processor, without, asleep] = [time(), time(), time()].map(|time| seconds(&time));
    let polls = words.next().unwrap().parse().unwrap();
    let longest = seconds(&format!("{} {}", words.next().unwrap(), words.next().unwrap()));
    Row { share, with_processor, without, asleep, polls, longest, place: words.collect::<Vec<_>>().join(" ") }
}

/// Of a number and its unit, at the beginning.
fn seconds(text: &str) -> f64 {
    let mut words = text.split([' ', ')', ',', ':', '\n']);
    let (number, unit) = (words.next().unwrap(), words.next().unwrap());
    let unit = match unit {
        "s" => 1.0,
        "ms" => 1e-3,
        "µs" => 1e-6,
        "ns" => 1e-9,
        _ => return 0.0,
    };
    number.parse::<f64>().unwrap() * unit
}
