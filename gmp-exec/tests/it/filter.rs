//! System call filters (seccomp(2)), for tests. They stay until the process ends.
#![allow(unsafe_code, reason = "installs a filter of system calls")]

use std::io;

/// On the calling thread, and on threads that it starts, these calls fail with EPERM from now on.
pub(crate) fn refuse(calls: &[libc::c_long]) {
    install(calls, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32, 0);
}

/// From now on these calls end the process, on every thread that it has and starts.
pub(crate) fn kill_at(calls: &[libc::c_long]) {
    install(calls, libc::SECCOMP_RET_KILL_PROCESS, libc::SECCOMP_FILTER_FLAG_TSYNC);
}

fn install(calls: &[libc::c_long], action: u32, flags: libc::c_ulong) {
    const NUMBER: u32 = 0;
    let step = |code: u32, k, jt, jf| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut filter = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, NUMBER, 0, 0)];
    for call in calls {
        filter.push(step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, *call as u32, 0, 1));
        filter.push(step(libc::BPF_RET | libc::BPF_K, action, 0, 0));
    }
    filter.push(step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0));
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: touches no memory.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
    // SAFETY: the program outlives the call, which copies it.
    let result = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
    assert_eq!(result, 0, "{}", io::Error::last_os_error());
}
