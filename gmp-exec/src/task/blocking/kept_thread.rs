//! Keeping threads to which the operating system has tied a resource.

use crate::context;
use crate::sched::state::machine::Machine;
use crate::sync::Arc;

/// Keeps the thread that called [`keep_thread`].
#[derive(Debug)]
#[must_use = "the thread is kept until this is dropped"]
pub struct KeptThread(Option<Arc<Machine>>);

/// Prevents this thread, if it is a runtime's, from ending for lack of work until the returned
/// value is dropped.
///
/// For resources that the system ties to the thread that made them. On Linux, a child process that
/// has asked for it (`PR_SET_PDEATHSIG`) gets a signal when the thread that started the child ends,
/// and not when the process ends.
///
/// When the runtime shuts down, it ends the thread nevertheless. For a thread that the runtime did
/// not start, such as the one inside `block_on`, this function does nothing.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// let thread = gmp_exec::task::keep_thread();
/// let mut child = std::process::Command::new("true").spawn().unwrap();
/// child.wait().unwrap();
/// drop(thread);
/// # });
/// ```
pub fn keep_thread() -> KeptThread {
    let machine = context::with_machine(|local| local.map(|local| local.machine.clone()));
    KeptThread(machine.inspect(|machine| machine.keep()))
}

impl Drop for KeptThread {
    fn drop(&mut self) {
        if let Some(machine) = &self.0 {
            machine.let_go();
        }
    }
}
