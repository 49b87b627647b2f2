//! Starting a child process.

use std::ffi::OsStr;
use std::future::Future;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, ExitStatus, Output, Stdio};

use super::{Child, exit, orphans};
use crate::reactor::Reactor;

/// A program to start, and how. Wraps the standard library's [`Command`](process::Command); waiting
/// for its children does not block.
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
#[doc(alias = "exec")]
pub struct Command {
    std: process::Command,
    kill_on_drop: bool,
}

impl Command {
    /// Prepares to start `program` without arguments, with this process's environment and working
    /// directory.
    ///
    /// By default the child inherits this process's standard input, output and error with `spawn`
    /// and `status`; `output` makes pipes of the latter two. A name without a slash is looked up in
    /// `PATH`.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::process::Command;
    ///
    /// assert!(Command::new("true").status().await?.success());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn new<S: AsRef<OsStr>>(program: S) -> Command {
        Command::from(process::Command::new(program))
    }

    /// The standard library's command inside, for reading.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::process::Command;
    ///
    /// let command = Command::new("ls");
    /// assert_eq!(command.as_std().get_program(), "ls");
    /// # std::io::Result::Ok(())
    /// ```
    pub fn as_std(&self) -> &process::Command {
        &self.std
    }

    /// The standard library's command inside, for changing.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::process::Command;
    ///
    /// let mut command = Command::new("ls");
    /// command.as_std_mut().arg("-l");
    /// assert_eq!(command.as_std().get_args().count(), 1);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn as_std_mut(&mut self) -> &mut process::Command {
        &mut self.std
    }

    /// The standard library's command, without [`kill_on_drop`](Command::kill_on_drop).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::process::Command;
    ///
    /// let mut command: std::process::Command = Command::new("true").into_std();
    /// assert!(command.status()?.success()); // blocks
    /// # std::io::Result::Ok(())
    /// ```
    pub fn into_std(self) -> process::Command {
        self.std
    }

    /// Adds an argument. No shell interprets it.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::process::Command;
    ///
    /// let output = Command::new("echo").arg("*").output().await?;
    /// assert_eq!(output.stdout, b"*\n", "no shell expands the star");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn arg<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Command {
        self.std.arg(arg);
        self
    }

    /// Adds several arguments.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::process::Command;
    ///
    /// let output = Command::new("echo").args(["one", "two"]).output().await?;
    /// assert_eq!(output.stdout, b"one two\n");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn args<I, S>(&mut self, args: I) -> &mut Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.std.args(args);
        self
    }

    /// Sets an environment variable.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::process::Command;
    ///
    /// let mut command = Command::new("sh");
    /// let output = command.args(["-c", "echo $NAME"]).env("NAME", "gopher").output().await?;
    /// assert_eq!(output.stdout, b"gopher\n");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn env<K, V>(&mut self, key: K, val: V) -> &mut Command
    where
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.std.env(key, val);
        self
    }

    /// Sets several environment variables.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::process::Command;
    ///
    /// let vars = [("A", "1"), ("B", "2")];
    /// let output = Command::new("sh").args(["-c", "echo $A$B"]).envs(vars).output().await?;
    /// assert_eq!(output.stdout, b"12\n");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn envs<I, K, V>(&mut self, vars: I) -> &mut Command
    where
        I: IntoIterator<Item = (K, V)>,
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.std.envs(vars);
        self
    }

    /// Removes an environment variable.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::process::Command;
    ///
    /// let mut command = Command::new("sh");
    /// let output = command.args(["-c", "echo $HOME"]).env_remove("HOME").output().await?;
    /// assert_eq!(output.stdout, b"\n");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn env_remove<K: AsRef<OsStr>>(&mut self, key: K) -> &mut Command {
        self.std.env_remove(key);
        self
    }

    /// Removes all environment variables, both inherited and set ones.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::process::Command;
    ///
    /// let output = Command::new("/usr/bin/env").env_clear().env("A", "1").output().await?;
    /// assert_eq!(output.stdout, b"A=1\n");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn env_clear(&mut self) -> &mut Command {
        self.std.env_clear();
        self
    }

    /// Sets the directory that the program starts in.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::process::Command;
    ///
    /// let output = Command::new("pwd").current_dir("/").output().await?;
    /// assert_eq!(output.stdout, b"/\n");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn current_dir<P: AsRef<Path>>(&mut self, dir: P) -> &mut Command {
        self.std.current_dir(dir);
        self
    }

    /// Sets the child's standard input.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use std::process::Stdio;
    ///
    /// use gmp_io::process::Command;
    ///
    /// let output = Command::new("cat").stdin(Stdio::null()).output().await?;
    /// assert!(output.stdout.is_empty());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn stdin<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        self.std.stdin(cfg);
        self
    }

    /// Sets the child's standard output.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use std::process::Stdio;
    ///
    /// use gmp_io::process::Command;
    ///
    /// let child = Command::new("echo").arg("hello").stdout(Stdio::piped()).spawn()?;
    /// assert_eq!(child.wait_with_output().await?.stdout, b"hello\n");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn stdout<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        self.std.stdout(cfg);
        self
    }

    /// Sets the child's standard error.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use std::process::Stdio;
    ///
    /// use gmp_io::process::Command;
    ///
    /// let mut command = Command::new("sh");
    /// let child = command.args(["-c", "echo oops >&2"]).stderr(Stdio::piped()).spawn()?;
    /// assert_eq!(child.wait_with_output().await?.stderr, b"oops\n");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn stderr<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        self.std.stderr(cfg);
        self
    }

    /// Sets whether the child is killed when its [`Child`], or the future of
    /// [`status`](Command::status) or [`output`](Command::output), is dropped before the child has
    /// exited. By default the child goes on.
    ///
    /// Either way the child does not stay behind as a zombie: see [the
    /// module](super#dropped-children).
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
    /// assert!(result.is_err(), "the child was killed");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn kill_on_drop(&mut self, kill_on_drop: bool) -> &mut Command {
        self.kill_on_drop = kill_on_drop;
        self
    }

    /// The value last set with [`kill_on_drop`](Command::kill_on_drop).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::process::Command;
    ///
    /// let mut command = Command::new("true");
    /// assert!(!command.get_kill_on_drop());
    /// assert!(command.kill_on_drop(true).get_kill_on_drop());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn get_kill_on_drop(&self) -> bool {
        self.kill_on_drop
    }

    /// Sets the user that the child runs as. Only a privileged process can choose.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::process::Command;
    ///
    /// let own = rustix::process::getuid().as_raw();
    /// let output = Command::new("id").arg("-u").uid(own).output().await?;
    /// assert_eq!(output.stdout, format!("{own}\n").into_bytes());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn uid(&mut self, id: u32) -> &mut Command {
        self.std.uid(id);
        self
    }

    /// Sets the group that the child runs as. Only a privileged process can choose.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::process::Command;
    ///
    /// let own = rustix::process::getgid().as_raw();
    /// let output = Command::new("id").arg("-g").gid(own).output().await?;
    /// assert_eq!(output.stdout, format!("{own}\n").into_bytes());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn gid(&mut self, id: u32) -> &mut Command {
        self.std.gid(id);
        self
    }

    /// Sets argument number 0, by convention the name of the program.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::process::Command;
    ///
    /// let output = Command::new("sh").arg0("my-shell").args(["-c", "echo $0"]).output().await?;
    /// assert_eq!(output.stdout, b"my-shell\n");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn arg0<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Command {
        self.std.arg0(arg);
        self
    }

    /// Sets the process group of the child; 0 makes the child the leader of a new group. Ctrl-C
    /// only reaches the process group in the foreground.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::process::Command;
    ///
    /// let mut child = Command::new("true").process_group(0).spawn()?;
    /// assert!(child.wait().await?.success());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn process_group(&mut self, pgroup: i32) -> &mut Command {
        self.std.process_group(pgroup);
        self
    }

    /// Starts the program.
    ///
    /// Blocks the thread until the program is loaded or has failed to, usually less than a
    /// millisecond.
    ///
    /// # Errors
    ///
    /// The program does not exist (`NotFound`) or can't be started, or the system has no processes
    /// (`WouldBlock`) or descriptors left. No child is left behind: if the program runs but its
    /// pipes can't be registered, it is killed.
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
        self.spawn_with(process::Command::spawn)
    }

    /// Starts the program by calling `start`, for what the standard library's
    /// [`Command`](process::Command) can do and this one can't.
    ///
    /// # Errors
    ///
    /// See [`spawn`](Self::spawn); also fails with the error of `start`.
    ///
    /// # Panics
    ///
    /// See [`spawn`](Self::spawn).
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::process::Command;
    ///
    /// let mut child = Command::new("true").spawn_with(|command| command.env("A", "b").spawn())?;
    /// assert!(child.wait().await?.success());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn spawn_with(
        &mut self,
        start: impl FnOnce(&mut process::Command) -> io::Result<process::Child>,
    ) -> io::Result<Child> {
        // Whatever can panic or fail comes first: afterwards there is a child to look after.
        exit::prepare(&*Reactor::current()?)?;
        orphans::prepare();
        let parent = gmp_exec::task::keep_thread();
        let child = gmp_exec::task::blocking(|| start(&mut self.std))?;
        Child::new(child, parent, self.kill_on_drop)
    }

    /// Starts the program, and waits until it has exited. Its pipes, if there are any, are closed
    /// at once.
    ///
    /// The program is started by this call, not by the first poll of the future.
    ///
    /// # Errors
    ///
    /// As for [`spawn`](Command::spawn) and [`wait`](Child::wait).
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
    /// let status = Command::new("sh").args(["-c", "exit 3"]).status().await?;
    /// assert_eq!(status.code(), Some(3));
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn status(&mut self) -> impl Future<Output = io::Result<ExitStatus>> + use<> {
        let child = self.spawn();
        async {
            let mut child = child?;
            drop((child.stdin.take(), child.stdout.take(), child.stderr.take()));
            child.wait().await
        }
    }

    /// Starts the program, waits until it has exited, and collects its standard output and error,
    /// which become pipes whatever they were set to.
    ///
    /// The program is started by this call, not by the first poll of the future.
    ///
    /// # Errors
    ///
    /// As for [`spawn`](Command::spawn) and [`wait_with_output`](Child::wait_with_output).
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
    /// let output = Command::new("sh").args(["-c", "echo out; echo err >&2"]).output().await?;
    /// assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"out\n"[..], &b"err\n"[..]));
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
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
