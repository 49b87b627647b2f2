//! A subject of counting: one path, on one library and flavour.

use std::fmt;
use std::path::PathBuf;

use gmp_micro::paths::{self, Path};
use gmp_micro::rt::{Counted, Flavor, Gmp, Rt, Tokio};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Subject {
    pub(crate) library: &'static str,
    pub(crate) flavor: Flavor,
    pub(crate) path: &'static str,
}

impl Subject {
    /// All subjects, gmp's first.
    pub(crate) fn all() -> Vec<Subject> {
        [of::<Gmp>(), of::<Tokio>()].concat()
    }

    /// The subject with these names.
    pub(crate) fn named(library: &str, flavor: &str, path: &str) -> Option<Subject> {
        let is_named = |it: &Subject| it.library == library && it.flavor.name() == flavor && it.path == path;
        Subject::all().into_iter().find(is_named)
    }

    pub(crate) fn is_gmp(&self) -> bool {
        self.library == Gmp::NAME
    }

    /// The same path on the other library.
    pub(crate) fn on_tokio(self) -> Subject {
        Subject { library: Tokio::NAME, ..self }
    }

    /// Runs the path in this process.
    pub(crate) fn run(&self, operations: usize) {
        if self.is_gmp() { run::<Gmp>(self, operations) } else { run::<Tokio>(self, operations) }
    }

    /// The subject's arguments of `--run`.
    pub(crate) fn arguments(&self) -> [&'static str; 3] {
        [self.library, self.flavor.name(), self.path]
    }

    pub(crate) fn file_name(&self) -> PathBuf {
        format!("callgrind.{}", self.arguments().join(".")).into()
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.arguments().join(" "))
    }
}

fn of<L: Counted>() -> Vec<Subject> {
    let on =
        |path: Path<L>| path.flavors.iter().map(move |&flavor| Subject { library: L::NAME, flavor, path: path.name });
    paths::all::<L>().into_iter().flat_map(on).collect()
}

fn run<L: Counted>(subject: &Subject, operations: usize) {
    let paths = paths::all::<L>();
    let path = paths.iter().find(|path| path.name == subject.path).expect("a subject is made of a path");
    path.run(&L::start(subject.flavor), operations);
}
