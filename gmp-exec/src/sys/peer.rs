//! What a socket is connected to, asked by the number of its descriptor.
#![allow(unsafe_code, reason = "asks about descriptors of other parts of the program")]

use std::collections::HashSet;
use std::mem::{MaybeUninit, size_of, size_of_val};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

/// The other end of a connected socket.
pub(crate) fn peer(fd: i32) -> Option<SocketAddr> {
    address(fd, libc::getpeername)
}

/// The address at which a socket takes connections.
pub(crate) fn listens_at(fd: i32) -> Option<SocketAddr> {
    let mut listens: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the value and its length are valid places. Another descriptor is an error.
    let result = unsafe {
        libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_ACCEPTCONN, (&raw mut listens).cast(), &raw mut length)
    };
    if result == 0 && listens != 0 { address(fd, libc::getsockname) } else { None }
}

/// The ports at which this process takes connections. They are looked for when the first one is asked for.
#[derive(Debug, Default)]
pub(crate) struct Ports(Option<HashSet<u16>>);

impl Ports {
    fn contain(&mut self, port: u16) -> bool {
        self.0.get_or_insert_with(listening).contains(&port)
    }
}

fn listening() -> HashSet<u16> {
    let descriptors = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let numbers = descriptors.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter_map(|fd| listens_at(fd).map(|address| address.port())).collect()
}

/// Of a connection that this process has accepted: how long ago the peer last sent data, if this process
/// has sent the peer no data since.
pub(crate) fn unanswered(fd: i32, ports: &mut Ports) -> Option<Duration> {
    let port = address(fd, libc::getsockname)?.port();
    let traffic = Traffic::of(fd).filter(|_| ports.contain(port))?;
    let is_answered = traffic.segments_sent > 0 && traffic.sent_ago <= traffic.received_ago;
    (traffic.segments_received > 0 && !is_answered).then_some(traffic.received_ago)
}

/// When data last went over a TCP connection, and how many segments with data there were.
struct Traffic {
    received_ago: Duration,
    sent_ago: Duration,
    segments_received: u32,
    segments_sent: u32,
}

impl Traffic {
    /// Linux knows this since 4.6.
    #[cfg(target_os = "linux")]
    fn of(fd: i32) -> Option<Traffic> {
        // The beginning of the kernel's `tcp_info`, up to `tcpi_data_segs_out`; that of the C library may be
        // an older one. The words read are `tcpi_last_data_recv`, `tcpi_last_data_sent`,
        // `tcpi_data_segs_in` and `tcpi_data_segs_out`.
        let mut info = [0_u32; 40];
        let size = size_of_val(&info);
        let mut length = size as libc::socklen_t;
        // SAFETY: the value and its length are valid places. Another descriptor is an error.
        let result = unsafe {
            libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, info.as_mut_ptr().cast(), &raw mut length)
        };
        let ago = |index: usize| Duration::from_millis(info[index].into());
        (result == 0 && length as usize == size).then(|| Traffic {
            received_ago: ago(13),
            sent_ago: ago(11),
            segments_received: info[38],
            segments_sent: info[39],
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn of(_: i32) -> Option<Traffic> {
        None
    }
}

type Ask = unsafe extern "C" fn(libc::c_int, *mut libc::sockaddr, *mut libc::socklen_t) -> libc::c_int;

fn address(fd: i32, ask: Ask) -> Option<SocketAddr> {
    let mut address = MaybeUninit::<libc::sockaddr_storage>::zeroed();
    let mut length = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
    // SAFETY: the address has the length that is passed. Another descriptor is an error.
    let result = unsafe { ask(fd, address.as_mut_ptr().cast(), &raw mut length) };
    // SAFETY: all bits 0 is a valid address, and the system has perhaps written another one.
    let address = unsafe { address.assume_init() };
    if result != 0 {
        return None;
    }
    match i32::from(address.ss_family) {
        libc::AF_INET => {
            // SAFETY: the family says that the address is of this type, which is shorter.
            let address = unsafe { &*(&raw const address).cast::<libc::sockaddr_in>() };
            let ip = Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr));
            Some(SocketAddr::new(IpAddr::V4(ip), u16::from_be(address.sin_port)))
        }
        libc::AF_INET6 => {
            // SAFETY: the family says that the address is of this type, which is shorter.
            let address = unsafe { &*(&raw const address).cast::<libc::sockaddr_in6>() };
            let ip = Ipv6Addr::from(address.sin6_addr.s6_addr);
            Some(SocketAddr::new(IpAddr::V6(ip), u16::from_be(address.sin6_port)))
        }
        _ => None,
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn a_connection_has_a_peer_and_a_listener_an_address() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let address = listener.local_addr().unwrap();
            let client = TcpStream::connect(address).unwrap();
            assert_eq!((peer(client.as_raw_fd()), listens_at(client.as_raw_fd())), (Some(address), None));
            assert_eq!((peer(listener.as_raw_fd()), listens_at(listener.as_raw_fd())), (None, Some(address)));
        }
        let file = std::fs::File::open("/dev/null").unwrap();
        assert_eq!((peer(file.as_raw_fd()), listens_at(file.as_raw_fd())), (None, None));
        assert_eq!((peer(-1), listens_at(-1)), (None, None));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_client_has_no_answer_from_its_last_data_to_ours() {
        use std::io::{Read, Write};
        use std::time::Instant;

        let start = Instant::now();
        // Longer than the kernel's clock needs for a tick.
        let later = || {
            let end = start.elapsed() + Duration::from_millis(25);
            while start.elapsed() < end {
                std::thread::yield_now();
            }
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut server = listener.accept().unwrap().0;
        let is_unanswered = |socket: &TcpStream| unanswered(socket.as_raw_fd(), &mut Ports::default()).is_some();
        assert!(!is_unanswered(&server), "nothing was asked");
        for _ in 0..2 {
            client.write_all(b"question").unwrap();
            server.read_exact(&mut [0; 8]).unwrap();
            assert!(is_unanswered(&server));
            later();
            assert!(unanswered(server.as_raw_fd(), &mut Ports::default()).unwrap() > Duration::ZERO);
            server.write_all(b"answer").unwrap();
            client.read_exact(&mut [0; 6]).unwrap();
            assert!(!is_unanswered(&server));
            // Of the other end, the last data are an answer.
            later();
            assert!(!is_unanswered(&client));
        }
        assert_eq!(unanswered(-1, &mut Ports::default()), None);
    }
}
