//! The committed figures, `instructions.toml`, and what counts say beside them.

use std::collections::BTreeMap;
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result};
use gmp_micro::paths::TIMER_EXPIRY;
use gmp_micro::rt::Flavor;
use serde::{Deserialize, Serialize};

use crate::IS_TRACED;
use crate::callgrind::{Counts, Subject};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.toml");

const HEAD: &str = "\
# What gmp's hot paths take, in instructions per operation: release profile, the compiler of rust-toolchain.toml.
# Checked by `cargo run --release -p gmp-micro`; written by the same with `--update`. README.md of benches says more.

";

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figures {
    /// The percentage by which a count may exceed its figure.
    margin_percent: u64,
    /// The machine on which the figures were counted. They are not valid on another one.
    machine: Machine,
    instructions: BTreeMap<Flavor, BTreeMap<String, u64>>,
}

impl Figures {
    pub(crate) fn read() -> Result<Figures> {
        toml::from_str(&fs::read_to_string(FILE).context(FILE)?).context(FILE)
    }

    fn text(&self) -> Result<String> {
        Ok(format!("{HEAD}{}", toml::to_string(self)?))
    }

    fn get(&self, subject: &Subject) -> Option<u64> {
        self.instructions.get(&subject.flavor)?.get(subject.path).copied()
    }

    /// Makes the counts of gmp the committed figures, and this machine theirs.
    pub(crate) fn replace(&mut self, counts: &Counts) -> Result<()> {
        (self.machine, self.instructions) = (Machine::here(), by_flavor(counts));
        fs::write(FILE, self.text()?).context(FILE)
    }

    /// Prints the counts beside the figures, and tokio's if they were counted.
    pub(crate) fn print(&self, counts: &Counts) {
        println!(
            "{:<30}{:>8}{:>8}{:>9}{:>8}{:>7}",
            "instructions per operation", "gmp", "figure", "change", "tokio", "ratio"
        );
        for (subject, count) in counts {
            let (name, gmp, figure) = (subject.name(), count.gmp as f64, self.get(subject));
            let change = figure.map(|figure| format!("{:+.1} %", (gmp / figure as f64 - 1.0) * 100.0));
            let figure = figure.map(|figure| figure.to_string());
            print!("{name:<30}{gmp:>8}{:>8}{:>9}", figure.unwrap_or_default(), change.unwrap_or_default());
            if let Some(tokio) = count.tokio {
                print!("{tokio:>8}{:>7.2}", gmp / tokio as f64);
            }
            println!();
        }
    }

    /// Why nothing is checked: figures of another machine or another build are not valid here.
    pub(crate) fn why_unchecked(&self) -> Option<String> {
        let (here, there) = (Machine::here(), &self.machine);
        if IS_TRACED {
            return Some("nothing is checked: the figures are those without the feature `tracing`".to_owned());
        }
        let [this, that] = [&here, there].map(|it| format!("{} with {}", it.arch, it.libc));
        (*there != here).then(|| format!("nothing is checked: the figures are those of {that}, and this is {this}"))
    }

    /// Prints the faults on stderr. Returns whether the figures hold.
    pub(crate) fn judge(&self, counts: &Counts, is_everything: bool) -> bool {
        let judged = counts.iter().filter(|(subject, _)| subject.path != TIMER_EXPIRY);
        let verdicts = judged.map(|(subject, count)| (subject.name(), self.verdict(count.gmp, subject)));
        let no_path = || Err("instructions.toml has a figure of it, and there is no such path".to_owned());
        let left_over = self.left_over(counts).into_iter().filter(|_| is_everything).map(|name| (name, no_path()));
        let mut hold = true;
        for (name, verdict) in verdicts.chain(left_over) {
            hold &= verdict.is_ok();
            verdict.unwrap_or_else(Some).into_iter().for_each(|text| eprintln!("{name}: {text}"));
        }
        hold
    }

    /// What there is to say about a count; an error if it doesn't pass.
    fn verdict(&self, count: u64, subject: &Subject) -> Result<Option<String>, String> {
        let Some(figure) = self.get(subject) else {
            return Err(format!("{count} instructions, and no figure: take it over with --update"));
        };
        let margin = figure * self.margin_percent / 100;
        let most = figure + margin;
        if count > most {
            let allowed = format!("at most {most} are allowed; if that is what they are worth, use --update");
            return Err(format!("{count} instructions, {allowed}"));
        }
        let won = count < figure - margin;
        Ok(won.then(|| format!("{count} instructions, well below {figure}: keep what was won with --update")))
    }

    fn left_over(&self, counts: &Counts) -> Vec<String> {
        let counted: Vec<_> = counts.keys().map(Subject::name).collect();
        let name = |(flavor, path): (&Flavor, &String)| format!("{} {path}", flavor.name());
        let figures = self.instructions.iter().flat_map(|(flavor, paths)| paths.keys().map(move |path| (flavor, path)));
        figures.map(name).filter(|name| !counted.contains(name)).collect()
    }
}

fn by_flavor(counts: &Counts) -> BTreeMap<Flavor, BTreeMap<String, u64>> {
    let mut figures: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for (subject, count) in counts {
        figures.entry(subject.flavor).or_default().insert(subject.path.to_owned(), count.gmp);
    }
    figures
}

/// What the counts depend on besides the sources: instructions, and `malloc`, a fifth of a spawn.
#[derive(Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Machine {
    arch: String,
    libc: String,
}

impl Machine {
    /// Only glibc reports its version, through a command that comes with it.
    fn here() -> Self {
        let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok();
        let version = output.filter(|it| it.status.success()).and_then(|it| String::from_utf8(it.stdout).ok());
        let libc = version.filter(|it| !it.trim().is_empty()).unwrap_or_else(|| "an unknown libc".to_owned());
        Machine { arch: env::consts::ARCH.to_owned(), libc: libc.trim().to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callgrind::Count;

    fn counts<const N: usize>(counts: [(&str, u64); N]) -> Counts {
        let subject = |path| Subject::all().into_iter().rfind(|it| it.path == path).unwrap();
        counts.map(|(path, gmp)| (subject(path), Count { gmp, tokio: None })).into()
    }

    /// Figures with a margin of 5 %.
    fn figures(counts: &Counts) -> Figures {
        Figures { margin_percent: 5, machine: Machine::here(), instructions: by_flavor(counts) }
    }

    #[test]
    fn the_committed_file_is_what_an_update_without_a_change_writes() {
        assert_eq!(fs::read_to_string(FILE).unwrap(), Figures::read().unwrap().text().unwrap());
    }

    #[test]
    fn a_count_above_the_margin_fails_and_one_below_it_passes_and_both_are_reported() {
        let figures = figures(&counts([("spawn", 1000)]));
        for (path, count, passes, complaint) in [
            ("spawn", 950, true, ""),
            ("spawn", 1050, true, ""),
            ("spawn", 1051, false, "1051 instructions, at most 1050 are allowed"),
            ("spawn", 949, true, "949 instructions, well below 1000"),
            ("wake", 7, false, "7 instructions, and no figure"),
        ] {
            let counts = counts([(path, count)]);
            let verdict = figures.verdict(count, counts.first_key_value().unwrap().0);
            assert_eq!([verdict.is_ok(), figures.judge(&counts, false)], [passes; 2], "{count}");
            let said = verdict.unwrap_or_else(Some).unwrap_or_default();
            assert!(said.starts_with(complaint) && said.is_empty() == complaint.is_empty(), "{said}");
        }
    }

    #[test]
    fn a_figure_without_a_path_fails_unless_paths_were_left_out_and_real_time_is_not_judged() {
        let figures = figures(&counts([("spawn", 1000), ("wake", 7), (TIMER_EXPIRY, 3000)]));
        let mut counts = counts([("spawn", 1000), (TIMER_EXPIRY, 9000)]);
        assert_eq!(figures.left_over(&counts), ["one_worker wake"]);
        assert_eq!([true, false].map(|is_everything| figures.judge(&counts, is_everything)), [false, true]);
        counts.extend(self::counts([("wake", 7)]));
        assert!(figures.judge(&counts, true));
    }
}
