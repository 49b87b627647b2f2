//! System call filters (seccomp(2)), for tests. They stay until the process ends.
#![allow(unsafe_code, reason = "installs a filter of system calls")]

use std::io;

/// As in a container: a filter that allows everything, for this thread and those that it starts.
/// `false`: only root can install a filter in this way.
pub(crate) fn install_as_container() -> bool {
    install(&[], libc::SECCOMP_RET_ALLOW, 0).is_ok()
}

/// On the calling thread, and on threads that it starts, these calls fail with EPERM from now on.
pub(crate) fn refuse(calls: &[libc::c_long]) {
    fail(calls, libc::EPERM);
}

/// The same with another error.
pub(crate) fn fail(calls: &[libc::c_long], error: i32) {
    give_up_privileges();
    install(calls, libc::SECCOMP_RET_ERRNO | error as u32, 0).unwrap();
}

/// From now on these calls end the process, on every thread that it has and starts.
pub(crate) fn kill_at(calls: &[libc::c_long]) {
    give_up_privileges();
    install(calls, libc::SECCOMP_RET_KILL_PROCESS, libc::SECCOMP_FILTER_FLAG_TSYNC).unwrap();
}

/// So that a program without privileges may install a filter.
fn give_up_privileges() {
    // SAFETY: touches no memory.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
}

fn install(calls: &[libc::c_long], action: u32, flags: libc::c_ulong) -> io::Result<()> {
    const NUMBER: u32 = 0;
    let step = |code: u32, k, jt, jf| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut filter = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, NUMBER, 0, 0)];
    for call in calls {
        filter.push(step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, *call as u32, 0, 1));
        filter.push(step(libc::BPF_RET | libc::BPF_K, action, 0, 0));
    }
    filter.push(step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0));
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program outlives the call, which copies it.
    let result = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
