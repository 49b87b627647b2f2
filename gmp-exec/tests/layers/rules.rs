//! The modules that each module may name. A rule applies to a folder or file, and to all files
//! below it.

use crate::source::Source;

/// The rule of the first matching path applies.
const RULES: &[(&str, &[&str])] = &[
    ("sys", &["sys", "sync"]),
    ("sync", &["sync"]),
    ("contain.rs", &[]),
    ("escaped.rs", &[]),
    ("several.rs", &[]),
    ("netpoll.rs", &[]),
    ("procs.rs", &["sys"]),
    // Below everything: it replaces functions of the C library.
    ("seeded", &["seeded", "sys", "sync"]),
    ("no_seeded.rs", &[]),
    // Starts seeded runs, and is no part of one.
    ("seeds", &["seeds", "sys"]),
    ("no_seeds.rs", &[]),
    ("sched/state", &["sched::state", "sched::config", "task", "time", "metrics", "netpoll", "contain", "sys", "sync"]),
    // Where the user's settings are kept.
    (
        "sched/config.rs",
        &["sched", "observe", "blocked", "lost", "metrics", "context", "task", "contain", "sys", "sync"],
    ),
    // Says what happens to `observe` alone, and does not know the listeners: no histograms, no
    // `trace`, no `blocked`.
    (
        "sched",
        &[
            "sched",
            "observe",
            "lost",
            "context",
            "task",
            "time",
            "metrics::Counter",
            "netpoll",
            "contain",
            "escaped",
            "seeded",
            "sys",
            "sync",
        ],
    ),
    // Told by the scheduler, and tells those that listen. Decides nothing.
    (
        "observe",
        &[
            "observe",
            "trace",
            "blocked",
            "metrics",
            "context",
            "sched::Local",
            "sched::Scheduler",
            "sched::config",
            "sched::state",
            // Starts the report thread.
            "sched::submit",
            "task",
            "sys",
            "sync",
        ],
    ),
    // Beside `metrics` and `trace`: told by `observe`, and acts on nothing.
    ("blocked", &["blocked", "sched::state", "task", "contain", "escaped", "several", "sys", "sync"]),
    // Read what the scheduler and the tasks write, and act on nothing.
    ("lost", &["lost", "sched", "task", "sys", "sync"]),
    (
        "dump",
        &[
            "dump",
            "observe::record_until_written",
            "blocked",
            "context",
            "lost",
            "sched",
            "task",
            "escaped",
            "several",
            "sys",
            "sync",
        ],
    ),
    ("context", &["context", "sched", "task", "metrics", "sync"]),
    // Reads what the others count.
    ("metrics", &["sched", "task::set_of_local_runtime", "blocked", "netpoll", "sys", "sync"]),
    // Its public functions take a runtime.
    ("trace/recorder.rs", &["runtime", "sched", "sync"]),
    // What the report thread has seen of a thread goes into the file.
    ("trace", &["observe::mark", "blocked", "sched", "task", "escaped", "sys", "sync"]),
    ("time", &["time", "context", "sched", "task", "contain", "seeded", "sync"]),
    // Their public functions take a runtime.
    ("task/builder.rs", &["runtime", "task", "context", "sched", "sync"]),
    ("task/join_set", &["runtime", "context", "task", "contain", "sync"]),
    ("task/local_set", &["runtime", "context", "contain", "task", "sched", "observe", "lost", "seeded", "sync"]),
    ("task", &["task", "context", "sched", "observe", "contain", "seeded", "sync"]),
    ("runtime", ABOVE),
    ("bridge.rs", ABOVE),
    ("lib.rs", ABOVE),
];

/// The public interface may name every module.
const ABOVE: &[&str] = &[
    "runtime", "task", "time", "context", "dump", "sched", "observe", "blocked", "lost", "metrics", "trace", "netpoll",
    "procs", "contain", "seeded", "sys", "sync",
];

/// What passes its observations to gmp-insight, which draws them.
const DRAW: &[&str] = &["trace", "blocked/stack", "metrics"];

/// The rules that a file breaks, in words.
pub(crate) fn broken_by(source: &Source) -> Vec<String> {
    let Some((_, allowed)) = RULES.iter().find(|(place, _)| is_below(&source.path, place)) else {
        return vec![format!("{} has no rule", source.path)];
    };
    let is_forbidden = |name: &&String| !allowed.iter().any(|module| covers(module, name));
    let mut broken: Vec<String> = source.names.iter().filter(is_forbidden).map(|name| shortest(name)).collect();
    broken.sort();
    broken.dedup();
    if source.path.starts_with("sched/") && source.code.contains("super::") {
        broken.push("a module by `super`".to_owned());
    }
    if source.code.contains("gmp_insight") && !DRAW.iter().any(|place| is_below(&source.path, place)) {
        broken.push("gmp_insight".to_owned());
    }
    // A set-uid program must not heed its caller's variables, and only this file knows whether it is one.
    if source.path != "sys/environment.rs" && source.code.contains("env::var") {
        broken.push("an environment variable".to_owned());
    }
    broken.iter().map(|what| format!("{} names {what}", source.path)).collect()
}

/// Whether `path` is `place` or below it.
fn is_below(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a rule that allows `module` allows `name`.
fn covers(module: &str, name: &str) -> bool {
    is_below(&name.replace("::", "/"), &module.replace("::", "/"))
}

/// The module part of a name, such as `runtime` or `sched::park`.
fn shortest(name: &str) -> String {
    let parts = if name.starts_with("sched::") { 2 } else { 1 };
    name.split("::").take(parts).collect::<Vec<_>>().join("::")
}
