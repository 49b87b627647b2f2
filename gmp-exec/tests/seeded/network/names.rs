//! Names of hosts.

use std::io::Error;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};

use crate::child::run_with;

/// The addresses of that name, or the error.
fn addresses(name: &str) -> Result<Vec<SocketAddr>, Error> {
    (name, 80).to_socket_addrs().map(Iterator::collect)
}

pub(crate) fn scenario() {
    for name in ["localhost", "LocalHost.", "db.localhost"] {
        assert_eq!(addresses(name).unwrap(), ["127.0.0.1:80", "[::1]:80"].map(|text| text.parse().unwrap()), "{name}");
    }
    assert_eq!(addresses("127.1").unwrap(), ["127.0.0.1:80".parse().unwrap()], "as the C library reads it");
    assert_eq!(addresses("192.0.2.1").unwrap(), ["192.0.2.1:80".parse().unwrap()]);
    assert_eq!(addresses("::2").unwrap(), ["[::2]:80".parse().unwrap()]);
    assert_eq!(addresses("db").unwrap(), ["127.0.0.2:80", "[::1]:80"].map(|text| text.parse().unwrap()));
    let listener = TcpListener::bind("db:0").unwrap();
    assert_eq!(listener.local_addr().unwrap().ip().to_string(), "127.0.0.2");
    TcpStream::connect(("db", listener.local_addr().unwrap().port())).unwrap();
    for _ in 0..2 {
        let error = TcpStream::connect("gmp.invalid:80").unwrap_err().to_string();
        assert!(error.contains("failed to lookup address"), "{error}");
    }
}

#[test]
fn names_are_those_of_a_table() {
    for seed in 0..4 {
        let hosts = [("GMP_SEED_NET", "host=db@127.0.0.2,host=db@::1")];
        let runs = [0, 1].map(|_| run_with("names", seed, &hosts));
        super::streams::assert_ok(&runs[0], "names", seed);
        assert_eq!(runs[0].report, runs[1].report);
        let said = "the host gmp.invalid is not on the simulated network; GMP_SEED_NET=real";
        assert_eq!(runs[0].stderr.matches(said).count(), 1, "{}", runs[0].stderr);
    }
}

pub(crate) fn asks_the_system() {
    // What the system answers depends on the computer.
    let _ = addresses("gmp.invalid");
    addresses("localhost").unwrap();
}

#[test]
fn the_system_is_asked_on_request() {
    for weather in ["real", "kernel"] {
        let run = run_with("asks_the_system", 0, &[("GMP_SEED_NET", weather)]);
        let expected = ("[\"getaddrinfo gmp.invalid\"]", Some(0), "");
        assert_eq!((run.field("outside"), run.status, run.stderr.as_str()), expected);
    }
}
