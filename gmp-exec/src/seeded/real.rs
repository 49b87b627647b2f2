//! The C library's own functions, behind those that [`interposed`](super::interposed) puts in their
//! place.
#![allow(unsafe_code, reason = "calls the C library")]

use std::ffi::{CStr, c_int, c_long, c_ulong, c_void};
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::*;

/// Defines functions that call the C library's of the same name.
macro_rules! real {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        /// # Safety
        ///
        /// As for the function of the C library.
        pub(super) unsafe fn $name($($argument: $type),*) -> $result {
            static FUNCTION: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
            let name = const { with_end(concat!(stringify!($name), "\0")) };
            let function = find(&FUNCTION, name);
            // SAFETY: the C library's function has this signature.
            let function: unsafe extern "C" fn($($type),*) -> $result = unsafe { std::mem::transmute(function) };
            // SAFETY: the caller vouches for the arguments.
            unsafe { function($($argument),*) }
        }
    )*};
}

real! {
    syscall(n: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long;
    clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> c_int;
    getrandom(buffer: *mut u8, length: usize, flags: u32) -> isize;
    nanosleep(time: *const libc::timespec, rest: *mut libc::timespec) -> c_int;
    clock_nanosleep(clock: libc::clockid_t, flags: c_int, time: *const libc::timespec, rest: *mut libc::timespec) -> c_int;
    timerfd_create(clock: c_int, flags: c_int) -> c_int;
    sched_yield() -> c_int;
    pthread_create(
        handle: *mut libc::pthread_t,
        attributes: *const libc::pthread_attr_t,
        body: extern "C" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void
    ) -> c_int;
    pthread_join(handle: libc::pthread_t, result: *mut *mut c_void) -> c_int;
    epoll_wait(epoll: c_int, events: *mut libc::epoll_event, most: c_int, timeout: c_int) -> c_int;
    poll(fds: *mut libc::pollfd, count: libc::nfds_t, timeout: c_int) -> c_int;
    read(fd: c_int, buffer: *mut c_void, length: usize) -> isize;
    recv(fd: c_int, buffer: *mut c_void, length: usize, flags: c_int) -> isize;
    recvfrom(
        fd: c_int,
        buffer: *mut c_void,
        length: usize,
        flags: c_int,
        address: *mut libc::sockaddr,
        address_length: *mut libc::socklen_t
    ) -> isize;
    readv(fd: c_int, buffers: *const libc::iovec, count: c_int) -> isize;
    recvmsg(fd: c_int, message: *mut libc::msghdr, flags: c_int) -> isize;
    write(fd: c_int, buffer: *const c_void, length: usize) -> isize;
    writev(fd: c_int, buffers: *const libc::iovec, count: c_int) -> isize;
    send(fd: c_int, buffer: *const c_void, length: usize, flags: c_int) -> isize;
    sendto(
        fd: c_int,
        buffer: *const c_void,
        length: usize,
        flags: c_int,
        address: *const libc::sockaddr,
        address_length: libc::socklen_t
    ) -> isize;
    sendmsg(fd: c_int, message: *const libc::msghdr, flags: c_int) -> isize;
    select(
        count: c_int,
        readable: *mut libc::fd_set,
        writable: *mut libc::fd_set,
        exceptional: *mut libc::fd_set,
        timeout: *mut libc::timeval
    ) -> c_int;
    accept4(fd: c_int, address: *mut libc::sockaddr, length: *mut libc::socklen_t, flags: c_int) -> c_int;
    connect(fd: c_int, address: *const libc::sockaddr, length: libc::socklen_t) -> c_int;
    accept(fd: c_int, address: *mut libc::sockaddr, length: *mut libc::socklen_t) -> c_int;
    socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    bind(fd: c_int, address: *const libc::sockaddr, length: libc::socklen_t) -> c_int;
    listen(fd: c_int, backlog: c_int) -> c_int;
    getsockname(fd: c_int, address: *mut libc::sockaddr, length: *mut libc::socklen_t) -> c_int;
    getpeername(fd: c_int, address: *mut libc::sockaddr, length: *mut libc::socklen_t) -> c_int;
    getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void, length: *mut libc::socklen_t) -> c_int;
    setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void, length: libc::socklen_t) -> c_int;
    getaddrinfo(
        host: *const libc::c_char,
        service: *const libc::c_char,
        hints: *const libc::addrinfo,
        found: *mut *mut libc::addrinfo
    ) -> c_int;
    recvmmsg(
        fd: c_int,
        messages: *mut libc::mmsghdr,
        count: u32,
        flags: c_int,
        timeout: *mut libc::timespec
    ) -> c_int;
    sendmmsg(fd: c_int, messages: *mut libc::mmsghdr, count: u32, flags: c_int) -> c_int;
    ppoll(fds: *mut libc::pollfd, count: libc::nfds_t, limit: *const libc::timespec, mask: *const libc::sigset_t) -> c_int;
    pselect(
        count: c_int,
        readable: *mut libc::fd_set,
        writable: *mut libc::fd_set,
        exceptional: *mut libc::fd_set,
        limit: *const libc::timespec,
        mask: *const libc::sigset_t
    ) -> c_int;
    epoll_pwait(
        epoll: c_int,
        events: *mut libc::epoll_event,
        most: c_int,
        timeout: c_int,
        mask: *const libc::sigset_t
    ) -> c_int;
    shutdown(fd: c_int, how: c_int) -> c_int;
    close(fd: c_int) -> c_int;
    dup(fd: c_int) -> c_int;
    dup2(fd: c_int, to: c_int) -> c_int;
    dup3(fd: c_int, to: c_int, flags: c_int) -> c_int;
    fcntl(fd: c_int, command: c_int, argument: usize) -> c_int;
    fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int;
    ioctl(fd: c_int, request: c_ulong, argument: usize) -> c_int;
    epoll_create(size: c_int) -> c_int;
    epoll_create1(flags: c_int) -> c_int;
    epoll_ctl(epoll: c_int, operation: c_int, fd: c_int, event: *mut libc::epoll_event) -> c_int;
    sendfile(to: c_int, from: c_int, offset: *mut libc::off_t, count: usize) -> isize;
    sendfile64(to: c_int, from: c_int, offset: *mut libc::off64_t, count: usize) -> isize;
    splice(
        from: c_int,
        from_offset: *mut libc::loff_t,
        to: c_int,
        to_offset: *mut libc::loff_t,
        count: usize,
        flags: u32
    ) -> isize;
    sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int;
    open64(path: *const libc::c_char, flags: c_int, mode: libc::mode_t) -> c_int;
    fork() -> libc::pid_t;
    posix_spawnp(
        process: *mut libc::pid_t,
        program: *const libc::c_char,
        actions: *const libc::posix_spawn_file_actions_t,
        attributes: *const libc::posix_spawnattr_t,
        arguments: *const *mut libc::c_char,
        environment: *const *mut libc::c_char
    ) -> c_int;
    waitpid(process: libc::pid_t, status: *mut c_int, options: c_int) -> libc::pid_t;
}

/// By its number: glibc has the function since 2.35 only.
///
/// # Safety
///
/// As for the function of the C library.
pub(super) unsafe fn epoll_pwait2(
    epoll: c_int,
    events: *mut libc::epoll_event,
    most: c_int,
    limit: *const libc::timespec,
    mask: *const libc::sigset_t,
) -> c_int {
    /// What the kernel calls a mask has so many bytes.
    const LENGTH: usize = 8;
    let (events, limit, mask) = (events as usize, limit as usize, mask as usize);
    // SAFETY: the caller vouches for the arguments.
    unsafe { syscall(libc::SYS_epoll_pwait2, epoll as usize, events, most as usize, limit, mask, LENGTH) as c_int }
}

/// The name is a C string, by its construction.
const fn with_end(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("the macro adds the end"),
    }
}

#[inline]
fn find(function: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let found = function.load(Relaxed);
    if !found.is_null() {
        return found;
    }
    // SAFETY: the name is a C string.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if found.is_null() {
        // Without the function nothing goes on.
        std::process::abort();
    }
    function.store(found, Relaxed);
    found
}

const PRIVATE_WAIT: usize = (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG) as usize;
const PRIVATE_WAKE: usize = (libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG) as usize;

pub(super) fn futex_wait(word: &AtomicU32, value: u32) {
    // SAFETY: the address is that of a word. No timeout.
    unsafe { syscall(libc::SYS_futex, word.as_ptr() as usize, PRIVATE_WAIT, value as usize, 0, 0, 0) };
}

pub(super) fn futex_wake(word: &AtomicU32) {
    // SAFETY: the address is that of a word.
    unsafe { syscall(libc::SYS_futex, word.as_ptr() as usize, PRIVATE_WAKE, 1, 0, 0, 0) };
}

/// How many descriptors are ready, or less than zero.
pub(super) fn poll_for(fds: &mut [libc::pollfd], milliseconds: c_int) -> c_int {
    // SAFETY: the pointer is valid for the length.
    unsafe { poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, milliseconds) }
}

/// Whether calls on the descriptor may wait.
pub(super) fn is_blocking(fd: c_int) -> bool {
    // SAFETY: the call touches no memory.
    let flags = unsafe { fcntl(fd, libc::F_GETFL, 0) };
    flags >= 0 && flags & libc::O_NONBLOCK == 0
}

pub(super) fn set_blocking(fd: c_int, is_blocking: bool) {
    // SAFETY: the call touches no memory.
    let flags = unsafe { fcntl(fd, libc::F_GETFL, 0) };
    let flags = if is_blocking { flags & !libc::O_NONBLOCK } else { flags | libc::O_NONBLOCK };
    // SAFETY: as above.
    unsafe { fcntl(fd, libc::F_SETFL, flags as usize) };
}

/// `S_IFIFO` and so on; 0 for an error.
pub(super) fn kind(fd: c_int) -> libc::mode_t {
    about(fd).st_mode & libc::S_IFMT
}

/// Of a socket, the same for all its descriptors.
pub(super) fn inode(fd: c_int) -> libc::ino_t {
    about(fd).st_ino
}

fn about(fd: c_int) -> libc::stat {
    let mut about = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the pointer is valid.
    unsafe { libc::fstat(fd, about.as_mut_ptr()) };
    // SAFETY: zeroes are a value of this type.
    unsafe { about.assume_init() }
}

pub(super) fn is_listening(fd: c_int) -> bool {
    option(fd, libc::SO_ACCEPTCONN) == Some(1)
}

pub(super) fn is_unix(fd: c_int) -> bool {
    option(fd, libc::SO_DOMAIN) == Some(libc::AF_UNIX)
}

pub(super) fn is_unix_stream(fd: c_int) -> bool {
    is_unix(fd) && option(fd, libc::SO_TYPE) == Some(libc::SOCK_STREAM)
}

fn option(fd: c_int, name: c_int) -> Option<c_int> {
    let (mut value, mut length) = (0, size_of::<c_int>() as libc::socklen_t);
    // SAFETY: the pointers are valid, the first one for the length.
    let got = unsafe { getsockopt(fd, libc::SOL_SOCKET, name, (&raw mut value).cast(), &raw mut length) };
    (got == 0).then_some(value)
}

/// How many bytes a socket has received.
pub(super) fn available(fd: c_int) -> usize {
    let mut count: c_int = 0;
    // SAFETY: the pointer is valid.
    unsafe { ioctl(fd, libc::FIONREAD, &raw mut count as usize) };
    count.max(0) as usize
}

/// The entry of the epoll is as if it were new.
pub(super) fn renew(epoll: c_int, fd: c_int, mut event: libc::epoll_event) {
    // SAFETY: the pointer is valid.
    unsafe { epoll_ctl(epoll, libc::EPOLL_CTL_MOD, fd, &raw mut event) };
}

/// Whether a child process runs.
pub(super) fn has_children() -> bool {
    const LOOK: c_int = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the pointer is valid.
    if unsafe { libc::waitid(libc::P_ALL, 0, info.as_mut_ptr(), LOOK) } != 0 {
        return false;
    }
    // SAFETY: zeroes are a value of this type.
    let info = unsafe { info.assume_init() };
    // SAFETY: the kernel has written this member, or has left it at 0: none has ended.
    unsafe { info.si_pid() == 0 }
}

/// Waits until the kernel has no such thread any more. Not for ever: destructors of that thread may wait for
/// a thread that has no turn.
pub(super) fn wait_for_exit(thread: c_int) {
    const LOOKS: usize = 10_000;
    let between = libc::timespec { tv_sec: 0, tv_nsec: 20_000 };
    let process = std::process::id() as usize;
    let is_there = || {
        // SAFETY: the call touches no memory. The signal 0 is none.
        thread != 0 && unsafe { syscall(libc::SYS_tgkill, process, thread as usize, 0, 0, 0, 0) } == 0
    };
    for _ in (0..LOOKS).take_while(|_| is_there()) {
        // SAFETY: the pointer is valid, and the other one may be null.
        unsafe { nanosleep(&raw const between, std::ptr::null_mut()) };
    }
}

/// Sends the signal to that thread of this process, if the thread is there.
pub(super) fn signal(thread: c_int, signal: c_int) {
    let process = std::process::id() as usize;
    // SAFETY: the call touches no memory.
    unsafe { syscall(libc::SYS_tgkill, process, thread as usize, signal as usize, 0, 0, 0) };
}

/// A descriptor that becomes readable at the end of that process; negative for an error.
pub(super) fn open_process(process: libc::pid_t) -> c_int {
    // SAFETY: the call touches no memory.
    unsafe { syscall(libc::SYS_pidfd_open, process as usize, 0, 0, 0, 0, 0) as c_int }
}

/// Nothing can be done about a log that can't be written.
pub(super) fn write_all(fd: c_int, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: the pointer is valid for the length.
        let written = unsafe { write(fd, bytes.as_ptr().cast(), bytes.len()) };
        let Ok(written @ 1..) = usize::try_from(written) else { return };
        bytes = &bytes[written..];
    }
}
