//! The edits that connect tokio's code to gmp's executor.
//!
//! Six parts of what is used depend on the executor: the budget of a poll, the timer of
//! `mpsc::Sender::send_timeout`, the check that a caller doesn't block a thread that runs tasks,
//! the seed of `select!`, what the dump tells (`waits`, `holders`, `channels`, `reads`), and traced polls. The
//! edits make each call `gmp_exec` directly. The executor doesn't depend on tokio, so this makes no
//! cycle. Hooks that the drop-in would set at the start were rejected: a channel can be used before
//! any runtime exists, and each budget check would be an indirect call.
//!
//! An edit replaces a text that must be there exactly once. With another version of tokio, the edit
//! fails with its name instead of changing another part of the code.

use std::path::Path;
use std::{error, fmt, fs, io};

use super::VERSION;
use super::channels::CHANNELS;
use super::holders::HOLDERS;
use super::reads::READS;
use super::waits::WAITS;

/// One replacement in one file.
#[derive(Clone, Copy, Debug)]
pub struct Edit {
    /// The purpose of the edit, as error messages name it.
    pub name: &'static str,
    /// The file's path in the package.
    pub file: &'static str,
    /// The text that must be there exactly once.
    pub find: &'static str,
    /// The replacement.
    pub replace: &'static str,
}

/// All edits that `tokio-real` needs.
pub fn all() -> impl Iterator<Item = &'static Edit> {
    EDITS.iter().chain(WAITS).chain(HOLDERS).chain(CHANNELS).chain(READS)
}

const EDITS: &[Edit] = &[
    Edit {
        name: "coop: units of a budget are readable",
        file: "src/task/coop/mod.rs",
        find: "struct Budget(Option<u8>);",
        replace: "struct Budget(pub(crate) Option<u8>);",
    },
    Edit {
        name: "coop: the budget is the executor's",
        file: "src/runtime/context.rs",
        find: "    CONTEXT.try_with(|ctx| f(&ctx.budget))\n",
        replace: "    let cell = Cell::new(coop::Budget(gmp_exec::bridge::budget()));\n    \
                      let result = f(&cell);\n    \
                      gmp_exec::bridge::set_budget(cell.get().0);\n    \
                      Ok(result)\n",
    },
    Edit {
        name: "coop: no budget of tokio's own (field)",
        file: "src/runtime/context.rs",
        find: "    budget: Cell<coop::Budget>,\n",
        replace: "",
    },
    Edit {
        name: "coop: no budget of tokio's own (initial value)",
        file: "src/runtime/context.rs",
        find: "            budget: Cell::new(coop::Budget::unconstrained()),\n",
        replace: "",
    },
    Edit {
        name: "coop: the executor wakes a task that has used up its budget",
        file: "src/task/coop/mod.rs",
        find: "            context::defer(cx.waker());\n",
        replace: "            gmp_exec::bridge::defer(cx.waker());\n",
    },
    Edit {
        name: "coop: the executor wakes a task that has used up its budget (without rt)",
        file: "src/task/coop/mod.rs",
        find: "            cx.waker().wake_by_ref()\n",
        replace: "            gmp_exec::bridge::defer(cx.waker())\n",
    },
    Edit {
        name: "coop: a future may yield in any case",
        file: "src/task/coop/mod.rs",
        find: "    pub fn poll_proceed(cx: &mut Context<'_>) -> Poll<RestoreOnPending> {\n",
        replace: "    pub fn poll_proceed(cx: &mut Context<'_>) -> Poll<RestoreOnPending> {\n        \
                      if gmp_exec::bridge::must_yield(cx) {\n            return Poll::Pending;\n        }\n",
    },
    Edit {
        name: "mpsc: send_timeout takes the executor's timer",
        file: "src/sync/mpsc/bounded.rs",
        find: "match crate::time::timeout(timeout, self.reserve()).await",
        replace: "match gmp_exec::time::timeout(timeout, self.reserve()).await",
    },
    Edit {
        name: "select: the executor's random numbers on a runtime with a seed",
        file: "src/runtime/context.rs",
        find: "pub(crate) fn thread_rng_n(n: u32) -> u32 {\n",
        replace: "pub(crate) fn thread_rng_n(n: u32) -> u32 {\n    \
                  if let Some(random) = gmp_exec::bridge::seeded_random() {\n        \
                  return ((u64::from(random) * u64::from(n)) >> 32) as u32;\n    }\n",
    },
    Edit {
        name: "tracing: the place of a spawn is known",
        file: "src/runtime/task/mod.rs",
        find: "#[cfg(tokio_unstable)]\nmod spawn_location {",
        replace: "#[cfg(any(tokio_unstable, feature = \"tracing\"))]\nmod spawn_location {",
    },
    Edit {
        name: "tracing: the place of a spawn is known (else)",
        file: "src/runtime/task/mod.rs",
        find: "#[cfg(not(tokio_unstable))]\nmod spawn_location {",
        replace: "#[cfg(not(any(tokio_unstable, feature = \"tracing\")))]\nmod spawn_location {",
    },
    Edit {
        name: "waits: the place of a leaf future",
        file: "src/lib.rs",
        find: "        pub(crate) fn trace_leaf(_: &mut std::task::Context<'_>) -> std::task::Poll<()> {\n            \
               std::task::Poll::Ready(())\n",
        replace: "        #[track_caller]\n        \
                  pub(crate) fn trace_leaf(cx: &mut std::task::Context<'_>) -> std::task::Poll<()> {\n            \
                  gmp_exec::bridge::poll_leaf(cx)\n",
    },
    Edit {
        name: "waits: no place of an async function, which awaits another leaf",
        file: "src/lib.rs",
        find: "        std::future::poll_fn(trace_leaf).await\n",
        replace: "",
    },
    Edit {
        name: "waits: a leaf that has to wait",
        file: "src/task/coop/mod.rs",
        find: "            if !budget.is_unconstrained() {\n                let _ = context::budget(|cell| {\n                    \
               cell.set(budget);\n",
        replace: "            if !budget.is_unconstrained() {\n                gmp_exec::bridge::leaf_waits();\n                \
                  let _ = context::budget(|cell| {\n                    cell.set(budget);\n",
    },
    Edit {
        name: "waits: a leaf that does not have to wait",
        file: "src/task/coop/mod.rs",
        find: "            self.0.set(Budget::unconstrained());\n",
        replace: "            gmp_exec::bridge::leaf_is_ready();\n            self.0.set(Budget::unconstrained());\n",
    },
    Edit {
        name: "traces: a task that waits for a notification",
        file: "src/sync/notify.rs",
        find: "                State::Waiting => {\n                    \
               #[cfg(all(tokio_unstable, feature = \"taskdump\"))]\n                    \
               if let Some(ctx) = ctx.as_mut() {\n                        \
               std::task::ready!(crate::trace::trace_leaf(ctx));\n",
        replace: "                State::Waiting => {\n                    \
                  if let Some(ctx) = ctx.as_mut() {\n                        \
                  std::task::ready!(gmp_exec::bridge::trace_leaf(ctx));\n",
    },
    Edit {
        name: "traces: a task that has been notified",
        file: "src/sync/notify.rs",
        find: "                State::Done => {\n                    \
               #[cfg(all(tokio_unstable, feature = \"taskdump\"))]\n                    \
               if let Some(ctx) = ctx.as_mut() {\n                        \
               std::task::ready!(crate::trace::trace_leaf(ctx));\n",
        replace: "                State::Done => {\n                    \
                  if let Some(ctx) = ctx.as_mut() {\n                        \
                  std::task::ready!(gmp_exec::bridge::trace_leaf(ctx));\n",
    },
    Edit {
        name: "blocking: the executor says whether a thread runs tasks",
        file: "src/runtime/context/blocking.rs",
        find: "if c.runtime.get().is_entered() {",
        replace: "if gmp_exec::bridge::is_entered() || c.runtime.get().is_entered() {",
    },
];

/// Applies `edits` to the package in `folder`.
///
/// # Errors
///
/// Fails at the first edit whose text isn't there exactly once, and when a file can't be read or
/// written.
pub fn apply_all<'a>(folder: &Path, edits: impl IntoIterator<Item = &'a Edit>) -> Result<(), EditError> {
    for edit in edits {
        let path = folder.join(edit.file);
        let edited = fs::read_to_string(&path)
            .map_err(Kind::File)
            .and_then(|text| edit.apply(&text))
            .and_then(|text| fs::write(&path, text).map_err(Kind::File));
        edited.map_err(|kind| EditError { name: edit.name, file: edit.file, kind })?;
    }
    Ok(())
}

impl Edit {
    fn apply(&self, text: &str) -> Result<String, Kind> {
        match text.matches(self.find).count() {
            1 => Ok(text.replacen(self.find, self.replace, 1)),
            count => Err(Kind::Matches(count)),
        }
    }
}

/// An edit could not be made.
#[derive(Debug)]
pub struct EditError {
    name: &'static str,
    file: &'static str,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Matches(usize),
    File(io::Error),
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the edit \"{}\" doesn't fit tokio {VERSION}: ", self.name)?;
        match &self.kind {
            Kind::Matches(count) => write!(f, "its text is {count} times in {}, not once", self.file),
            Kind::File(error) => write!(f, "{}: {error}", self.file),
        }
    }
}

impl error::Error for EditError {}

#[cfg(test)]
mod tests {
    use super::*;

    const EDIT: Edit = Edit { name: "a door", file: "lib.rs", find: "fn door", replace: "pub fn door" };

    fn apply(text: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(EDIT.file);
        fs::write(&file, text).unwrap();
        apply_all(folder.path(), [&EDIT]).map_err(|error| error.to_string())?;
        Ok(fs::read_to_string(file).unwrap())
    }

    #[test]
    fn an_edit_changes_its_text_and_nothing_else() {
        assert_eq!(apply("// a\nfn door() {}\n").unwrap(), "// a\npub fn door() {}\n");
    }

    #[test]
    fn an_edit_that_matches_never_or_twice_is_named_with_the_version() {
        let error = apply("fn wall() {}").unwrap_err();
        assert_eq!(error, "the edit \"a door\" doesn't fit tokio 1.54.1: its text is 0 times in lib.rs, not once");
        let error = apply("fn door() {} fn door() {}").unwrap_err();
        assert_eq!(error, "the edit \"a door\" doesn't fit tokio 1.54.1: its text is 2 times in lib.rs, not once");
    }

    #[test]
    fn a_missing_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = apply_all(folder.path(), [&EDIT]).unwrap_err().to_string();
        assert!(error.starts_with("the edit \"a door\" doesn't fit tokio 1.54.1: lib.rs: "), "{error}");
    }

    #[test]
    fn names_tell_edits_apart() {
        let mut names: Vec<_> = all().map(|edit| edit.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().count());
    }
}
