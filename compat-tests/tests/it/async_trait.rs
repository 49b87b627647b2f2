//! async-trait: methods behind `dyn`, each a boxed future that gmp polls and moves from thread to
//! thread.

use std::collections::HashMap;
use std::io;

use async_trait::async_trait;
use gmp_io::net::TcpStream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Mutex;

use crate::support::{connect, on_gmp, serve};

/// Asks for a number by name.
#[async_trait]
trait Directory: Send + Sync {
    async fn look_up(&self, name: &str) -> io::Result<u32>;

    async fn look_up_all(&self, names: &[&str]) -> io::Result<u32> {
        let mut sum = 0;
        for name in names {
            sum += self.look_up(name).await?;
        }
        Ok(sum)
    }
}

struct InMemory(HashMap<&'static str, u32>);

#[async_trait]
impl Directory for InMemory {
    async fn look_up(&self, name: &str) -> io::Result<u32> {
        gmp_exec::task::yield_now().await;
        self.0.get(name).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

struct Remote(Mutex<TcpStream>);

#[async_trait]
impl Directory for Remote {
    async fn look_up(&self, name: &str) -> io::Result<u32> {
        let mut stream = self.0.lock().await;
        stream.write_u8(name.len() as u8).await?;
        stream.write_all(name.as_bytes()).await?;
        stream.read_u32().await
    }
}

/// A server that knows each name's length.
async fn remote() -> Remote {
    let address = serve(|mut stream| async move {
        while let Ok(length) = stream.read_u8().await {
            stream.read_exact(&mut vec![0; length.into()]).await.expect("read");
            stream.write_u32(length.into()).await.expect("written");
        }
    });
    Remote(Mutex::new(connect(address.await).await))
}

#[test]
fn objects_of_a_trait_wait_on_sockets_and_on_tasks() {
    on_gmp(|| async {
        let directories: [Box<dyn Directory>; 2] =
            [Box::new(InMemory(HashMap::from([("ann", 3), ("bobby", 5)]))), Box::new(remote().await)];
        for directory in directories {
            let asked = gmp_exec::spawn(async move { directory.look_up_all(&["ann", "bobby", "ann"]).await });
            assert_eq!(asked.await.expect("a task").expect("found"), 11);
        }
        let error = InMemory(HashMap::new()).look_up_all(&["ann"]).await.expect_err("unknown name");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    });
}
