//! Turns tokio's instrumentation for tokio-console on with the feature `tracing` alone.
//!
//! tokio asks for `--cfg tokio_unstable`, too, which a library can't set for its user. The
//! condition is the same text at each of its places, so the text is replaced wherever it is, and
//! the number of places is checked: another version of tokio has another number.
//!
//! A span that names no target has its module's path as one, and subscribers filter by it. The
//! package has another name than tokio, so each of these spans gets the target that it has in
//! tokio.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use super::{VERSION, tree};

/// The conditions, what they become, and how often they are there.
const CONDITIONS: [(&str, &str, usize); 2] = [
    (r#"all(tokio_unstable, feature = "tracing")"#, r#"feature = "tracing""#, 253),
    (r#"any(not(tokio_unstable), not(feature = "tracing"))"#, r#"not(feature = "tracing")"#, 10),
];

const SPAN: &str = "trace_span!(";

/// How many spans name no target.
const WITHOUT_TARGET: usize = 20;

/// Changes all files of the package in `folder`.
///
/// # Errors
///
/// Fails if the number of places is another one than in this version of tokio, and when a file
/// can't be read or written.
pub(super) fn apply(folder: &Path) -> Result<()> {
    let mut counts = Counts::default();
    let source = folder.join("src");
    for file in tree::files(&source)?.iter().filter(|file| file.extension().is_some_and(|end| end == "rs")) {
        let path = source.join(file);
        let before = fs::read_to_string(&path)?;
        let after = with_targets(&with_conditions(&before, &mut counts), &module(file), &mut counts);
        if after != before {
            fs::write(&path, after)?;
        }
    }
    let expected = Counts { conditions: CONDITIONS.map(|(.., count)| count), spans: WITHOUT_TARGET };
    ensure!(counts == expected, "the instrumentation of tokio {VERSION} has {expected:?}, and here are {counts:?}");
    Ok(())
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    conditions: [usize; CONDITIONS.len()],
    spans: usize,
}

fn with_conditions(text: &str, counts: &mut Counts) -> String {
    let mut text = text.to_owned();
    for ((find, replace, _), count) in CONDITIONS.iter().zip(&mut counts.conditions) {
        *count += text.matches(find).count();
        text = text.replace(find, replace);
    }
    text
}

fn with_targets(text: &str, module: &str, counts: &mut Counts) -> String {
    let mut parts = text.split(SPAN);
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        result += SPAN;
        if !part.trim_start().starts_with("target:") {
            counts.spans += 1;
            result += &format!("target: \"{module}\", ");
        }
        result += part;
    }
    result
}

/// The path of the module in this file of tokio's.
fn module(file: &Path) -> String {
    let path = file.with_extension("");
    let names = path.iter().map(|name| name.to_string_lossy()).filter(|name| name != "mod" && name != "lib");
    names.fold("tokio".to_owned(), |module, name| module + "::" + &name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_ask_for_the_feature_alone() {
        let mut counts = Counts::default();
        let text = r#"
            #[cfg(all(tokio_unstable, feature = "tracing"))] a
            #[cfg_attr(not(all(tokio_unstable, feature = "tracing")), b)]
            #[cfg(any(not(tokio_unstable), not(feature = "tracing")))] c
            #[cfg(all(tokio_unstable, feature = "taskdump"))] d"#;
        let expected = r#"
            #[cfg(feature = "tracing")] a
            #[cfg_attr(not(feature = "tracing"), b)]
            #[cfg(not(feature = "tracing"))] c
            #[cfg(all(tokio_unstable, feature = "taskdump"))] d"#;
        assert_eq!(with_conditions(text, &mut counts), expected);
        assert_eq!(counts.conditions, [2, 1]);
    }

    #[test]
    fn a_span_gets_the_target_that_it_has_in_tokio() {
        let mut counts = Counts::default();
        let text = "trace_span!(\n    parent: None, \"a\"); trace_span!(\"b\"); trace_span!(\n  target: \"x\", \"c\")";
        let expected = "trace_span!(target: \"tokio::sync::a\", \n    parent: None, \"a\"); \
                        trace_span!(target: \"tokio::sync::a\", \"b\"); trace_span!(\n  target: \"x\", \"c\")";
        assert_eq!(with_targets(text, "tokio::sync::a", &mut counts), expected);
        assert_eq!(counts.spans, 2);
    }

    #[test]
    fn modules_are_named_as_in_tokio() {
        assert_eq!(module(Path::new("lib.rs")), "tokio");
        assert_eq!(module(Path::new("sync/mod.rs")), "tokio::sync");
        assert_eq!(module(Path::new("sync/rwlock/read_guard.rs")), "tokio::sync::rwlock::read_guard");
    }

    #[test]
    fn another_number_of_places_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("src/lib.rs"), "trace_span!(\"a\")").unwrap();
        let error = apply(folder.path()).unwrap_err().to_string();
        assert!(error.contains("Counts { conditions: [0, 0], spans: 1 }"), "{error}");
    }
}
