//! docs/settings.md names every variable `GMP_*` that the packages read, and no other.

use std::fs;

use crate::repository;

/// The code of the packages that users install.
const SHIPPED: &[&str] = &[
    "gmp-exec/src",
    "gmp-exec/insight/src",
    "gmp-exec/macros/src",
    "gmp-io/src",
    "gmp-tokio/src",
    "gmp-tokio/cargo-gmp/src",
];

/// Variables that only tests read, in folders of [`SHIPPED`].
const OF_TESTS: &[&str] = &["GMP_SHUTTLE_SCHEDULES"];

#[test]
fn the_tables_name_the_variables_that_the_code_reads() {
    let mut read: Vec<String> = Vec::new();
    for folder in SHIPPED {
        let files = repository::files(&format!("{folder}/*.rs"));
        assert!(!files.is_empty(), "no code in {folder}");
        read.extend(files.iter().flat_map(|file| literals(&fs::read_to_string(file).expect("a text"))));
    }
    read.sort();
    read.dedup();
    for name in OF_TESTS {
        let index = read.iter().position(|read| read == name);
        read.remove(index.unwrap_or_else(|| panic!("no test reads {name} any more")));
    }
    let page = fs::read_to_string(repository::top().join("docs/settings.md")).expect("a text");
    let mut named = rows(&page);
    named.sort();
    assert_eq!(named, read, "left: docs/settings.md, right: the code");
}

#[test]
fn literals_and_rows_are_found() {
    let code = r#"const A: &str = "GMP_A_1"; let b = ["GMP_B", "GMP_C: no", "GMP_d", "GMP_"]; // GMP_E"#;
    assert_eq!(literals(code), ["GMP_A_1", "GMP_B"]);
    assert_eq!(rows("`GMP_X`\n| `GMP_A` | on |\n|---|\n| `off` | `GMP_C` |\n"), ["GMP_A"]);
}

/// The string literals that are names of variables.
fn literals(code: &str) -> Vec<String> {
    code.split('"').filter(|part| is_variable(part)).map(str::to_owned).collect()
}

/// The variables that rows of tables begin with.
fn rows(page: &str) -> Vec<String> {
    let cells = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    cells.map(|(name, _)| name.to_owned()).filter(|name| is_variable(name)).collect()
}

fn is_variable(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.strip_prefix("GMP_").is_some_and(|rest| !rest.is_empty() && rest.chars().all(is_allowed))
}
