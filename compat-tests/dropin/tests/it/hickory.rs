//! hickory on tokio's sockets: its server with a zone, and its resolver with
//! `TokioRuntimeProvider`, over UDP and TCP.

use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use compat_tests::DEADLINE;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_server::Server;
use hickory_server::proto::rr::rdata::{A, SOA, TXT};
use hickory_server::proto::rr::{Name, RData, Record};
use hickory_server::store::in_memory::InMemoryZoneHandler;
use hickory_server::zone_handler::{AxfrPolicy, Catalog, ZoneType};
use tokio::net::{TcpListener, UdpSocket};
use tokio::task::JoinSet;

use crate::support::{listen, on_gmp};

const HOSTS: u8 = 40;

/// More texts than fit into a datagram.
const TEXTS: usize = 100;

fn name(name: &str) -> Name {
    Name::from_ascii(name).expect("a name")
}

fn host(number: u8) -> String {
    format!("host{number}.gopher.test.")
}

fn catalog() -> Catalog {
    let origin = name("gopher.test.");
    let soa = SOA::new(name("ns.gopher.test."), name("root.gopher.test."), 1, 3600, 600, 86400, 60);
    let mut records = vec![(origin.clone(), RData::SOA(soa))];
    records.extend((0..HOSTS).map(|i| (name(&host(i)), RData::A(A(Ipv4Addr::new(192, 0, 2, i))))));
    records.extend((0..TEXTS).map(|i| (name("long.gopher.test."), RData::TXT(TXT::new(vec![format!("{i:0>200}")])))));
    let mut zone: InMemoryZoneHandler<TokioRuntimeProvider> =
        InMemoryZoneHandler::empty(origin.clone(), ZoneType::Primary, AxfrPolicy::Deny);
    for (name, data) in records {
        assert!(zone.upsert_mut(Record::from_rdata(name, 60, data), 1));
    }
    let mut catalog = Catalog::new();
    catalog.upsert(origin.into(), vec![Arc::new(zone)]);
    catalog
}

/// Both transports on the same port, as the resolver expects.
async fn listen_on_both() -> (TcpListener, UdpSocket, SocketAddr) {
    loop {
        let (listener, address) = listen().await;
        // A port that is free for TCP may be taken for UDP.
        match UdpSocket::bind(address).await {
            Ok(socket) => return (listener, socket, address),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::AddrInUse, "{error}"),
        }
    }
}

async fn serve() -> (Server<Catalog>, SocketAddr) {
    let (listener, socket, address) = listen_on_both().await;
    let mut server = Server::new(catalog());
    server.register_socket(socket);
    server.register_listener(listener, DEADLINE, 16);
    (server, address)
}

fn resolver(server: SocketAddr) -> TokioResolver {
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
        connection.port = server.port();
        connection
    });
    let server = NameServerConfig::new(server.ip(), true, connections.into());
    let config = ResolverConfig::from_name_servers(vec![server]);
    let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
    builder.options_mut().timeout = DEADLINE / 4;
    builder.build().expect("a resolver")
}

#[test]
fn many_tasks_find_their_names() {
    on_gmp(|| async {
        let (mut server, address) = serve().await;
        let resolver = resolver(address);
        let mut tasks = JoinSet::new();
        for i in 0..HOSTS {
            let resolver = resolver.clone();
            tasks.spawn(async move {
                let found = resolver.ipv4_lookup(host(i)).await.expect("found");
                assert_eq!(found.answers()[0].data, RData::A(A(Ipv4Addr::new(192, 0, 2, i))));
            });
        }
        tasks.join_all().await;
        let error = resolver.ipv4_lookup("nowhere.gopher.test.").await.expect_err("not there");
        assert!(error.is_nx_domain(), "{error}");
        server.shutdown_gracefully().await.expect("a clean end");
    });
}

/// The resolver asks again over TCP if an answer doesn't fit into a datagram.
#[test]
fn a_long_answer_comes_over_tcp() {
    on_gmp(|| async {
        let (_server, address) = serve().await;
        let found = resolver(address).txt_lookup("long.gopher.test.").await.expect("found");
        let texts: BTreeSet<String> = found.answers().iter().map(|record| record.data.to_string()).collect();
        assert_eq!(texts.len(), TEXTS);
    });
}
