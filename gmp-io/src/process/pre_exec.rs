//! Running code in a child before its program.

#![allow(unsafe_code, reason = "passes on an unsafe method of the standard library, whose contract is the caller's")]

use std::io;
use std::os::unix::process::CommandExt;

use super::Command;

impl Command {
    /// Runs `f` in the child, after the fork and before the program is loaded.
    ///
    /// As the [standard library's method](CommandExt::pre_exec). An error of `f` becomes the error
    /// of [`spawn`](Command::spawn).
    ///
    /// # Safety
    ///
    /// `f` runs in a copy of this process with only one thread, in which locks of other threads
    /// stay locked: `f` must not allocate, lock, or do anything else that is not async-signal-safe.
    /// No runtime works there.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::process::Command;
    ///
    /// let mut command = Command::new("true");
    /// // SAFETY: the closure does nothing but make a value.
    /// unsafe { command.pre_exec(|| Err(std::io::ErrorKind::PermissionDenied.into())) };
    /// assert_eq!(command.status().await.unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub unsafe fn pre_exec<F>(&mut self, f: F) -> &mut Command
    where
        F: FnMut() -> io::Result<()> + Send + Sync + 'static,
    {
        // SAFETY: the caller promises what the standard library requires of `f`.
        unsafe { self.as_std_mut().pre_exec(f) };
        self
    }
}
