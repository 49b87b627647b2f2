//! A subject of counting: one path, on one library and flavour.

use std::fmt;

use gmp_micro::paths;
use gmp_micro::rt::{Flavor, Gmp, Rt, Tokio, Twin};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Subject {
    pub(crate) library: &'static str,
    pub(crate) flavor: Flavor,
    pub(crate) path: &'static str,
}

impl Subject {
    /// All subjects, gmp's first.
    pub(crate) fn all() -> Vec<Subject> {
        fn of<L: Twin>() -> impl Iterator<Item = Subject> {
            let on = |flavor, path| Subject { library: L::NAME, flavor, path };
            paths::all::<L>().into_iter().flat_map(move |path| path.flavors.iter().map(move |it| on(*it, path.name)))
        }
        of::<Gmp>().chain(of::<Tokio>()).collect()
    }

    /// Library, flavour and path: the subject's arguments of `--run`.
    pub(crate) fn words(&self) -> [&'static str; 3] {
        [self.library, self.flavor.name(), self.path]
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
        if self.is_gmp() { self.run_on::<Gmp>(operations) } else { self.run_on::<Tokio>(operations) }
    }

    fn run_on<L: Twin>(&self, operations: usize) {
        let paths = paths::all::<L>();
        let path = paths.iter().find(|path| path.name == self.path).expect("a subject is made of a path");
        path.run(&L::start(self.flavor), operations);
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().join(" "))
    }
}
