use std::ffi::OsStr;
use std::future::Future;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, ExitStatus, Output, Stdio};

use super::{Child, exit, orphans};
use crate::reactor::Reactor;

/// What to start, and how: the standard library's [`Command`](process::Command), whose children are waited for without
/// blocking.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// use gmp_io::process::Command;
///
/// let output = Command::new("echo").arg("hello").output().await?;
/// assert!(output.status.success());
/// assert_eq!(output.stdout, b"hello\n");
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct Command {
    std: process::Command,
    kill_on_drop: bool,
}

impl Command {
    /// Starts `program` without arguments, with this process' environment and working directory.
    ///
    /// `spawn` and `status` let it inherit this process' standard input, output and error; `output` pipes the latter two.
    /// A name without a slash is looked for in `PATH`.
    pub fn new<S: AsRef<OsStr>>(program: S) -> Command {
        Command::from(process::Command::new(program))
    }

    /// The standard library's command inside, to look at.
    pub fn as_std(&self) -> &process::Command {
        &self.std
    }

    /// The standard library's command inside, to change.
    pub fn as_std_mut(&mut self) -> &mut process::Command {
        &mut self.std
    }

    /// The standard library's command, without [`kill_on_drop`](Command::kill_on_drop).
    pub fn into_std(self) -> process::Command {
        self.std
    }

    /// Adds an argument, which no shell looks at.
    pub fn arg<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Command {
        self.std.arg(arg);
        self
    }

    /// Adds several arguments.
    pub fn args<I, S>(&mut self, args: I) -> &mut Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.std.args(args);
        self
    }

    /// Sets an environment variable.
    pub fn env<K, V>(&mut self, key: K, val: V) -> &mut Command
    where
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.std.env(key, val);
        self
    }

    /// Sets several environment variables.
    pub fn envs<I, K, V>(&mut self, vars: I) -> &mut Command
    where
        I: IntoIterator<Item = (K, V)>,
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.std.envs(vars);
        self
    }

    /// Takes an environment variable away.
    pub fn env_remove<K: AsRef<OsStr>>(&mut self, key: K) -> &mut Command {
        self.std.env_remove(key);
        self
    }

    /// Takes all environment variables away, inherited and set ones.
    pub fn env_clear(&mut self) -> &mut Command {
        self.std.env_clear();
        self
    }

    /// Sets the directory that the program starts in.
    pub fn current_dir<P: AsRef<Path>>(&mut self, dir: P) -> &mut Command {
        self.std.current_dir(dir);
        self
    }

    /// Sets what the standard input is connected to.
    pub fn stdin<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        self.std.stdin(cfg);
        self
    }

    /// Sets what the standard output is connected to.
    pub fn stdout<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        self.std.stdout(cfg);
        self
    }

    /// Sets what the standard error is connected to.
    pub fn stderr<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        self.std.stderr(cfg);
        self
    }

    /// Sets whether the child is killed when its [`Child`], or the future of [`status`](Command::status) or
    /// [`output`](Command::output), is dropped before it has exited. By default it goes on.
    ///
    /// Either way it does not stay behind as a zombie: see [the module](super#what-becomes-of-a-child-that-nobody-waits-for).
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # use std::time::Duration;
    /// use gmp_io::process::Command;
    ///
    /// let sleep = Command::new("sleep").arg("1000").kill_on_drop(true).status();
    /// let result = gmp_exec::time::timeout(Duration::from_millis(10), sleep).await;
    /// assert!(result.is_err(), "and nobody sleeps any more");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn kill_on_drop(&mut self, kill_on_drop: bool) -> &mut Command {
        self.kill_on_drop = kill_on_drop;
        self
    }

    /// What was last set with [`kill_on_drop`](Command::kill_on_drop).
    pub fn get_kill_on_drop(&self) -> bool {
        self.kill_on_drop
    }

    /// Sets the user that the child runs as. Only a privileged process may choose.
    pub fn uid(&mut self, id: u32) -> &mut Command {
        self.std.uid(id);
        self
    }

    /// Sets the group that the child runs as. Only a privileged process may choose.
    pub fn gid(&mut self, id: u32) -> &mut Command {
        self.std.gid(id);
        self
    }

    /// Sets what the program is told it is called, its argument number 0.
    pub fn arg0<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Command {
        self.std.arg0(arg);
        self
    }

    /// Sets the process group of the child; 0 makes it the first of a new one. A group does not get the Ctrl-C of another.
    pub fn process_group(&mut self, pgroup: i32) -> &mut Command {
        self.std.process_group(pgroup);
        self
    }

    /// Starts the program.
    ///
    /// The thread is blocked until the program is loaded or could not be, usually less than a millisecond.
    ///
    /// # Errors
    ///
    /// The program isn't there (`NotFound`) or can't be started, or the system has no processes (`WouldBlock`) or
    /// descriptors left. No child is left behind: if the program runs and its pipes can't be registered, it is killed.
    ///
    /// # Panics
    ///
    /// If there is no current runtime, or if its I/O is not enabled.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::process::Command;
    ///
    /// let mut child = Command::new("sh").args(["-c", "exit 7"]).spawn()?;
    /// assert_eq!(child.wait().await?.code(), Some(7));
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn spawn(&mut self) -> io::Result<Child> {
        // First whatever can panic or run out: afterwards there is a child to look after.
        exit::prepare(&*Reactor::current()?)?;
        orphans::prepare()?;
        let parent = gmp_exec::task::keep_thread();
        let child = gmp_exec::task::blocking(|| self.std.spawn())?;
        Child::new(child, parent, self.kill_on_drop)
    }

    /// Starts the program, and waits until it has exited. Pipes, if there are any, are closed at once.
    ///
    /// The program is started by this call, not by the first poll of the future.
    ///
    /// # Errors
    ///
    /// As for [`spawn`](Command::spawn), and of [`wait`](Child::wait).
    ///
    /// # Panics
    ///
    /// If there is no current runtime, or if its I/O is not enabled.
    #[track_caller]
    pub fn status(&mut self) -> impl Future<Output = io::Result<ExitStatus>> + use<> {
        let child = self.spawn();
        async {
            let mut child = child?;
            drop((child.stdin.take(), child.stdout.take(), child.stderr.take()));
            child.wait().await
        }
    }

    /// Starts the program, waits until it has exited, and collects what it writes to its standard output and error, which
    /// become pipes whatever they were set to.
    ///
    /// The program is started by this call, not by the first poll of the future.
    ///
    /// # Errors
    ///
    /// As for [`spawn`](Command::spawn), and of [`wait_with_output`](Child::wait_with_output).
    ///
    /// # Panics
    ///
    /// If there is no current runtime, or if its I/O is not enabled.
    #[track_caller]
    pub fn output(&mut self) -> impl Future<Output = io::Result<Output>> + use<> {
        self.std.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = self.spawn();
        async { child?.wait_with_output().await }
    }
}

impl From<process::Command> for Command {
    fn from(std: process::Command) -> Command {
        Command { std, kill_on_drop: false }
    }
}
