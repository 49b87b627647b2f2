//! The system call in which a thread sleeps (`/proc/self/task/TID/syscall`, proc_pid_syscall(5)),
//! which a process may read of its own threads without privileges.

use std::io;

use crate::sys::thread_state::ThreadId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SystemCall {
    pub(crate) number: i64,
    /// The descriptor in its first argument, if it has one there.
    pub(crate) descriptor: Option<i32>,
}

/// Where a thread sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sleep {
    /// `None`: elsewhere, on a page, say.
    pub(crate) call: Option<SystemCall>,
    pub(crate) stack_pointer: u64,
    pub(crate) program_counter: u64,
}

impl Sleep {
    /// `None`: the thread does not sleep.
    ///
    /// # Errors
    ///
    /// If the kernel does not say: there is no /proc, or the process has dropped its privileges.
    #[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
    pub(crate) fn of(thread: ThreadId) -> io::Result<Option<Sleep>> {
        // Nine numbers of at most 20 characters.
        let mut text = [0; 256];
        Ok(parse(thread.read("syscall", &mut text)?))
    }

    #[cfg(not(all(target_os = "linux", not(any(loom, shuttle)))))]
    pub(crate) fn of(_: ThreadId) -> io::Result<Option<Sleep>> {
        Ok(None)
    }
}

impl SystemCall {
    /// The name of a system call in which threads are known to sleep.
    pub(crate) fn name(self) -> Option<&'static str> {
        entry(self.number).map(|(_, name, _)| *name)
    }
}

/// What a descriptor of this process refers to: a path, or `pipe:[4711]`.
pub(crate) fn target(descriptor: i32) -> Option<String> {
    let link = std::fs::read_link(format!("/proc/self/fd/{descriptor}")).ok()?;
    Some(link.to_string_lossy().into_owned())
}

#[cfg_attr(any(loom, shuttle, not(target_os = "linux")), expect(dead_code, reason = "read on Linux only"))]
fn parse(text: &[u8]) -> Option<Sleep> {
    // "running" for a thread on a core, -1 for one that sleeps outside of a system call.
    let mut words = std::str::from_utf8(text).ok()?.split_ascii_whitespace();
    let number: i64 = words.next()?.parse().ok()?;
    let numbers: Vec<u64> = words.map_while(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()).collect();
    let (&[.., stack_pointer, program_counter], Some(&first)) = (numbers.as_slice(), numbers.first()) else {
        return None;
    };
    let has_descriptor = entry(number).is_some_and(|(.., takes)| *takes == DESCRIPTOR);
    // The register is wider than the argument.
    let call = SystemCall { number, descriptor: has_descriptor.then_some(first as i32) };
    Some(Sleep { call: (number >= 0).then_some(call), stack_pointer, program_counter })
}

/// Whether the first argument is a descriptor.
const DESCRIPTOR: bool = true;
const OTHER: bool = false;

type Entry = (i64, &'static str, bool);

fn entry(number: i64) -> Option<&'static Entry> {
    CALLS.iter().chain(OLD_CALLS).find(|(known, ..)| *known == number)
}

macro_rules! calls {
    ($($constant:ident $name:literal $takes:expr),* $(,)?) => { &[$((libc::$constant as i64, $name, $takes)),*] };
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
const CALLS: &[Entry] = calls![
    SYS_read "read" DESCRIPTOR,
    SYS_write "write" DESCRIPTOR,
    SYS_readv "readv" DESCRIPTOR,
    SYS_writev "writev" DESCRIPTOR,
    SYS_pread64 "pread64" DESCRIPTOR,
    SYS_pwrite64 "pwrite64" DESCRIPTOR,
    SYS_preadv "preadv" DESCRIPTOR,
    SYS_pwritev "pwritev" DESCRIPTOR,
    SYS_splice "splice" DESCRIPTOR,
    SYS_copy_file_range "copy_file_range" DESCRIPTOR,
    SYS_connect "connect" DESCRIPTOR,
    SYS_accept "accept" DESCRIPTOR,
    SYS_accept4 "accept4" DESCRIPTOR,
    SYS_recvfrom "recvfrom" DESCRIPTOR,
    SYS_recvmsg "recvmsg" DESCRIPTOR,
    SYS_recvmmsg "recvmmsg" DESCRIPTOR,
    SYS_sendto "sendto" DESCRIPTOR,
    SYS_sendmsg "sendmsg" DESCRIPTOR,
    SYS_sendmmsg "sendmmsg" DESCRIPTOR,
    SYS_fsync "fsync" DESCRIPTOR,
    SYS_fdatasync "fdatasync" DESCRIPTOR,
    SYS_ftruncate "ftruncate" DESCRIPTOR,
    SYS_fallocate "fallocate" DESCRIPTOR,
    SYS_flock "flock" DESCRIPTOR,
    SYS_fcntl "fcntl" DESCRIPTOR,
    SYS_ioctl "ioctl" DESCRIPTOR,
    SYS_getdents64 "getdents64" DESCRIPTOR,
    SYS_epoll_pwait "epoll_pwait" DESCRIPTOR,
    SYS_ppoll "ppoll" OTHER,
    SYS_pselect6 "pselect6" OTHER,
    SYS_futex "futex" OTHER,
    SYS_nanosleep "nanosleep" OTHER,
    SYS_clock_nanosleep "clock_nanosleep" OTHER,
    SYS_wait4 "wait4" OTHER,
    SYS_waitid "waitid" OTHER,
    SYS_rt_sigtimedwait "rt_sigtimedwait" OTHER,
    SYS_rt_sigsuspend "rt_sigsuspend" OTHER,
    SYS_openat "openat" OTHER,
    SYS_newfstatat "newfstatat" OTHER,
    SYS_statx "statx" OTHER,
    SYS_mkdirat "mkdirat" OTHER,
    SYS_unlinkat "unlinkat" OTHER,
    SYS_renameat2 "renameat2" OTHER,
    SYS_sync "sync" OTHER,
    SYS_msync "msync" OTHER,
    SYS_mmap "mmap" OTHER,
    SYS_munmap "munmap" OTHER,
    SYS_madvise "madvise" OTHER,
    SYS_getrandom "getrandom" OTHER,
    SYS_semtimedop "semtimedop" OTHER,
    SYS_msgrcv "msgrcv" OTHER,
    SYS_mq_timedreceive "mq_timedreceive" OTHER,
];

/// Elsewhere a system call has its number only.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
const CALLS: &[Entry] = calls![];

/// Those that newer architectures do without.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const OLD_CALLS: &[Entry] = calls![
    SYS_sendfile "sendfile" DESCRIPTOR,
    SYS_poll "poll" OTHER,
    SYS_select "select" OTHER,
    SYS_epoll_wait "epoll_wait" DESCRIPTOR,
    SYS_pause "pause" OTHER,
    SYS_open "open" OTHER,
    SYS_stat "stat" OTHER,
    SYS_mkdir "mkdir" OTHER,
    SYS_unlink "unlink" OTHER,
    SYS_rename "rename" OTHER,
];

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
const OLD_CALLS: &[Entry] = calls![];

#[cfg(all(test, target_os = "linux", not(any(loom, shuttle))))]
mod tests {
    use std::io::Read;
    use std::process::{Command, Stdio};
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    use super::{Sleep, SystemCall, parse, target};
    use crate::sys::thread_state::ThreadId;

    #[test]
    fn the_text_is_a_number_and_arguments_in_hexadecimal() {
        let sleep = |call| Some(Sleep { call, stack_pointer: 0x7ffc, program_counter: 0x7f01 });
        let read = format!("{} 0x9 0x7ffc00 0x1 0x0 0x0 0x0 0x7ffc 0x7f01\n", libc::SYS_read);
        let call = SystemCall { number: libc::SYS_read, descriptor: Some(9) };
        assert_eq!(parse(read.as_bytes()), sleep(Some(call)));
        let futex = format!("{} 0x9 0x7ffc00 0x1 0x0 0x0 0x0 0x7ffc 0x7f01\n", libc::SYS_futex);
        let call = SystemCall { number: libc::SYS_futex, descriptor: None };
        assert_eq!(parse(futex.as_bytes()), sleep(Some(call)));
        assert_eq!(parse(b"-1 0x7ffc 0x7f01\n"), sleep(None));
        for text in ["running\n", "", "7", "7 9", "7 0x9"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_thread_that_reads_from_a_pipe_is_seen_in_read() {
        let mut cat = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut reader = cat.stdout.take().unwrap();
        let (send, receive) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            send.send(ThreadId::of_current_thread().unwrap()).unwrap();
            reader.read(&mut [0]).unwrap()
        });
        let id = receive.recv().unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let call = loop {
            assert!(Instant::now() < deadline, "the thread does not read");
            match Sleep::of(id).unwrap().and_then(|sleep| sleep.call) {
                Some(call) if call.number == libc::SYS_read => break call,
                _ => std::thread::yield_now(),
            }
        };
        assert_eq!(call.name(), Some("read"));
        assert!(target(call.descriptor.unwrap()).unwrap().starts_with("pipe:["));
        drop(cat.stdin.take());
        assert_eq!(thread.join().unwrap(), 0);
        assert!(cat.wait().unwrap().success());
    }
}
