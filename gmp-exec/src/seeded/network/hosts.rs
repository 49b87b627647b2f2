//! Which hosts there are (README.md, "Hosts").

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::Range;

use super::wish::Wish;
use super::{Answer, Id, Network};

/// 0 is the program itself; the others are those that it has asked for, in their order.
pub(in crate::seeded) type Number = usize;

#[derive(Debug)]
pub(super) struct Host {
    name: String,
    /// It has crashed.
    pub(super) is_down: bool,
    /// How far its clock is ahead, in nanoseconds.
    pub(super) clock: i64,
}

impl Host {
    pub(super) fn new(name: String) -> Host {
        Host { name, is_down: false, clock: 0 }
    }
}

impl Network {
    pub(in crate::seeded) fn open_host(&mut self, name: String) -> Number {
        self.hosts.push(Host::new(name));
        self.hosts.len() - 1
    }

    pub(super) fn host(&mut self, host: Number) -> Answer<&mut Host> {
        self.hosts.get_mut(host).ok_or(libc::EINVAL)
    }

    pub(in crate::seeded) fn set_clock(&mut self, host: Number, ahead: i64) -> Answer<()> {
        self.host(host)?.clock = ahead;
        Ok(())
    }

    /// How far the clock of that host is ahead, in nanoseconds.
    pub(in crate::seeded) fn clock(&self, host: Number) -> i64 {
        self.hosts[host].clock
    }

    /// # Errors
    ///
    /// `EINVAL`: there is no such host.
    pub(in crate::seeded) fn address_of(&mut self, host: Number) -> Answer<Ipv4Addr> {
        self.host(host).map(|_| address_of(host))
    }

    /// The host that has this address for that other one. Loopback addresses are each host's own.
    pub(super) fn host_at(&self, own: Number, ip: IpAddr) -> Number {
        let ip = ip.to_canonical();
        (0..self.hosts.len()).find(|&host| ip == address_of(host)).unwrap_or(own)
    }

    /// The hosts that get what is sent to this address.
    pub(super) fn hosts_at(&self, own: Number, ip: IpAddr) -> Range<Number> {
        let first = self.host_at(own, ip);
        if is_broadcast(ip) { 0..self.hosts.len() } else { first..first + 1 }
    }

    /// Where the host sends to all from, and gets what is sent to all.
    pub(super) fn address_among_all(&self, host: Number) -> Ipv4Addr {
        if self.hosts.len() == 1 { Ipv4Addr::LOCALHOST } else { address_of(host) }
    }

    /// The same for the host of a socket.
    pub(super) fn host_for(&self, id: Id, address: SocketAddr) -> Number {
        self.host_at(self.host_of(id), address.ip())
    }

    /// Of a socket. One that is gone was the program's.
    pub(super) fn host_of(&self, id: Id) -> Number {
        self.sockets.get(&id).map_or(0, |socket| socket.host)
    }

    /// The addresses of the host, or none if the simulated network does not know its name.
    pub(in crate::seeded) fn addresses(&self, name: &str) -> Vec<IpAddr> {
        let name = name.strip_suffix('.').unwrap_or(name);
        let named = (0..self.hosts.len()).filter(|&host| self.hosts[host].name.eq_ignore_ascii_case(name));
        let named: Vec<IpAddr> = named.map(|host| address_of(host).into()).collect();
        if named.is_empty() { self.wish.addresses(name) } else { named }
    }
}

/// Whether the address stands for all hosts.
pub(super) fn is_broadcast(ip: IpAddr) -> bool {
    const OF_NETWORK: Ipv4Addr = Ipv4Addr::new(127, 255, 255, 255);
    [OF_NETWORK, Ipv4Addr::BROADCAST].into_iter().any(|all| ip.to_canonical() == all)
}

/// 127.1.0.1 and up.
pub(super) fn address_of(host: Number) -> Ipv4Addr {
    let [.., high, low] = (host + 1).to_be_bytes();
    Ipv4Addr::new(127, 1, high, low)
}

impl Wish {
    fn addresses(&self, name: &str) -> Vec<IpAddr> {
        let name = name.to_ascii_lowercase();
        if name == "localhost" || name.ends_with(".localhost") {
            return vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
        }
        let hosts = self.hosts.iter().filter(|(host, _)| host.eq_ignore_ascii_case(&name));
        hosts.map(|(_, address)| *address).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn hosts_have_addresses() {
        let net = Network::new(parse("host=db@127.0.0.2,host=DB@::1").unwrap());
        let here = ["127.0.0.2", "::1"].map(|text| text.parse::<IpAddr>().unwrap());
        assert_eq!((net.addresses("Db."), net.addresses("a.localhost").len()), (here.to_vec(), 2));
        assert!(net.addresses("other").is_empty() && net.addresses("notlocalhost").is_empty());
    }

    #[test]
    fn a_host_of_the_programs_comes_first() {
        let mut net = Network::new(parse("host=db@127.0.0.2").unwrap());
        let db = net.open_host("db".to_owned());
        let address = IpAddr::from(Ipv4Addr::new(127, 1, 0, 2));
        assert_eq!((db, net.addresses("DB."), net.host_at(0, address)), (1, vec![address], db));
        assert_eq!(net.host_at(db, Ipv4Addr::LOCALHOST.into()), db, "each host has its own");
        assert!(net.host(2).is_err());
    }
}
