//! "Who may call whom" of ARCHITECTURE.md, checked in the sources: which module may name which,
//! that the state of the scheduler does not act, and how many of the scheduler's files import each
//! other in a circle.

mod circle;
mod rules;
mod source;

use std::path::Path;

use source::Source;

/// The most files of the scheduler that may import each other, directly or through others.
const CIRCLE: usize = 2;

fn sources() -> Vec<Source> {
    Source::read_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

#[test]
fn modules_name_only_the_modules_that_they_may() {
    let broken: Vec<String> = sources().iter().flat_map(rules::broken_by).collect();
    assert!(broken.is_empty(), "{broken:#?}\nARCHITECTURE.md, \"Who may call whom\", has the rules");
}

#[test]
fn few_files_of_the_scheduler_import_each_other_in_a_circle() {
    let circle = circle::largest(&sources());
    println!("in the circle: {circle:?}");
    assert!(circle.len() <= CIRCLE, "{} files, at most {CIRCLE} may: {circle:?}", circle.len());
}

/// A call of a method is no import, so methods that act would hide from the circles.
#[test]
fn the_scheduler_has_no_methods_but_questions_about_its_data() {
    let is_elsewhere =
        |source: &&Source| source.path != "sched/scheduler.rs" && source.code.contains("impl Scheduler ");
    let elsewhere: Vec<String> = sources().iter().filter(is_elsewhere).map(|source| source.path.clone()).collect();
    assert!(elsewhere.is_empty(), "{elsewhere:?} have methods of `Scheduler`, and not functions of their own");
}

#[test]
fn a_module_that_names_one_above_it_is_found() {
    let broken = |path, text| rules::broken_by(&Source::new(path, text));
    assert_eq!(broken("time/sleep.rs", "use crate::sched::Scheduler;\nuse crate::task::coop;\n"), [""; 0]);
    assert_eq!(broken("time/sleep.rs", "use crate::runtime::Handle;\n"), ["time/sleep.rs names runtime"]);
    assert_eq!(
        broken("sched/run/mod.rs", "fn f() {\n    crate::runtime::block_on();\n}\n"),
        ["sched/run/mod.rs names runtime"]
    );
    assert_eq!(broken("sched/run/mod.rs", "use crate::observe;\nuse crate::metrics::Counter;\n"), [""; 0]);
    assert_eq!(broken("sched/run/mod.rs", "use crate::trace::Tap;\n"), ["sched/run/mod.rs names trace"]);
    assert_eq!(broken("sched/run/mod.rs", "use crate::blocked::Begun;\n"), ["sched/run/mod.rs names blocked"]);
    assert_eq!(broken("sched/run/mod.rs", "use crate::metrics::Histograms;\n"), ["sched/run/mod.rs names metrics"]);
    assert_eq!(broken("observe/mod.rs", "use crate::sched::park::park;\n"), ["observe/mod.rs names sched::park"]);
    assert_eq!(broken("sched/state/idle/mod.rs", "use crate::context;\n"), ["sched/state/idle/mod.rs names context"]);
    assert_eq!(broken("sched/state/a.rs", "use crate::sched::park::park;\n"), ["sched/state/a.rs names sched::park"]);
    assert_eq!(
        broken("sched/state/a.rs", "use crate::sched::Scheduler;\n"),
        ["sched/state/a.rs names sched::Scheduler"]
    );
    assert_eq!(broken("sched/state/a.rs", "// crate::sched::park\npub(in crate::sched) fn f() {}\n"), [""; 0]);
    assert_eq!(broken("sched/a.rs", "use super::b;\n"), ["sched/a.rs names a module by `super`"]);
    assert_eq!(broken("blocked/queue.rs", "use crate::sched::park::park;\n"), ["blocked/queue.rs names sched::park"]);
    assert_eq!(broken("blocked/queue.rs", "use crate::sched::state::machine::Machine;\n"), [""; 0]);
    assert_eq!(
        broken("procs.rs", "fn f() {\n    std::env::var_os(\"GMP\");\n}\n"),
        ["procs.rs names an environment variable"]
    );
    assert_eq!(broken("sched/a.rs", "use gmp_insight::perfetto;\n"), ["sched/a.rs names gmp_insight"]);
    assert_eq!(broken("newcomer/mod.rs", ""), ["newcomer/mod.rs has no rule"]);
}

#[test]
fn a_circle_is_found_and_counted() {
    let source = |path, text| Source::new(path, text);
    let line = source("sched/a.rs", "use crate::sched::b::f;\n");
    let end = source("sched/c.rs", "fn g() {}\n");
    let straight = [line, source("sched/b.rs", "use crate::sched::c;\n"), end];
    assert_eq!(circle::largest(&straight), [""; 0]);
    let [line, middle, _] = straight;
    let back = source("sched/c.rs", "use crate::sched::{a, d};\n");
    assert_eq!(circle::largest(&[line, middle, back]), ["sched/a.rs", "sched/b.rs", "sched/c.rs"]);
}
