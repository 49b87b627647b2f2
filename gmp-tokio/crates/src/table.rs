//! Writes `docs/crates.md`.

use std::fmt::Write as _;
use std::fs;

use crate::drop_in;
use crate::list::{List, Package};
use crate::results::{Difference, Results, Row};

pub(crate) fn write(list: &List, results: &Results) -> Result<(), String> {
    let path = drop_in().join("../docs/crates.md");
    fs::write(&path, text(list, results)).map_err(|error| format!("{}: {error}", path.display()))
}

fn text(list: &List, results: &Results) -> String {
    let row = |package: &&Package| results.rows.get(&package.name);
    let run: Vec<(&Package, &Row)> =
        list.package.iter().filter_map(|package| Some((package, row(&package)?))).collect();
    let mut text = format!("{TITLE}{}\n", total(&run));
    differences(&mut text, &run);
    text.push_str(METHOD);
    text.push_str("| package | version | tests | same on gmp | fail on both | differ | run on | remarks |\n|---|---|---|---|---|---|---|---|\n");
    for (package, row) in run.iter().filter(|(_, row)| row.tests > 0) {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            package.name,
            row.version,
            row.tests,
            row.same(),
            row.failing.len(),
            row.differences.len(),
            row.date,
            remarks(package, row)
        );
    }
    without_tests(&mut text, &run);
    not_run(&mut text, list, results);
    text
}

fn total(run: &[(&Package, &Row)]) -> String {
    let sum = |of: fn(&Row) -> usize| run.iter().map(|(_, row)| of(row)).sum::<usize>();
    let failing = sum(|row| row.failing.len());
    let (tests, same) = (sum(|row| row.tests) - failing, sum(Row::same) - failing);
    let packages = run.iter().filter(|(_, row)| row.tests > 0).count();
    let share = if tests == 0 { 0.0 } else { same as f64 * 100.0 / tests as f64 };
    // Rounded down, because 99.999 % is not 100 %.
    let share = (share * 100.0).floor() / 100.0;
    format!(
        "**{same} of {tests} tests of {packages} packages have the same verdict: {share:.2} %.** Another {failing} fail on \
         both, most for want of a file, a service or a network, and are not counted."
    )
}

fn remarks(package: &Package, row: &Row) -> String {
    let mut remarks = Vec::new();
    if !package.note.is_empty() {
        remarks.push(package.note.clone());
    }
    if !package.features.is_empty() {
        remarks.push(format!("with `{}`", package.features.join("`, `")));
    }
    remarks.extend(package.cfgs.iter().map(|cfg| format!("`--cfg {cfg}`")));
    if !package.arguments.is_empty() {
        remarks.push(format!("`{}`", package.arguments.join(" ")));
    }
    if !row.not_compiled.is_empty() {
        remarks.push(format!("not compiling on tokio either: {}", row.not_compiled.join(", ")));
    }
    remarks.extend(package.skip.iter().map(|skip| format!("without `{}...`: {}", skip.test, skip.reason)));
    remarks.join("; ")
}

fn differences(text: &mut String, run: &[(&Package, &Row)]) {
    text.push_str("\n## What differs\n\n");
    text.push_str("| package | test | passes alone on tokio | on gmp | why |\n|---|---|---|---|---|\n");
    for (package, row) in run {
        for difference in &row.differences {
            let reason = package.reason(&difference.test).unwrap_or("not known");
            let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
            let _ = writeln!(text, "| {} | `{}` | {} | {reason} |", package.name, difference.test, passed(difference));
        }
    }
}

fn passed(difference: &Difference) -> String {
    match difference.passed {
        Some([tokio, gmp]) => format!("{tokio} of {0} | {gmp} of {0}", difference.runs),
        None => "yes | does not compile".to_owned(),
    }
}

fn without_tests(text: &mut String, run: &[(&Package, &Row)]) {
    text.push_str("\n## Without tests that can be run\n\n| package | version | why | instead |\n|---|---|---|---|\n");
    for (package, row) in run.iter().filter(|(_, row)| row.tests == 0) {
        let reason = row.reason.lines().next().unwrap_or_default();
        let _ = writeln!(text, "| {} | {} | {reason} | {} |", package.name, row.version, package.note);
    }
}

fn not_run(text: &mut String, list: &List, results: &Results) {
    let names = list.package.iter().map(|package| &*package.name).filter(|name| !results.rows.contains_key(*name));
    let names: Vec<&str> = names.collect();
    if !names.is_empty() {
        let _ = writeln!(text, "\n## Not run yet\n\n{}", names.join(", "));
    }
}

const TITLE: &str = "# The tests of published packages, on tokio and on gmp

";

const METHOD: &str = "
## All packages

Packages that depend on tokio are unpacked as they were published, and their unit and integration tests compiled with cargo \
and with `cargo gmp`, with the same versions of everything else. Each test runs in a process of its own, on both; what ends \
differently is repeated alone, three times on both, and is a difference unless all six runs end alike. Tests that their \
authors ignore, and those in documentation, are not run. `src` are the unit tests of a library. `cargo run -p gmp-crates` \
(`gmp-tokio/crates`) writes this page.

";

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> List {
        toml::from_str("[[package]]\nname = \"a\"\n[[package]]\nname = \"b\"\n[[package.difference]]\ntest = \"src::c\"\nreason = \"d\"")
            .unwrap()
    }

    fn results() -> Results {
        let differences = vec![Difference::new("src::c", 3, [3, 0])];
        let row = Row { tests: 3, version: "1.0.0".to_owned(), differences, ..Row::default() };
        Results { rows: [("b".to_owned(), row)].into() }
    }

    #[test]
    fn a_difference_counts_and_has_its_reason() {
        let text = text(&list(), &results());
        assert!(text.contains("**2 of 3 tests of 1 packages have the same verdict: 66.66 %.**"), "{text}");
        assert!(text.contains("| b | `src::c` | 3 of 3 | 0 of 3 | d |"), "{text}");
        assert!(text.find("66.66 %") < text.find("| b | `src::c`"), "the result comes first: {text}");
        assert!(text.find("| b | `src::c`") < text.find("| b | 1.0.0 |"), "all packages come last: {text}");
    }

    #[test]
    fn what_was_not_run_is_named() {
        assert!(text(&list(), &results()).contains("## Not run yet\n\na\n"));
    }
}
