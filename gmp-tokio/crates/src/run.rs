//! Runs all tests of a package's binaries.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use gmp_conformance::single::{self, Outcome};

use crate::build::Built;
use crate::list::Package;
use crate::unpack::Unpacked;

/// A test that can be run.
#[derive(Clone, Debug)]
pub(crate) struct Test {
    binary: PathBuf,
    /// The test's name in the binary. `None` if the whole binary is one test.
    name: Option<String>,
}

/// The tests of all binaries, by `binary::test`. Tests that their authors ignore or that
/// `crates.toml` skips are left out.
pub(crate) fn tests(package: &Package, unpacked: &Unpacked, built: &Built) -> Result<BTreeMap<String, Test>, String> {
    let mut tests = BTreeMap::new();
    for (name, binary) in &built.binaries {
        let test = |test| Test { binary: binary.clone(), name: test };
        if unpacked.without_harness.contains(name) {
            tests.insert(name.clone(), test(None));
            continue;
        }
        let ignored = single::list(binary, &["--ignored"])?;
        for one in single::list(binary, &[])?.into_iter().filter(|one| !ignored.contains(one)) {
            tests.insert(format!("{name}::{one}"), test(Some(one)));
        }
    }
    tests.retain(|name, _| !package.is_skipped(name));
    Ok(tests)
}

/// Runs the tests, two at a time.
pub(crate) fn run(package: &Package, folder: &Path, tests: &BTreeMap<String, Test>) -> BTreeMap<String, Outcome> {
    let (queue, done) = (Mutex::new(tests.iter()), Mutex::new(BTreeMap::new()));
    let work = || {
        while let Some((name, test)) = { queue.lock().expect("no panic under this lock").next() } {
            let outcome = run_one(package, folder, test);
            done.lock().expect("no panic under this lock").insert(name.clone(), outcome);
        }
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    done.into_inner().expect("no panic under this lock")
}

pub(crate) fn run_one(package: &Package, folder: &Path, test: &Test) -> Outcome {
    let mut command = Command::new(&test.binary);
    // Cargo would set these variables too.
    command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder).env("CARGO_PKG_NAME", &package.name);
    if let Some(name) = &test.name {
        command.args(["--exact", name]);
    }
    single::run(&mut command, Duration::from_secs(package.timeout))
}
