//! Names of hosts: answers from a table in place of files and other computers.

use std::ffi::{CStr, CString, c_char, c_int};
use std::net::IpAddr;

use super::outside::refuse;
use crate::seeded::real;
use crate::seeded::state::with;

interposed! {
    getaddrinfo(
        host: *const c_char,
        service: *const c_char,
        hints: *const libc::addrinfo,
        found: *mut *mut libc::addrinfo
    ) -> c_int = |host: *const c_char, service, hints, found| {
        let answer = numeric(host, service, hints, found);
        if answer != libc::EAI_NONAME || host.is_null() {
            return answer;
        }
        let name = CStr::from_ptr(host).to_string_lossy();
        match with(|state| state.network.addresses(&name)) {
            addresses if !addresses.is_empty() => all(&addresses, service, hints, found),
            _ if asks_the_system(&name) => real::getaddrinfo(host, service, hints, found),
            _ => answer,
        }
    };
}

/// The addresses of a host that is given by its address. Reads no name.
unsafe fn numeric(
    host: *const c_char,
    service: *const c_char,
    hints: *const libc::addrinfo,
    found: *mut *mut libc::addrinfo,
) -> c_int {
    // SAFETY: zeroes are a value of this type.
    let none: libc::addrinfo = unsafe { std::mem::zeroed() };
    // SAFETY: the caller vouches for the pointers, and hints may be null.
    let mut hints = unsafe { hints.as_ref() }.copied().unwrap_or(none);
    hints.ai_flags |= libc::AI_NUMERICHOST;
    // SAFETY: as above.
    unsafe { real::getaddrinfo(host, service, &raw const hints, found) }
}

/// The lists of all these addresses, one behind the other. glibc frees each entry by itself.
unsafe fn all(
    addresses: &[IpAddr],
    service: *const c_char,
    hints: *const libc::addrinfo,
    found: *mut *mut libc::addrinfo,
) -> c_int {
    // SAFETY: the caller vouches for the pointers, and hints may be null.
    let family = unsafe { hints.as_ref() }.map_or(libc::AF_UNSPEC, |hints| hints.ai_family);
    let is_of = |address: &&IpAddr| match family {
        libc::AF_UNSPEC => true,
        family => family == if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 },
    };
    let (mut answer, mut end) = (libc::EAI_NONAME, found);
    for address in addresses.iter().filter(is_of) {
        let host = CString::new(address.to_string()).expect("an address has no zero");
        // SAFETY: as above; `end` is where the list ends.
        let error = unsafe { numeric(host.as_ptr(), service, hints, end) };
        if error != 0 {
            // `AI_ADDRCONFIG` leaves out families that the computer does not have.
            answer = if end == found { error } else { 0 };
            continue;
        }
        answer = 0;
        // SAFETY: the C library has written what `end` leads to.
        let mut entry = unsafe { *end };
        // SAFETY: null, or an entry of the list.
        while let Some(this) = unsafe { entry.as_mut() } {
            (entry, end) = (this.ai_next, &raw mut this.ai_next);
        }
    }
    answer
}

/// Whether the system's resolver is asked.
fn asks_the_system(name: &str) -> bool {
    let is_asked = with(|state| {
        let is_asked = state.network.wish.allows_real || !state.network.wish.is_simulated;
        if is_asked {
            state.has_peers = true;
            state.note_outside(&format!("getaddrinfo {name}"));
        }
        is_asked
    });
    if !is_asked {
        refuse(&format!("the host {name}"));
    }
    is_asked
}
