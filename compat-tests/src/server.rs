//! Real servers for the tests: started on a free port with an empty directory, and stopped when the
//! last test drops its reference.
//!
//! All tests of a crate that run at the same time share one server. Another process may take a port
//! that was free a moment ago, so a server that ends at once is started again on another port.

use std::fs::Permissions;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::DEADLINE;

/// A running server. Dropping it stops the server and removes its directory.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    process: Child,
    /// Removed last: the server writes to the directory until it has ended.
    directory: tempfile::TempDir,
}

impl Server {
    /// The server's address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The server's directory, with the log in it.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The server's output so far.
    pub fn log(&self) -> String {
        log_in(self.directory())
    }

    /// Whether the server has a handler for Ctrl-C by now; before that, the signal just kills the
    /// server. Linux only.
    pub fn catches_interrupt(&self) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let caught = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigCgt:")?.trim(), 16).ok());
        caught.is_some_and(|caught| caught & (1 << (Signal::INT.as_raw() - 1)) != 0)
    }

    /// Interrupts the server, as Ctrl-C does, and waits for its end.
    ///
    /// # Errors
    ///
    /// The signal can't be sent, or the server doesn't end.
    pub fn interrupt(&mut self) -> io::Result<ExitStatus> {
        kill_process(Pid::from_child(&self.process), Signal::INT)?;
        let start = Instant::now();
        while start.elapsed() < DEADLINE / 4 {
            if let Some(status) = self.process.try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "it goes on after the interrupt"))
    }

    /// Starts the command that `command` returns for a port and an empty directory, and waits until
    /// its output contains `ready`: a server may accept connections before that, only to refuse
    /// them.
    ///
    /// # Panics
    ///
    /// Panics if the server can't be started, or ends each time.
    pub fn start(ready: &str, prepare: impl Fn(&Path), command: impl Fn(u16, &Path) -> Command) -> Server {
        let directory = tempfile::tempdir().expect("a directory");
        prepare(directory.path());
        let command_for = |port| {
            let mut command = command(port, directory.path());
            let log = std::fs::File::create(directory.path().join("log")).expect("a log");
            command.stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log);
            command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}; setup.sh installs it"))
        };
        let log = || log_in(directory.path());
        for _ in 0..5 {
            let address = free_address();
            let mut process = command_for(address.port());
            if is_ready(&mut process, || log().contains(ready)) {
                return Server { address, process, directory };
            }
        }
        panic!("the server does not start: {}", log());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Databases shut down fast on an interrupt: connections are cut, and unsaved data may be
        // lost.
        if self.process.try_wait().is_ok_and(|status| status.is_none()) && self.interrupt().is_err() {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}

fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    listener.local_addr().expect("an address")
}

fn log_in(directory: &Path) -> String {
    std::fs::read_to_string(directory.join("log")).unwrap_or_default()
}

/// Waits until the server is ready; `false` means that it has ended.
fn is_ready(process: &mut Child, says_so: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < DEADLINE && process.try_wait().expect("our child").is_none() {
        if says_so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = process.kill();
    let _ = process.wait();
    false
}

/// The shared server if it is running, or a new one.
fn shared(running: &Mutex<Weak<Server>>, start: impl FnOnce() -> Server) -> Arc<Server> {
    // A start that panicked has changed nothing.
    let mut running = running.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    running.upgrade().unwrap_or_else(|| {
        let server = Arc::new(start());
        *running = Arc::downgrade(&server);
        server
    })
}

/// The message of both databases when they are ready, without its first letter: one of them writes
/// a capital.
const DATABASE_IS_READY: &str = "eady to accept connections";

/// Starts or shares a Redis server without a password.
///
/// # Panics
///
/// Panics if the server does not start.
pub fn redis() -> Arc<Server> {
    static RUNNING: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    shared(&RUNNING, || {
        Server::start(
            DATABASE_IS_READY,
            |_| {},
            |port, directory| {
                let mut command = Command::new("redis-server");
                command.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port", &port.to_string()]);
                command.arg("--dir").arg(directory);
                command
            },
        )
    })
}

/// Starts or shares a NATS server without a password.
///
/// # Panics
///
/// If the server does not start.
pub fn nats() -> Arc<Server> {
    static RUNNING: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    shared(&RUNNING, || {
        Server::start(
            "Server is ready",
            |_| {},
            |port, _| {
                let mut command = Command::new("nats-server");
                command.args(["--addr", "127.0.0.1", "--port", &port.to_string()]);
                command
            },
        )
    })
}

/// The password of PostgreSQL's superuser, which the server asks for over TCP.
pub const PASSWORD: &str = "burrow";

/// Starts or shares a PostgreSQL server with the superuser `gopher` and the database `postgres`.
///
/// # Panics
///
/// Panics if the server does not start.
pub fn postgres() -> Arc<Server> {
    static RUNNING: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    shared(&RUNNING, || Server::start(DATABASE_IS_READY, create_cluster, postgres_server))
}

fn create_cluster(directory: &Path) {
    let password = directory.join("password");
    std::fs::write(&password, PASSWORD).expect("written");
    if let Some((uid, gid)) = unprivileged(directory) {
        for path in [directory, &password] {
            chown(path, Some(uid), Some(gid)).expect("we are root");
        }
    }
    std::fs::set_permissions(directory, Permissions::from_mode(0o700)).expect("it is ours");
    let mut command = Command::new(postgres_program("initdb"));
    command.args(["--username=gopher", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"]);
    command.arg("--pwfile").arg(&password).arg("-D").arg(directory.join("data"));
    let output = as_nobody_special(&mut command, directory).output().expect("initdb; setup.sh installs it");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn postgres_server(port: u16, directory: &Path) -> Command {
    let mut command = Command::new(postgres_program("postgres"));
    command.arg("-D").arg(directory.join("data")).args(["-p", &port.to_string()]);
    command.args(["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "unix_socket_directories="]);
    as_nobody_special(&mut command, directory);
    command
}

/// PostgreSQL refuses to run as root.
fn as_nobody_special<'a>(command: &'a mut Command, directory: &Path) -> &'a mut Command {
    if let Some((uid, gid)) = unprivileged(directory) {
        command.uid(uid).gid(gid);
    }
    command.current_dir(directory)
}

/// The user and group for the server, if this process is root (and so owns the directory that it
/// created) or already has that user.
fn unprivileged(directory: &Path) -> Option<(u32, u32)> {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let user = users.lines().find_map(|line| line.strip_prefix("postgres:")).map(|rest| {
        let mut fields = rest.split(':').skip(1).map(|field| field.parse::<u32>().expect("a number"));
        (fields.next().expect("a user"), fields.next().expect("a group"))
    });
    let owner = std::fs::metadata(directory).expect("our directory").uid();
    user.filter(|(uid, _)| owner == 0 || owner == *uid)
}

/// Debian keeps the server's programs out of the path, in one directory per version.
fn postgres_program(name: &str) -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions.map(|version| version.path().join("bin").join(name)).filter(|path| path.exists()).max();
    newest.unwrap_or_else(|| name.into())
}
