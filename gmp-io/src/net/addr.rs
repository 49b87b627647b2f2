//! Names and addresses, resolved into socket addresses.
//!
//! Resolving a name blocks: the system offers nothing else. An address must not pay for that, so
//! only names go to a closure, and all else is answered at once. A lookup nearly always blocks, so
//! the closure hands off its processor before it asks. A lookup may block for many seconds, so the
//! end of the runtime does not wait for it.

use std::future::{Future, poll_fn};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::pin::Pin;
use std::task::{Poll, ready};
use std::{io, vec};

use gmp_exec::bridge::spawn_in_place;
use gmp_exec::task::{AtShutdown, JoinHandle, block_in_place};

/// A value that stands for one or more socket addresses, such as a name with a port.
///
/// The trait is sealed: it is an argument's bound, not for implementing or calling. To resolve a
/// name, use [`lookup_host`].
///
/// # Examples
///
/// ```
/// use std::net::{Ipv4Addr, SocketAddr};
///
/// use gmp_io::net::ToSocketAddrs;
///
/// fn takes_an_address(_: impl ToSocketAddrs) {}
///
/// takes_an_address("localhost:80");
/// takes_an_address(("localhost", 80));
/// takes_an_address((Ipv4Addr::LOCALHOST, 80));
/// takes_an_address(&[SocketAddr::from(([127, 0, 0, 1], 80))][..]);
/// ```
pub trait ToSocketAddrs: sealed::Resolve {}

/// Resolves a name, or any other value that stands for an address, into socket addresses.
///
/// Names are resolved by the system's resolver, in a blocking section.
///
/// # Errors
///
/// The name can't be resolved, or lacks a port.
///
/// # Panics
///
/// If there is a name to resolve and no current runtime.
///
/// # Examples
///
/// ```
/// # use gmp_exec::runtime::Runtime;
/// # Runtime::new()?.block_on(async {
/// for address in gmp_io::net::lookup_host("localhost:80").await? {
///     assert!(address.ip().is_loopback());
///     assert_eq!(address.port(), 80);
/// }
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[doc(alias("getaddrinfo", "LookupHost"))]
pub async fn lookup_host<T: ToSocketAddrs>(host: T) -> io::Result<impl Iterator<Item = SocketAddr>> {
    resolve(host).await
}

/// The addresses that `host` stands for.
pub(crate) async fn resolve(host: impl ToSocketAddrs) -> io::Result<vec::IntoIter<SocketAddr>> {
    let mut addresses = host.resolve(sealed::Token);
    // `host` need not be `Send`, so it must be dropped before the first await.
    drop(host);
    poll_fn(|cx| {
        Poll::Ready(match &mut addresses {
            Addresses::Known(known) => Ok(std::mem::take(known).into_iter()),
            Addresses::Asked(lookup) => ready!(Pin::new(lookup).poll(cx))?,
            Addresses::Refused(error) => Err(error.take().expect("it is polled once")),
        })
    })
    .await
}

/// Tries the addresses one after the other. If none works, the error is the last address's.
pub(crate) async fn first_that_works<T, F>(
    host: impl ToSocketAddrs,
    mut attempt: impl FnMut(SocketAddr) -> F,
) -> io::Result<T>
where
    F: Future<Output = io::Result<T>>,
{
    let mut last_error = None;
    for address in resolve(host).await? {
        match attempt(address).await {
            Ok(result) => return Ok(result),
            Err(error) => last_error = Some(error),
        }
    }
    Err(last_error.unwrap_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "could not resolve to any address")))
}

/// The addresses, or the lookup that will find them.
#[derive(Debug)]
pub enum Addresses {
    Known(Vec<SocketAddr>),
    Asked(JoinHandle<io::Result<vec::IntoIter<SocketAddr>>>),
    /// The lookup could not be started.
    Refused(Option<io::Error>),
}

impl Addresses {
    fn one(address: impl Into<SocketAddr>) -> Self {
        Addresses::Known(vec![address.into()])
    }

    fn ask(name: impl std::net::ToSocketAddrs<Iter = vec::IntoIter<SocketAddr>> + Send + 'static) -> Self {
        let lookup = move || block_in_place(|| name.to_socket_addrs());
        match spawn_in_place(AtShutdown::Abandon, lookup) {
            Ok(lookup) => Addresses::Asked(lookup),
            Err(error) => Addresses::Refused(Some(error)),
        }
    }
}

mod sealed {
    use super::Addresses;

    pub trait Resolve {
        fn resolve(&self, _: Token) -> Addresses;
    }

    /// Can't be named outside of the crate, so the method can't be called there.
    #[derive(Debug)]
    pub struct Token;
}

macro_rules! already_addresses {
    ($($type:ty: |$self:ident| $addresses:expr;)*) => {$(
        impl ToSocketAddrs for $type {}

        impl sealed::Resolve for $type {
            fn resolve(&self, _: sealed::Token) -> Addresses {
                let $self = self;
                $addresses
            }
        }
    )*};
}

already_addresses! {
    SocketAddr: |address| Addresses::one(*address);
    SocketAddrV4: |address| Addresses::one(*address);
    SocketAddrV6: |address| Addresses::one(*address);
    (IpAddr, u16): |address| Addresses::one(*address);
    (Ipv4Addr, u16): |address| Addresses::one(*address);
    (Ipv6Addr, u16): |address| Addresses::one(*address);
    &[SocketAddr]: |addresses| Addresses::Known(addresses.to_vec());
}

impl<T: ToSocketAddrs + ?Sized> ToSocketAddrs for &T {}

impl<T: sealed::Resolve + ?Sized> sealed::Resolve for &T {
    fn resolve(&self, token: sealed::Token) -> Addresses {
        (**self).resolve(token)
    }
}

impl ToSocketAddrs for str {}

impl sealed::Resolve for str {
    fn resolve(&self, _: sealed::Token) -> Addresses {
        match self.parse::<SocketAddr>() {
            Ok(address) => Addresses::one(address),
            Err(_) => Addresses::ask(self.to_owned()),
        }
    }
}

impl ToSocketAddrs for String {}

impl sealed::Resolve for String {
    fn resolve(&self, token: sealed::Token) -> Addresses {
        self.as_str().resolve(token)
    }
}

impl ToSocketAddrs for (&str, u16) {}

impl sealed::Resolve for (&str, u16) {
    fn resolve(&self, _: sealed::Token) -> Addresses {
        let (host, port) = *self;
        match host.parse::<IpAddr>() {
            Ok(ip) => Addresses::one((ip, port)),
            Err(_) => Addresses::ask((host.to_owned(), port)),
        }
    }
}

impl ToSocketAddrs for (String, u16) {}

impl sealed::Resolve for (String, u16) {
    fn resolve(&self, token: sealed::Token) -> Addresses {
        (self.0.as_str(), self.1).resolve(token)
    }
}
