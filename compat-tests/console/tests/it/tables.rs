//! The tables of the ten programs on gmp, against those on tokio 1.54.1 with `tokio_unstable`,
//! which `cargo run` in `../console-on-tokio` writes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use console_tests::programs::{self, Program};

/// What is in the table of tokio, and on purpose not in that of gmp.
struct Difference {
    program: &'static str,
    /// A part of each such line.
    lines_with: &'static str,
    reason: &'static str,
}

const DIFFERENCES: &[Difference] = &[Difference {
    program: "intervals",
    lines_with: "Sleep",
    reason: "tokio's interval has a sleep in it, which the console shows as another resource",
}];

fn check(name: &str) {
    let program = programs::ALL.into_iter().find(|program| program.name == name).unwrap();
    let (expected, found) = (expected(&program), program.tables());
    assert!(expected == found, "{}", compare(&expected, &found));
}

/// The table of tokio, without what is on purpose not here.
fn expected(program: &Program) -> String {
    let path = folder().join(program.name).with_extension("txt");
    let mut table = fs::read_to_string(path).unwrap();
    for Difference { lines_with, reason, .. } in
        DIFFERENCES.iter().filter(|difference| difference.program == program.name)
    {
        assert!(table.contains(lines_with), "{lines_with}: {reason}");
        table = table.lines().filter(|line| !line.contains(lines_with)).map(|line| format!("{line}\n")).collect();
    }
    table
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tables"))
}

/// The lines of which only one table has any: `-` expected, `+` found.
fn compare(expected: &str, found: &str) -> String {
    let only = |sign: &str, these: &str, others: &str| -> String {
        let others: BTreeSet<_> = others.lines().collect();
        these.lines().filter(|line| !others.contains(line)).map(|line| format!("{sign} {line}\n")).collect()
    };
    format!("{}{}\nfound:\n{found}", only("-", expected, found), only("+", found, expected))
}

/// A test per program.
macro_rules! programs {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*

        #[test]
        fn every_program_has_a_test_and_a_table() {
            let tests = BTreeSet::from([$(stringify!($name).to_owned()),*]);
            let all = programs::ALL.map(|program| program.name.to_owned());
            assert_eq!(tests, BTreeSet::from(all));
            let tables = fs::read_dir(folder()).unwrap();
            let tables = tables.map(|table| table.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned());
            assert_eq!(tests, tables.collect());
            assert!(DIFFERENCES.iter().all(|difference| tests.contains(difference.program)));
        }
    };
}

programs! { spawns kinds sizes wakes sleeps intervals locks semaphores channels blocks }
