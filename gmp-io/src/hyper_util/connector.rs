//! Opening connections for hyper-util's client.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection};
use tower_service::Service;

use crate::hyper::GmpIo;
use crate::net::TcpStream;

/// Opens TCP connections for hyper-util's client.
///
/// Connects to the host and port of a URI, trying the host's addresses one after the other. The
/// name is resolved as by [`lookup_host`](crate::net::lookup_host). The port is 80 unless the URI
/// names another.
///
/// # Errors
///
/// Connecting fails as [`TcpStream::connect`] does. A URI without a host, or with another scheme
/// than `http` (see [`enforce_http`](Self::enforce_http)), is an [`ErrorKind::InvalidInput`].
///
/// # Panics
///
/// Connecting panics if there is no current runtime, or if its I/O is not enabled.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GmpConnector {
    enforce_http: bool,
    nodelay: bool,
}

impl Default for GmpConnector {
    fn default() -> Self {
        GmpConnector::new()
    }
}

impl GmpConnector {
    /// Makes a connector that accepts only `http` URIs and does not set `TCP_NODELAY`.
    pub fn new() -> Self {
        GmpConnector { enforce_http: true, nodelay: false }
    }

    /// Sets whether to refuse URIs with another scheme than `http`, so that nothing is sent
    /// unencrypted by mistake. A connector that wraps this one and encrypts turns this off; the
    /// default port is then 443 for the scheme `https`.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::hyper_util::GmpConnector;
    /// use tower_service::Service;
    ///
    /// let mut connector = GmpConnector::new();
    /// let uri: hyper::Uri = "https://localhost/".parse().unwrap();
    /// let error = connector.call(uri).await.unwrap_err();
    /// assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    ///
    /// connector.enforce_http(false); // for a connector that wraps this one and encrypts
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn enforce_http(&mut self, enforce: bool) {
        self.enforce_http = enforce;
    }

    /// Sets whether connections get `TCP_NODELAY`.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// use gmp_io::hyper_util::GmpConnector;
    /// use tower_service::Service;
    ///
    /// let mut connector = GmpConnector::new();
    /// connector.set_nodelay(true);
    /// let uri: hyper::Uri = format!("http://{address}/").parse().unwrap();
    /// assert!(connector.call(uri).await?.inner().nodelay()?);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_nodelay(&mut self, nodelay: bool) {
        self.nodelay = nodelay;
    }

    fn target(&self, uri: &Uri) -> io::Result<(String, u16)> {
        let scheme = uri.scheme_str();
        if self.enforce_http && scheme != Some("http") {
            return Err(io::Error::new(ErrorKind::InvalidInput, "the URI's scheme is not http"));
        }
        let host = uri.host().ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "the URI has no host"))?;
        let port = uri.port_u16().unwrap_or(if scheme == Some("https") { 443 } else { 80 });
        Ok((without_brackets(host).to_owned(), port))
    }
}

/// An IPv6 address is in brackets in a URI, and nowhere else.
fn without_brackets(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

impl Service<Uri> for GmpConnector {
    type Response = GmpIo<TcpStream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<GmpIo<TcpStream>>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let target = self.target(&uri);
        let nodelay = self.nodelay;
        Box::pin(async move {
            let stream = TcpStream::connect(target?).await?;
            stream.set_nodelay(nodelay)?;
            Ok(GmpIo::new(stream))
        })
    }
}

impl Connection for GmpIo<TcpStream> {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(connector: &GmpConnector, uri: &str) -> Result<(String, u16), ErrorKind> {
        connector.target(&uri.parse().expect("a URI")).map_err(|error| error.kind())
    }

    #[test]
    fn the_target_is_what_the_uri_names() {
        let mut connector = GmpConnector::new();
        assert_eq!(target(&connector, "http://a.test/x"), Ok(("a.test".into(), 80)));
        assert_eq!(target(&connector, "http://[::1]:8080/"), Ok(("::1".into(), 8080)));
        assert_eq!(target(&connector, "https://a.test/"), Err(ErrorKind::InvalidInput));
        assert_eq!(target(&connector, "/x"), Err(ErrorKind::InvalidInput));

        connector.enforce_http(false);
        assert_eq!(target(&connector, "https://a.test/"), Ok(("a.test".into(), 443)));
        assert_eq!(target(&connector, "/x"), Err(ErrorKind::InvalidInput));
    }
}
