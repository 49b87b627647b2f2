//! The attribute macros of `gmp-exec`: [`macro@main`] and [`macro@test`].
//!
//! Use them through `gmp_exec`, which exports both. They turn an `async fn` into an ordinary
//! function that builds a runtime and blocks on the body. The body's tokens keep their spans, so
//! the compiler's errors about the body point into it.
//!
//! A misuse is reported at the option or keyword that is wrong, with the values that are allowed
//! there. The function is still expanded, to one that never runs, so that one mistake doesn't make
//! the compiler report others.

#![forbid(unsafe_code)]

mod expand;
mod flavor;
mod item;
mod leaks;
mod limit;
mod options;

use proc_macro::TokenStream;

use crate::expand::expand;
use crate::flavor::Attribute;

/// Runs an `async fn` on a new runtime, and returns what it returns.
///
/// Most programs apply it to `main`. It can be applied to any other `async fn`, which then makes a
/// runtime of its own for each call. The body runs in `Runtime::block_on`, on the calling thread,
/// and not as a task: work that should be scheduled like all other tasks needs `gmp_exec::spawn`.
///
/// # Options
///
/// * `flavor`: `"multi_thread"` or `"current_thread"`. Default: `"multi_thread"`.
/// * `worker_threads`: the number of Ps, a whole number from 1. Only with `"multi_thread"`.
///   Default: as many as the process may use CPUs, see `runtime::Builder::worker_threads`.
/// * `start_paused`: `true` or `false`, whether the clock starts paused. Only with
///   `"current_thread"`. Default: `false`.
/// * `leaks`: `"off"`, `"warn"` or `"deny"`, what happens at the end if tasks can never run again;
///   see `runtime::Builder::leaks`. Default: what the variable `GMP_LEAKS` says, and without it
///   `"off"`.
/// * `deadlock_after`: seconds up to 86400, as a number or a string, or `"off"`; after which time
///   without any event the function panics; see `runtime::Builder::deadlock_after`. Default: what
///   the variable `GMP_DEADLOCK_AFTER` says, and without it `"off"`.
/// * `crate`: a string with the path of `gmp_exec`, if the crate has another name. Default:
///   `"::gmp_exec"`.
///
/// # Panics
///
/// The function panics if the runtime can't be built.
///
/// # Examples
///
/// ```
/// #[gmp_exec::main]
/// async fn main() {
///     let answer = gmp_exec::spawn(async { 6 * 7 }).await.unwrap();
///     assert_eq!(answer, 42);
/// }
/// ```
///
/// is short for
///
/// ```
/// fn main() {
///     gmp_exec::runtime::Builder::new_multi_thread()
///         .enable_all()
///         .build()
///         .expect("Failed building the Runtime")
///         .block_on(async {
///             let answer = gmp_exec::spawn(async { 6 * 7 }).await.unwrap();
///             assert_eq!(answer, 42);
///         })
/// }
/// ```
///
/// With two Ps, and with errors passed on:
///
/// ```
/// #[gmp_exec::main(flavor = "multi_thread", worker_threads = 2)]
/// async fn main() -> Result<(), std::num::ParseIntError> {
///     let port: u16 = "8080".parse()?;
///     assert_eq!(port, 8080);
///     Ok(())
/// }
/// ```
#[allow(clippy::needless_doctest_main, reason = "`fn main` is what the example shows")]
#[proc_macro_attribute]
pub fn main(options: TokenStream, item: TokenStream) -> TokenStream {
    expand(Attribute::Main, options.into(), item.into()).into()
}

/// Makes a test of an `async fn`: the test runs it on a new runtime.
///
/// The options are those of [`macro@main`], but the default flavor is `"current_thread"`, because
/// tests already run in parallel and needn't start further threads. And the default of `leaks` is
/// `"warn"`, unless `GMP_LEAKS` says otherwise: tasks that can never run again are printed at the
/// end of the test. `cargo test` shows the output of a test that fails, and with `-- --show-output`
/// that of all tests. The default of `deadlock_after` is 60 seconds, unless `GMP_DEADLOCK_AFTER`
/// says otherwise or leaks are off.
///
/// There is one more option, with gmp-exec's feature `seeded` on Linux with glibc:
///
/// * `seeds`: a whole number from 1; the test runs under so many seeds, each in a process of its
///   own, in which all that a run leaves to chance follows from the seed (docs/seeded.md). The seeds
///   are 1, 2 and so on, the same each time. Those that `cargo gmp test --seeds` has kept for the
///   test in `gmp-seeds.txt` come first. A run may take 60 s. In a process that runs under a seed
///   already (`GMP_SEED`), the test runs once. A test that should panic can't have seeds.
///   Without the drop-in, tasks don't yield inside tokio's locks and channels, whose budget gmp does
///   not know: code that uses these is better tested with `cargo gmp test --seeds`.
///
/// # Panics
///
/// The test panics, and so fails, if the runtime can't be built, if tasks can never run again and
/// `leaks` is `"deny"`, or if nothing happens for as long as `deadlock_after` says. With `seeds` it
/// panics at the first seed under which it fails, and names the seed and the command that runs it
/// again.
///
/// # Examples
///
/// ```no_run
/// #[gmp_exec::test]
/// async fn spawned_tasks_are_joined() {
///     assert_eq!(gmp_exec::spawn(async { 1 }).await.unwrap(), 1);
/// }
///
/// #[gmp_exec::test(start_paused = true)]
/// async fn a_paused_clock_does_not_make_the_test_wait() {
///     gmp_exec::time::sleep(std::time::Duration::from_secs(3600)).await;
/// }
///
/// #[gmp_exec::test(flavor = "multi_thread", worker_threads = 4, leaks = "deny")]
/// async fn four_processors_and_no_task_that_was_forgotten() {}
///
/// #[gmp_exec::test(deadlock_after = 0.5)]
/// async fn two_tasks_that_may_wait_for_each_other() {}
///
/// #[gmp_exec::test(flavor = "multi_thread", seeds = 100)]
/// async fn no_order_of_tasks_and_threads_breaks_it() {}
/// ```
#[proc_macro_attribute]
pub fn test(options: TokenStream, item: TokenStream) -> TokenStream {
    expand(Attribute::Test, options.into(), item.into()).into()
}
