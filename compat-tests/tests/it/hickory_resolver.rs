//! hickory-resolver against a name server inside the test, over UDP and TCP, with
//! `GmpRuntimeProvider` as its runtime.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gmp_io::hickory_resolver::GmpRuntimeProvider;
use gmp_io::net::{TcpListener, TcpStream, UdpSocket};
use hickory_proto::op::{Message, MessageType, ResponseCode};
use hickory_proto::rr::rdata::{A, AAAA, CNAME, MX, TXT};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use hickory_resolver::Resolver;
use hickory_resolver::config::{ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolverConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{listen, on_gmp, serve_on};

fn name(name: &str) -> Name {
    Name::from_ascii(name).expect("a name")
}

/// All records of the server.
fn zone(asked: &str, record_type: RecordType) -> Vec<(Name, RData)> {
    let a = |last| RData::A(A(Ipv4Addr::new(192, 0, 2, last)));
    match (asked, record_type) {
        ("gopher.test.", RecordType::A) => vec![(name(asked), a(7)), (name(asked), a(8))],
        ("gopher.test.", RecordType::AAAA) => vec![(name(asked), RData::AAAA(AAAA(Ipv6Addr::LOCALHOST)))],
        ("gopher.test.", RecordType::MX) => vec![(name(asked), RData::MX(MX::new(10, name("post.test."))))],
        ("alias.test.", RecordType::A) => {
            vec![(name(asked), RData::CNAME(CNAME(name("gopher.test.")))), (name("gopher.test."), a(7))]
        }
        // More than fits into a datagram.
        ("long.test.", RecordType::TXT) => {
            (0..200).map(|i| (name(asked), RData::TXT(TXT::new(vec![format!("{i:0>200}")])))).collect()
        }
        _ => Vec::new(),
    }
}

/// Answers a question; over UDP, the answer is cut to the size of a datagram.
fn answer(question: &[u8], most: usize) -> Vec<u8> {
    let request = Message::from_vec(question).expect("a message");
    let query = request.queries[0].clone();
    let mut response = Message::response(request.metadata.id, request.metadata.op_code);
    response.metadata.message_type = MessageType::Response;
    response.metadata.authoritative = true;
    response.metadata.recursion_desired = request.metadata.recursion_desired;
    response.metadata.recursion_available = true;
    let records = zone(&query.name().to_string(), query.query_type());
    if records.is_empty() {
        response.metadata.response_code = ResponseCode::NXDomain;
    }
    response.add_query(query);
    response.add_answers(records.into_iter().map(|(name, data)| Record::from_rdata(name, 60, data)));
    let bytes = response.to_vec().expect("encoded");
    if bytes.len() <= most { bytes } else { response.truncate().to_vec().expect("encoded") }
}

/// A name server, and the number of questions over each transport.
struct NameServer {
    address: SocketAddr,
    over_udp: Arc<AtomicUsize>,
    over_tcp: Arc<AtomicUsize>,
}

impl NameServer {
    async fn start() -> NameServer {
        let (over_udp, over_tcp) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let counter = over_tcp.clone();
        let (listener, socket, address) = listen_on_both().await;
        serve_on(listener, move |stream| serve_tcp(stream, counter.clone()));
        gmp_exec::spawn(serve_udp(socket, over_udp.clone()));
        NameServer { address, over_udp, over_tcp }
    }

    fn resolver(&self) -> Resolver<GmpRuntimeProvider> {
        resolver(self.address, Duration::from_secs(10))
    }

    /// One question has come over UDP, which the resolver sends up to three times if the answer
    /// takes 333 ms and longer.
    fn assert_asked(&self, over_tcp: usize) {
        let asked = (self.over_udp.load(Ordering::SeqCst), self.over_tcp.load(Ordering::SeqCst));
        assert!((1..=3).contains(&asked.0) && asked.1 == over_tcp, "{asked:?}");
    }
}

/// Both transports on the same port, as the resolver expects.
async fn listen_on_both() -> (TcpListener, UdpSocket, SocketAddr) {
    loop {
        let (listener, address) = listen().await;
        // A port that is free for one transport may be taken for the other.
        match UdpSocket::bind(address).await {
            Ok(socket) => return (listener, socket, address),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::AddrInUse, "{error}"),
        }
    }
}

async fn serve_udp(socket: UdpSocket, asked: Arc<AtomicUsize>) {
    let mut buffer = [0; 4096];
    while let Ok((length, peer)) = socket.recv_from(&mut buffer).await {
        asked.fetch_add(1, Ordering::SeqCst);
        socket.send_to(&answer(&buffer[..length], 1232), peer).await.expect("sent");
    }
}

/// The length precedes each message.
async fn serve_tcp(mut stream: TcpStream, asked: Arc<AtomicUsize>) -> io::Result<()> {
    loop {
        let mut question = vec![0; stream.read_u16().await?.into()];
        stream.read_exact(&mut question).await?;
        asked.fetch_add(1, Ordering::SeqCst);
        let answer = answer(&question, usize::from(u16::MAX));
        stream.write_u16(answer.len() as u16).await?;
        stream.write_all(&answer).await?;
    }
}

fn resolver(server: SocketAddr, patience: Duration) -> Resolver<GmpRuntimeProvider> {
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
        connection.port = server.port();
        connection
    });
    let server = NameServerConfig::new(server.ip(), true, connections.into());
    let config = ResolverConfig::from_name_servers(vec![server]);
    let mut builder = Resolver::builder_with_config(config, GmpRuntimeProvider::new());
    let options = builder.options_mut();
    options.timeout = patience;
    options.attempts = 0;
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    builder.build().expect("a resolver")
}

#[test]
fn names_are_resolved() {
    on_gmp(|| async {
        let server = NameServer::start().await;
        let resolver = server.resolver();
        let mut addresses: Vec<_> =
            resolver.lookup_ip("gopher.test.").await.expect("found").iter().map(|ip| ip.to_string()).collect();
        addresses.sort();
        assert_eq!(addresses, ["192.0.2.7", "192.0.2.8", "::1"]);

        let post = resolver.mx_lookup("gopher.test.").await.expect("found");
        assert_eq!(post.answers()[0].data, RData::MX(MX::new(10, name("post.test."))));
        let alias = resolver.ipv4_lookup("alias.test.").await.expect("found");
        assert!(alias.answers().iter().any(|record| record.data == RData::A(A(Ipv4Addr::new(192, 0, 2, 7)))));
        assert_eq!(server.over_tcp.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn an_answer_is_remembered() {
    on_gmp(|| async {
        let server = NameServer::start().await;
        let resolver = server.resolver();
        for _ in 0..5 {
            resolver.ipv4_lookup("gopher.test.").await.expect("found");
        }
        server.assert_asked(0);
    });
}

/// The resolver asks again over TCP if an answer doesn't fit into a datagram.
#[test]
fn a_long_answer_comes_over_tcp() {
    on_gmp(|| async {
        let server = NameServer::start().await;
        let answer = server.resolver().txt_lookup("long.test.").await.expect("found");
        assert_eq!(answer.answers().len(), 200);
        assert_eq!(answer.answers()[199].data, RData::TXT(TXT::new(vec![format!("{:0>200}", 199)])));
        server.assert_asked(1);
    });
}

#[test]
fn a_name_that_does_not_exist_is_an_error() {
    on_gmp(|| async {
        let error = NameServer::start().await.resolver().lookup_ip("mole.test.").await.expect_err("unknown name");
        assert!(error.is_nx_domain(), "{error:?}");
    });
}

/// Each of many concurrent questions gets its own answer.
#[test]
fn questions_do_not_get_mixed_up() {
    on_gmp(|| async {
        let server = NameServer::start().await;
        let resolver = Arc::new(server.resolver());
        let tasks: Vec<_> = (0..50)
            .map(|i| {
                let resolver = resolver.clone();
                gmp_exec::spawn(async move {
                    let asked = ["gopher.test.", "alias.test.", "mole.test."][i % 3];
                    let found = resolver.ipv4_lookup(asked).await.map_or(0, |answer| answer.answers().len());
                    assert_eq!(found, [2, 2, 0][i % 3], "{asked}");
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("a task");
        }
    });
}

/// hickory's timeouts use gmp's timers.
#[test]
fn a_silent_server_is_given_up_on() {
    const PATIENCE: Duration = Duration::from_millis(100);
    on_gmp(|| async {
        let (_listener, _silent, address) = listen_on_both().await;
        let start = Instant::now();
        let error = resolver(address, PATIENCE).lookup_ip("gopher.test.").await.expect_err("no answer");
        assert!(start.elapsed() >= PATIENCE, "after {:?}: {error}", start.elapsed());
    });
}
