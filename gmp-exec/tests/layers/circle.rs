//! Files that import each other, directly or through other files.

use crate::source::Source;

/// An import that is no call: a new thread begins with this function.
const BEGINS: (&str, &str) = ("sched/submit/threads.rs", "sched/run/mod.rs");

/// The largest circle among the scheduler's files; empty if there is none.
pub(crate) fn largest(sources: &[Source]) -> Vec<String> {
    let files: Vec<&Source> = sources.iter().filter(|source| is_counted(source)).collect();
    let reaches = reachable(&files);
    let circle_of =
        |from: usize| -> Vec<usize> { (0..files.len()).filter(|&to| reaches[from][to] && reaches[to][from]).collect() };
    let largest = (0..files.len()).map(circle_of).max_by_key(Vec::len).unwrap_or_default();
    let mut paths: Vec<String> = largest.into_iter().map(|file| files[file].path.clone()).collect();
    paths.sort();
    paths
}

/// `sched/mod.rs` only declares modules.
fn is_counted(source: &Source) -> bool {
    source.path.starts_with("sched/") && source.path != "sched/mod.rs"
}

/// The files that each file reaches by one or more imports.
fn reachable(files: &[&Source]) -> Vec<Vec<bool>> {
    let mut reaches: Vec<Vec<bool>> =
        files.iter().map(|from| files.iter().map(|to| imports(from, to, files)).collect()).collect();
    for through in 0..files.len() {
        for from in 0..files.len() {
            if reaches[from][through] {
                let beyond = reaches[through].clone();
                reaches[from].iter_mut().zip(beyond).for_each(|(reached, more)| *reached |= more);
            }
        }
    }
    reaches
}

fn imports(from: &Source, to: &Source, files: &[&Source]) -> bool {
    let may_call = from.path != to.path && (from.path.as_str(), to.path.as_str()) != BEGINS;
    may_call && from.names.iter().any(|name| owner(name, files) == Some(to.module.as_str()))
}

/// The file of the innermost module in the name.
fn owner<'a>(name: &str, files: &[&'a Source]) -> Option<&'a str> {
    let modules = files.iter().map(|file| file.module.as_str());
    let has_it =
        |module: &&str| name.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
    modules.filter(has_it).max_by_key(|module| module.len())
}
