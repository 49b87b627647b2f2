//! The committed figures: `instructions.toml`.

use std::collections::BTreeMap;
use std::process::Command;
use std::{env, fmt, fs};

use anyhow::{Context, Result};
use gmp_micro::rt::Flavor;
use serde::{Deserialize, Serialize};

use crate::callgrind::Counts;
use crate::subject::Subject;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.toml");

const HEAD: &str = "\
# What gmp's hot paths take, in instructions per operation: release profile, the compiler of rust-toolchain.toml.
# Checked by `cargo run --release -p gmp-micro`; written by the same with `--update`. README.md of benches says more.

";

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figures {
    /// The percentage by which a count may exceed its figure.
    pub(crate) margin_percent: u64,
    /// The machine on which the figures were counted. They are not valid on another one.
    pub(crate) machine: Machine,
    /// The figures by flavour and path.
    instructions: BTreeMap<Flavor, BTreeMap<String, u64>>,
}

impl Figures {
    pub(crate) fn read() -> Result<Figures> {
        toml::from_str(&fs::read_to_string(FILE).context(FILE)?).context(FILE)
    }

    fn text(&self) -> Result<String> {
        Ok(format!("{HEAD}{}", toml::to_string(self)?))
    }

    pub(crate) fn get(&self, subject: &Subject) -> Option<u64> {
        self.instructions.get(&subject.flavor)?.get(subject.path).copied()
    }

    /// Makes the counts of gmp the committed figures, and `here` their machine.
    pub(crate) fn replace(&mut self, counts: &Counts, here: &Machine) -> Result<()> {
        self.machine = here.clone();
        self.instructions = by_flavor(counts);
        fs::write(FILE, self.text()?).context(FILE)
    }

    /// The figures of paths that were not counted, as `flavour path`.
    pub(crate) fn left_over(&self, counts: &Counts) -> Vec<String> {
        let figures = self.instructions.iter().flat_map(|(flavor, paths)| paths.keys().map(move |path| (flavor, path)));
        let counted = |flavor, path| counts.keys().any(|it| it.is_gmp() && it.flavor == flavor && it.path == path);
        let left_over = figures.filter(|&(flavor, path)| !counted(*flavor, path));
        left_over.map(|(flavor, path)| format!("{} {path}", flavor.name())).collect()
    }
}

fn by_flavor(counts: &Counts) -> BTreeMap<Flavor, BTreeMap<String, u64>> {
    let mut figures: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for (subject, &count) in counts.iter().filter(|(subject, _)| subject.is_gmp()) {
        figures.entry(subject.flavor).or_default().insert(subject.path.to_owned(), count);
    }
    figures
}

/// The facts besides the sources that the counts depend on: the instruction set, and `malloc`, which
/// is a fifth of a spawn.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Machine {
    arch: String,
    /// Name and version.
    libc: String,
}

impl Machine {
    /// The machine that this program runs on.
    pub(crate) fn here() -> Self {
        Machine { arch: env::consts::ARCH.to_owned(), libc: libc().unwrap_or_else(|| "an unknown libc".to_owned()) }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {}", self.arch, self.libc)
    }
}

/// The version of the libc. Only glibc reports it, through a command that comes with it.
fn libc() -> Option<String> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !version.is_empty()).then_some(version)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Figures with a margin of 5 %.
    pub(crate) fn figures(counts: &Counts) -> Figures {
        let machine = Machine { arch: "x86_64".to_owned(), libc: "glibc 2.36".to_owned() };
        Figures { margin_percent: 5, machine, instructions: by_flavor(counts) }
    }

    #[test]
    fn the_committed_file_is_what_an_update_without_a_change_writes() {
        assert_eq!(fs::read_to_string(FILE).unwrap(), Figures::read().unwrap().text().unwrap());
    }
}
