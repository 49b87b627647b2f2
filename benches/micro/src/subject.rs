//! A subject of counting: one path on one flavour.

use std::fmt;

use gmp_micro::paths::{self, Path};
use gmp_micro::rt::{Flavor, Gmp, Twin};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Subject {
    pub(crate) flavor: Flavor,
    pub(crate) path: &'static str,
}

impl Subject {
    pub(crate) fn all() -> Vec<Subject> {
        let on = |path: Path<Gmp>| path.flavors.iter().map(move |&flavor| Subject { flavor, path: path.name });
        paths::all::<Gmp>().into_iter().flat_map(on).collect()
    }

    pub(crate) fn run_on<L: Twin>(&self, operations: usize) {
        let path = paths::all::<L>().into_iter().find(|path| path.name == self.path);
        path.expect("a subject is made of a path").run(&L::start(self.flavor), operations);
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.flavor.name(), self.path)
    }
}
