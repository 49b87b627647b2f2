//! Writes `docs/programs.md`.

use std::fmt::Write as _;
use std::fs;

use super::list::{List, Program};
use super::results::{Results, Row};
use crate::drop_in;

pub(crate) fn write(list: &List, results: &Results) -> Result<(), String> {
    let path = drop_in().join("../docs/programs.md");
    fs::write(&path, text(list, results)).map_err(|error| format!("{}: {error}", path.display()))
}

fn text(list: &List, results: &Results) -> String {
    let run: Vec<(&Program, &Row)> =
        list.program.iter().filter_map(|program| Some((program, results.rows.get(&program.name)?))).collect();
    let mut text = format!("{TITLE}{}\n\n{METHOD}", total(&run));
    text.push_str(
        "| program | version | run on | its tokio | moved in its lock file | build | `--help` | use | remarks |\n",
    );
    text.push_str("|---|---|---|---|---|---|---|---|---|\n");
    for (program, row) in &run {
        let tried = |is_right| if row.built { verdict(is_right) } else { "" };
        let (built, help, used) = (verdict(row.built), tried(row.help), tried(row.used));
        let (moved, remarks) = (row.moved.join(", "), remarks(program, row));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {moved} | {built} | {help} | {used} | {remarks} |",
            program.name, row.version, row.date, row.tokio
        );
    }
    text.push_str("\n## What is done with each\n\n| program | use |\n|---|---|\n");
    for (program, _) in &run {
        let _ = writeln!(text, "| {} | {} |", program.name, program.does);
    }
    not_run(&mut text, list, results);
    text
}

fn verdict(is_right: bool) -> &'static str {
    if is_right { "ok" } else { "fails" }
}

/// A program that fails on tokio as well says nothing about gmp, so it does not count.
fn total(run: &[(&Program, &Row)]) -> String {
    let right = run.iter().filter(|(_, row)| row.is_right()).count();
    let faults = run.iter().filter(|(_, row)| row.is_fault()).count();
    let other = run.len() - right - faults;
    let counted = right + faults;
    let mut total = format!("**{right} of {counted} programs are built, answer `--help` and work on gmp.**");
    if other > 0 {
        let _ = write!(total, " Not counted, because they fail on tokio too: {other}.");
    }
    total
}

fn remarks(program: &Program, row: &Row) -> String {
    let mut remarks = Vec::new();
    if !program.note.is_empty() {
        remarks.push(program.note.clone());
    }
    if !program.arguments.is_empty() {
        remarks.push(format!("`{}`", program.arguments.join(" ")));
    }
    match row.on_tokio {
        Some(true) => remarks.push("works on tokio".to_owned()),
        Some(false) => remarks.push("fails on tokio too".to_owned()),
        None => {}
    }
    remarks.join("; ")
}

fn not_run(text: &mut String, list: &List, results: &Results) {
    let names = list.program.iter().map(|program| &*program.name).filter(|name| !results.rows.contains_key(*name));
    let names: Vec<&str> = names.collect();
    if !names.is_empty() {
        let _ = writeln!(text, "\n## Not run yet\n\n{}", names.join(", "));
    }
}

const TITLE: &str = "# Published programs on gmp

";

const METHOD: &str = "Programs from the registry are unpacked as they were published and built by `cargo gmp build --locked`, \
with their own lock files, which stay as they are. Then each binary's `--help` is called, and a script from \
`gmp-tokio/programs.toml` does something real with the program: servers answer and end with Ctrl-C, clients ask them. A use \
counts only if the program has written gmp's trace of the scheduler. What fails is tried on tokio, by `cargo build --locked`. \
`cargo run -p gmp-crates -- programs` (`gmp-tokio/crates`) writes this page.

";

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(rows: &[(&str, bool, Option<bool>)]) -> String {
        let entry =
            |name: &str| format!("[[program]]\nname = \"{name}\"\nversion = \"1.0.0\"\ndoes = \"x\"\nscript = \"\"\n");
        let names = rows.iter().map(|(name, ..)| entry(name)).collect::<String>() + &entry("later");
        let row = |used, on_tokio| Row { built: true, help: true, used, on_tokio, ..Row::default() };
        let rows = rows.iter().map(|&(name, used, on_tokio)| (name.to_owned(), row(used, on_tokio))).collect();
        text(&toml::from_str(&names).unwrap(), &Results { rows })
    }

    #[test]
    fn what_works_on_tokio_only_is_counted_and_what_fails_on_both_is_not() {
        let text = text_of(&[("a", true, None), ("b", false, Some(true)), ("c", false, Some(false))]);
        assert!(text.starts_with("# Published programs on gmp\n\n**1 of 2 programs"), "{text}");
        assert!(text.contains("Not counted, because they fail on tokio too: 1."), "{text}");
        assert!(text.contains("| ok | ok | fails | works on tokio |"), "{text}");
    }

    #[test]
    fn what_was_not_run_is_named() {
        assert!(text_of(&[]).contains("## Not run yet\n\nlater\n"));
    }
}
