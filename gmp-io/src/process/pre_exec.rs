#![allow(unsafe_code, reason = "passes on an unsafe method of the standard library, whose contract is the caller's")]

use std::io;
use std::os::unix::process::CommandExt;

use super::Command;

impl Command {
    /// Runs `f` in the child, after the fork and before the program.
    ///
    /// As [the standard library's](CommandExt::pre_exec). An error of `f` becomes the error of
    /// [`spawn`](Command::spawn).
    ///
    /// # Safety
    ///
    /// `f` runs in a copy of this process that has only one thread, in which other threads' locks stay locked for ever: it
    /// must not allocate, lock anything, or do anything else that is not async-signal-safe. No runtime works in there.
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
        // SAFETY: the caller vouches for `f` as the standard library asks for it.
        unsafe { self.as_std_mut().pre_exec(f) };
        self
    }
}
