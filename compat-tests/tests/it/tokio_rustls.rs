//! tokio-rustls: handshakes with certificates that are made for the tests, and handshakes that must
//! fail.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use compat_tests::certificates::{Authority, client_config, server_config, server_name};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::rustls::{AlertDescription, CertificateError, Error, ProtocolVersion};
use tokio_rustls::{TlsAcceptor, TlsConnector, client, rustls, server};

use crate::support::{on_gmp, pair};

type ClientStream = client::TlsStream<gmp_io::net::TcpStream>;
type ServerStream = server::TlsStream<gmp_io::net::TcpStream>;

/// Both ends' results of a handshake for `localhost`.
async fn handshake(
    client: rustls::ClientConfig,
    server: rustls::ServerConfig,
) -> (io::Result<ClientStream>, io::Result<ServerStream>) {
    let (near, far) = pair().await;
    let acceptor = TlsAcceptor::from(Arc::new(server));
    let accepted = gmp_exec::spawn(async move { acceptor.accept(far).await });
    let connected = TlsConnector::from(Arc::new(client)).connect(server_name("localhost"), near).await;
    (connected, accepted.await.expect("a server"))
}

fn tls_error(error: &io::Error) -> &Error {
    error.get_ref().and_then(|error| error.downcast_ref()).expect("an error of rustls")
}

async fn echo(stream: impl AsyncRead + AsyncWrite) {
    let (mut reader, mut writer) = tokio::io::split(stream);
    tokio::io::copy(&mut reader, &mut writer).await.expect("copied");
    writer.shutdown().await.expect("closed");
}

/// More data than sockets buffer, in both directions at the same time, and an orderly close.
#[test]
fn a_large_message_is_echoed_encrypted() {
    const LARGE: usize = 4 << 20;
    on_gmp(|| async {
        let authority = Authority::create();
        let (client, server) = handshake(client_config(&authority), server_config(&authority, "localhost")).await;
        gmp_exec::spawn(echo(server.expect("accepted")));
        let client = client.expect("connected");
        assert_eq!(client.get_ref().1.protocol_version(), Some(ProtocolVersion::TLSv1_3));

        let message: Vec<u8> = (0..LARGE).map(|i| (i % 251) as u8).collect();
        let (mut reader, mut writer) = tokio::io::split(client);
        let sent = message.clone();
        let sender = gmp_exec::spawn(async move {
            writer.write_all(&sent).await.expect("written");
            writer.shutdown().await.expect("closed");
        });
        let mut received = Vec::new();
        reader.read_to_end(&mut received).await.expect("read");
        sender.await.expect("a sender");
        assert!(received == message, "{} bytes came back, others than sent", received.len());
    });
}

#[test]
fn a_certificate_of_an_unknown_authority_is_refused() {
    on_gmp(|| async {
        let (known, unknown) = (Authority::create(), Authority::create());
        let (client, server) = handshake(client_config(&known), server_config(&unknown, "localhost")).await;
        let error = client.expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        // The authorities have the same name, so only the signature shows that it is the wrong one.
        assert_eq!(tls_error(&error), &Error::InvalidCertificate(CertificateError::BadSignature));
        // The server learns the reason.
        let error = server.expect_err("refused");
        assert_eq!(tls_error(&error), &Error::AlertReceived(AlertDescription::DecryptError));
    });
}

#[test]
fn a_certificate_for_another_name_is_refused() {
    on_gmp(|| async {
        let authority = Authority::create();
        let (client, server) = handshake(client_config(&authority), server_config(&authority, "elsewhere.test")).await;
        let error = client.expect_err("refused");
        let Error::InvalidCertificate(CertificateError::NotValidForNameContext { presented, .. }) = tls_error(&error)
        else {
            panic!("{error:?}");
        };
        assert!(presented.iter().any(|name| name.contains("elsewhere.test")), "{presented:?}");
        assert!(server.is_err());
    });
}

#[test]
fn both_sides_agree_on_a_protocol() {
    on_gmp(|| async {
        let authority = Authority::create();
        let mut client = client_config(&authority);
        client.alpn_protocols = vec![b"one".to_vec(), b"two".to_vec()];
        let mut server = server_config(&authority, "localhost");
        server.alpn_protocols = vec![b"two".to_vec(), b"three".to_vec()];
        let (client, server) = handshake(client, server).await;
        assert_eq!(client.expect("connected").get_ref().1.alpn_protocol(), Some(&b"two"[..]));
        assert_eq!(server.expect("accepted").get_ref().1.alpn_protocol(), Some(&b"two"[..]));
    });
}

/// A connection that breaks off differs from one that was closed: an attacker can't cut a message
/// short unnoticed.
#[test]
fn a_connection_that_breaks_off_is_an_error() {
    on_gmp(|| async {
        let authority = Authority::create();
        let (client, server) = handshake(client_config(&authority), server_config(&authority, "localhost")).await;
        let (mut client, mut server) = (client.expect("connected"), server.expect("accepted"));
        server.write_all(b"half a mess").await.expect("written");
        server.flush().await.expect("sent");
        drop(server);
        let mut received = Vec::new();
        let error = client.read_to_end(&mut received).await.expect_err("not closed in order");
        assert_eq!(received, b"half a mess");
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    });
}
