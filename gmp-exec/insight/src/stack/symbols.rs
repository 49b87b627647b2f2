//! Addresses in words: functions, files and lines, and which of them belong to the task.

use std::env;
use std::path::{Path, PathBuf};

use super::lines::{self, Function};
use super::memory::Memory;
use super::modules::Modules;

/// A function on a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its name; of a program without names the file, and the offset in it.
    pub function: Option<String>,
    /// The source file, if the program has line numbers.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// Whose function it is.
    pub origin: Origin,
}

/// The code that a function belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The program.
    Own,
    /// A crate that the program uses. A program without line numbers counts as one.
    Dependency,
    /// gmp, tokio, the standard library, or a library of the system.
    Runtime,
    /// Not known, because the program has no names.
    Unknown,
}

/// All that async-task calls is the task's. This is the name of the caller,
const POLL: &str = "async_task::raw::RawTask<";
/// and this its file, after the crate's folder: with line numbers alone, compilers write names
/// without paths.
const POLL_FILE: &str = "/src/raw.rs";
/// Crates of which users know nothing, or whose functions they call to wait.
const RUNTIME: [&str; 11] = [
    "alloc",
    "async_task",
    "backtrace",
    "core",
    "gmp_exec",
    "gmp_insight",
    "gmp_io",
    "std",
    "tokio",
    "tokio_real",
    "tracing",
];
/// Parts of the paths of their files.
const RUNTIME_FILES: [&str; 12] = [
    "/rustc/",
    "/usr/src/rustc-",
    "/lib/rustlib/src/",
    "/async-task-",
    "/backtrace-0.",
    "/gmp-exec/insight/src/",
    "/gmp-exec/src/",
    "/gmp-io/src/",
    "/gmp-tokio/",
    "/gmp-exec-",
    "/gmp-insight-",
    "/tracing-0.1.",
];

/// The frames of the task alone, the innermost first and the task's future last. If the program has
/// no names, all frames.
pub(super) fn frames(addresses: &[u64], modules: &Modules) -> Vec<Frame> {
    let memory = Memory::open().ok();
    let mut frames: Vec<Frame> = Vec::new();
    for &address in addresses {
        let first = frames.len();
        let is_in_program = modules.is_in_program(address);
        let start = memory.as_ref().and_then(|memory| modules.start_of_function(address, memory));
        let may_be_own = is_in_program && (memory.is_none() || start.is_some());
        frames.extend(frames_at(address, start, may_be_own));
        if frames.len() == first {
            // Libraries of the system have no names for their inner functions.
            let origin = if is_in_program { Origin::Unknown } else { Origin::Runtime };
            let function = Some(modules.name(address));
            frames.push(Frame { function, file: None, line: None, origin });
        }
        if frames[first..].iter().any(is_poll) {
            frames.truncate(first);
            break;
        }
    }
    // A future given to `block_on` is polled by the runtime without async-task.
    let outermost = frames.iter().rposition(|frame| frame.origin != Origin::Runtime);
    frames.truncate(outermost.map_or(frames.len(), |index| index + 1));
    frames
}

fn is_poll(frame: &Frame) -> bool {
    frame.function.as_ref().is_some_and(|name| name.starts_with(POLL))
        || frame.file.as_ref().is_some_and(|file| file.contains("/async-task") && file.ends_with(POLL_FILE))
}

/// The functions at the address, inlined ones before those that contain them.
fn frames_at(address: u64, start: Option<u64>, may_be_own: bool) -> impl Iterator<Item = Frame> {
    lines::functions(address, start).into_iter().map(move |Function { name, path, line }| {
        let origin = origin(name.as_deref(), path.as_deref(), may_be_own);
        let file = path.map(|path| relative(&path));
        Frame { function: name, file, line, origin }
    })
}

/// A library that is not written in Rust is one of the system. So is code of the program without tables for
/// unwinding: that is musl's, and rustup's musl has line numbers.
fn origin(function: Option<&str>, path: Option<&str>, may_be_own: bool) -> Origin {
    let of_crate = function.and_then(crate_of);
    if of_crate.is_some_and(|name| RUNTIME.contains(&name)) || of_crate.is_none() && !may_be_own {
        return Origin::Runtime;
    }
    match path {
        Some(path) if RUNTIME_FILES.iter().any(|part| path.contains(part)) => Origin::Runtime,
        Some(path) if path.contains("/registry/src/") || path.contains("/git/checkouts/") => Origin::Dependency,
        Some(_) => Origin::Own,
        // A program without line numbers, or a function of the system's libraries.
        None if of_crate.is_some() => Origin::Dependency,
        None => Origin::Runtime,
    }
}

/// The crate in `a::b::f`, or that of the type in `<&mut a::T as b::Trait>::f`.
fn crate_of(function: &str) -> Option<&str> {
    let mut name = function;
    while let Some(rest) = ["<", "&", "mut ", "dyn "].iter().find_map(|prefix| name.strip_prefix(prefix)) {
        name = rest;
    }
    let (first, _) = name.split_once("::")?;
    let is_name = first.chars().all(|character| character.is_alphanumeric() || character == '_');
    is_name.then_some(first)
}

/// Compilers write whole paths. Those of the program that is being worked on are below the current folder
/// most of the time, and those of a program that runs elsewhere below its workspace.
fn relative(path: &str) -> String {
    let workspace = env::current_exe().ok().and_then(|program| workspace_of(&program));
    let folders = [env::current_dir().ok(), workspace];
    let below = folders.iter().flatten().find_map(|folder| below(folder, path));
    below.unwrap_or(path).to_owned()
}

/// Cargo puts programs below `target` in the workspace.
fn workspace_of(program: &Path) -> Option<PathBuf> {
    let target = program.ancestors().find(|folder| folder.ends_with("target"))?;
    target.parent().map(Path::to_owned)
}

fn below<'a>(folder: &Path, path: &'a str) -> Option<&'a str> {
    let is_root = folder.parent().is_none();
    folder.to_str().filter(|_| !is_root).and_then(|folder| path.strip_prefix(folder)?.strip_prefix('/'))
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;

    #[test]
    fn what_has_no_name_outside_of_the_program_is_the_systems() {
        let outside = Box::new(0_u64);
        let frames = frames(&[ptr::from_ref(&*outside).addr() as u64], &Modules::read().unwrap());
        assert_eq!((frames.len(), frames[0].origin), (1, Origin::Runtime), "{frames:?}");
    }

    #[test]
    fn the_crate_is_that_of_the_type() {
        for (function, expected) in [
            ("std::thread::sleep", Some("std")),
            ("<core::pin::Pin<P> as core::future::future::Future>::poll", Some("core")),
            ("<&mut hyper::Body as a::B>::f", Some("hyper")),
            ("<F as axum::Handler>::call", None),
            ("clock_nanosleep", None),
        ] {
            assert_eq!(crate_of(function), expected, "{function}");
        }
    }

    #[test]
    fn a_frame_belongs_to_the_runtime_to_a_dependency_or_to_the_program() {
        let registry = "/home/a/.cargo/registry/src/index-19/axum-0.8.9/src/serve.rs";
        let std = "/rustc/59807616/library/std/src/thread/mod.rs";
        for (function, path, expected) in [
            ("std::thread::sleep", Some(std), Origin::Runtime),
            ("join<bool>", Some("/usr/src/rustc-1.96.0/library/std/src/thread/lifecycle.rs"), Origin::Runtime),
            ("<F as axum::Handler>::call", Some(registry), Origin::Dependency),
            ("program::report::{{closure}}", Some("/home/a/program/src/main.rs"), Origin::Own),
            ("tokio::task::spawn", Some("/home/a/gmp-tokio/src/task.rs"), Origin::Runtime),
            ("program::report", None, Origin::Dependency),
            ("clock_nanosleep", None, Origin::Runtime),
        ] {
            assert_eq!(origin(Some(function), path, true), expected, "{function}");
        }
        // Debian's packages of debugging information name such paths.
        assert_eq!(origin(Some("poll"), Some("./sysdeps/poll.c"), false), Origin::Runtime);
        assert_eq!(origin(Some("__syscall_cp"), Some("src_musl/src/thread/__syscall_cp.c"), false), Origin::Runtime);
    }

    #[test]
    fn files_below_the_current_folder_are_named_from_there() {
        let here = env::current_dir().unwrap();
        assert_eq!(relative(here.join("src/a.rs").to_str().unwrap()), "src/a.rs");
        assert_eq!(below(Path::new("/w"), "/w/src/a.rs"), Some("src/a.rs"));
        assert_eq!(below(Path::new("/w"), "/workspace/src/a.rs"), None);
        assert_eq!(below(Path::new("/"), "/w/src/a.rs"), None);
        assert_eq!(relative("/rustc/1/library/a.rs"), "/rustc/1/library/a.rs");
    }

    #[test]
    fn the_workspace_is_the_folder_in_which_cargo_has_built_the_program() {
        let workspace = |program| workspace_of(Path::new(program));
        assert_eq!(workspace("/home/target/shop/target/gmp/release/app"), Some("/home/target/shop".into()));
        assert_eq!(workspace("/usr/bin/app"), None);
    }
}
