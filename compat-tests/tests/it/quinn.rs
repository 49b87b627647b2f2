//! quinn: QUIC over real UDP sockets, with `GmpRuntime` as its runtime.

use std::net::UdpSocket;
use std::sync::Arc;
use std::time::Duration;

use compat_tests::certificates::{self, Authority};
use gmp_io::quinn::GmpRuntime;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{
    ClientConfig, Connection, ConnectionError, Endpoint, EndpointConfig, ReadError, ServerConfig, TransportConfig,
    WriteError,
};

use crate::support::on_gmp;

fn endpoint(server: Option<ServerConfig>) -> Endpoint {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    Endpoint::new(EndpointConfig::default(), server, socket, Arc::new(GmpRuntime::new())).expect("an endpoint")
}

fn server(authority: &Authority) -> Endpoint {
    let tls = certificates::server_config(authority, "localhost");
    let quic = QuicServerConfig::try_from(tls).expect("TLS 1.3");
    endpoint(Some(ServerConfig::with_crypto(Arc::new(quic))))
}

/// Trusts the authority, and connects without further configuration.
fn client(authority: &Authority, transport: TransportConfig) -> Endpoint {
    let quic = QuicClientConfig::try_from(certificates::client_config(authority)).expect("TLS 1.3");
    let mut config = ClientConfig::new(Arc::new(quic));
    config.transport_config(Arc::new(transport));
    let mut endpoint = endpoint(None);
    endpoint.set_default_client_config(config);
    endpoint
}

/// Two endpoints, and both ends of a connection between them.
struct Pair {
    client: Endpoint,
    server: Endpoint,
    near: Connection,
    far: Connection,
}

impl Pair {
    async fn new() -> Pair {
        let authority = Authority::create();
        let (client, server) = (client(&authority, TransportConfig::default()), server(&authority));
        let address = server.local_addr().expect("an address");
        let connecting = client.connect(address, "localhost").expect("begun");
        let accepting = async { server.accept().await.expect("open").await.expect("accepted") };
        let (near, far) = tokio::join!(connecting, accepting);
        Pair { client, near: near.expect("connected"), far, server }
    }
}

/// Sends received data back on each stream that the other side opens.
async fn echo(connection: Connection) {
    while let Ok((mut send, mut receive)) = connection.accept_bi().await {
        gmp_exec::spawn(async move {
            while let Some(chunk) = receive.read_chunk(64 << 10, true).await.expect("read") {
                send.write_chunk(chunk.bytes).await.expect("written");
            }
            send.finish().expect("open");
        });
    }
}

/// More data than the windows of both a stream and the connection, on several streams at once.
#[test]
fn streams_share_a_connection() {
    const STREAMS: u8 = 8;
    const LARGE: usize = 1 << 20;
    on_gmp(|| async {
        let Pair { client, near, far, server: _server } = Pair::new().await;
        gmp_exec::spawn(echo(far));
        let streams: Vec<_> = (0..STREAMS)
            .map(|i| {
                let connection = near.clone();
                gmp_exec::spawn(async move {
                    let (mut send, mut receive) = connection.open_bi().await.expect("opened");
                    let sender = gmp_exec::spawn(async move {
                        send.write_all(&vec![i; LARGE]).await.expect("written");
                        send.finish().expect("open");
                    });
                    let received = receive.read_to_end(2 * LARGE).await.expect("read");
                    sender.await.expect("a sender");
                    assert!(received == vec![i; LARGE], "stream {i} got something else back");
                })
            })
            .collect();
        for stream in streams {
            stream.await.expect("a stream");
        }
        near.close(0_u32.into(), b"");
        client.wait_idle().await;
    });
}

/// A stream that the sender resets, or the reader stops, doesn't affect the others.
#[test]
fn a_stream_is_given_up_alone() {
    on_gmp(|| async {
        let Pair { near, far, client: _client, server: _server } = Pair::new().await;
        let (mut send, receive) = near.open_bi().await.expect("opened");
        send.write_all(b"half a mess").await.expect("written");
        let (mut far_send, mut far_receive) = far.accept_bi().await.expect("accepted");
        send.reset(7_u32.into()).expect("open");
        let error = far_receive.read_to_end(100).await.expect_err("reset");
        let quinn::ReadToEndError::Read(ReadError::Reset(code)) = error else { panic!("{error}") };
        assert_eq!(code, 7_u32.into());

        // Dropping a reader tells the writer to stop.
        drop(receive);
        let stopped = far_send.stopped().await.expect("told");
        assert_eq!(stopped, Some(0_u32.into()));
        let error = far_send.write_all(b"more").await.expect_err("the reader is gone");
        assert!(matches!(error, WriteError::Stopped(_)), "{error}");

        gmp_exec::spawn(echo(far));
        let (mut send, mut receive) = near.open_bi().await.expect("opened");
        send.write_all(b"still here").await.expect("written");
        send.finish().expect("open");
        assert_eq!(receive.read_to_end(100).await.expect("read"), b"still here");
    });
}

/// Datagrams may be lost, but not on a loopback interface with room for them.
#[test]
fn datagrams_go_there_and_back() {
    on_gmp(|| async {
        let Pair { near, far, client: _client, server: _server } = Pair::new().await;
        gmp_exec::spawn(async move {
            while let Ok(datagram) = far.read_datagram().await {
                far.send_datagram(datagram).expect("sent");
            }
        });
        for i in 0..100_u8 {
            near.send_datagram(vec![i; 1000].into()).expect("sent");
            assert_eq!(near.read_datagram().await.expect("received"), vec![i; 1000]);
        }
    });
}

#[test]
fn a_close_is_told_with_its_reason() {
    on_gmp(|| async {
        let Pair { client, near, far, server } = Pair::new().await;
        let closed = gmp_exec::spawn(async move { far.closed().await });
        near.close(42_u32.into(), b"gone digging");
        let ConnectionError::ApplicationClosed(close) = closed.await.expect("a task") else { panic!("not closed") };
        assert_eq!((close.error_code, &close.reason[..]), (42_u32.into(), &b"gone digging"[..]));
        assert!(matches!(near.open_uni().await, Err(ConnectionError::LocallyClosed)));
        // Both endpoints linger for packets in flight, and then have nothing left to do.
        client.wait_idle().await;
        server.wait_idle().await;
    });
}

#[test]
fn a_server_of_an_unknown_authority_is_refused() {
    on_gmp(|| async {
        let server = server(&Authority::create());
        let client = client(&Authority::create(), TransportConfig::default());
        let connecting = client.connect(server.local_addr().expect("an address"), "localhost").expect("begun");
        let accepting = async { server.accept().await.expect("open").await };
        let (near, far) = tokio::join!(connecting, accepting);
        let Err(ConnectionError::TransportError(error)) = near else { panic!("{near:?}") };
        assert!(error.reason.contains("invalid peer certificate"), "{error}");
        assert!(matches!(far, Err(ConnectionError::ConnectionClosed(_))), "{far:?}");
    });
}

/// quinn uses gmp's timers: it gives up on a peer that never answers.
#[test]
fn a_silent_peer_is_given_up_on() {
    const PATIENCE: Duration = Duration::from_millis(200);
    on_gmp(|| async {
        let silent = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let mut transport = TransportConfig::default();
        transport.max_idle_timeout(Some(PATIENCE.try_into().expect("short")));
        // quinn waits three times as long as it expects an answer from the peer to take.
        transport.initial_rtt(Duration::from_millis(1));
        let client = client(&Authority::create(), transport);
        let start = std::time::Instant::now();
        let connecting = client.connect(silent.local_addr().expect("an address"), "localhost").expect("begun");
        assert!(matches!(connecting.await, Err(ConnectionError::TimedOut)));
        assert!(start.elapsed() >= PATIENCE, "after {:?}", start.elapsed());
    });
}
