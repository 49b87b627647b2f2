//! Which hosts there are.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::wish::Wish;

impl Wish {
    /// The addresses of the host, or none if the simulated network does not know its name.
    pub(in crate::seeded) fn addresses(&self, name: &str) -> Vec<IpAddr> {
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
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
        let wish = parse("host=db@127.0.0.2,host=DB@::1").unwrap();
        let here = ["127.0.0.2", "::1"].map(|text| text.parse::<IpAddr>().unwrap());
        assert_eq!((wish.addresses("Db."), wish.addresses("a.localhost").len()), (here.to_vec(), 2));
        assert!(wish.addresses("other").is_empty() && wish.addresses("notlocalhost").is_empty());
    }
}
