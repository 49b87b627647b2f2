//! dufs, a file server from crates.io, installed unchanged by `cargo gmp install`. It is written
//! against tokio and hyper: sockets, files, streams of both, blocking closures, Ctrl-C.
//!
//! The proof that it runs on gmp comes from outside: its output contains gmp's trace of the
//! scheduler.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Instant;

use compat_tests::DEADLINE;
use compat_tests::server::Server;
use reqwest::header::{CONTENT_RANGE, RANGE};
use reqwest::{Body, Client, Method, StatusCode};
use tokio::task::JoinSet;

use crate::support::{client, get, on_gmp};

/// The installed program. It is installed first if it is missing or gmp has changed, which takes
/// time, so this runs before any deadline starts.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let own_folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let root = own_folder.join("dufs");
    let mut install = Command::new(env!("CARGO"));
    install.args(["run", "--quiet", "--package", "cargo-gmp", "--", "gmp", "install", "dufs@0.47.0", "--debug"]);
    install.args(["--no-default-features", "--root"]).arg(&root);
    install.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    install.env("CARGO_TARGET_DIR", own_folder.parent().expect("it is in the target folder"));
    install.env("XDG_CACHE_HOME", own_folder);
    // The registry sometimes fails to answer.
    install.env("CARGO_NET_RETRY", "10");
    let output = install.output().expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    root.join("bin/dufs")
});

/// Serves a folder that contains `numbers.bin`, with all permissions for all clients.
fn serve() -> Server {
    let prepare = |directory: &Path| {
        std::fs::create_dir(directory.join("files")).expect("a folder");
        std::fs::write(directory.join("files/numbers.bin"), numbers()).expect("written");
    };
    let command = |port: u16, directory: &Path| {
        let mut command = Command::new(&*PROGRAM);
        command.arg(directory.join("files")).args(["--allow-all", "--bind", "127.0.0.1", "--port", &port.to_string()]);
        command.env("GMP_DEBUG", "schedtrace=10");
        command
    };
    Server::start("Listening on", prepare, command)
}

/// A file of some length in which all parts differ.
fn numbers() -> Vec<u8> {
    (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect()
}

/// Ctrl-C ends the server, and its output shows that it has run on gmp. The server listens before
/// it has a handler for Ctrl-C, and before the first line of the trace is due.
fn end(mut server: Server) {
    let start = Instant::now();
    while !(server.catches_interrupt() && server.log().contains("SCHED ")) {
        assert!(start.elapsed() < DEADLINE, "no handler, or no trace of gmp: {}", server.log());
        std::thread::yield_now();
    }
    let status = server.interrupt().expect("it ends");
    assert!(status.success(), "{status}: {}", server.log());
}

fn url(server: &Server, path: &str) -> String {
    format!("http://{}/{path}", server.address())
}

#[test]
fn files_are_served_whole_and_in_ranges_to_many_at_a_time() {
    LazyLock::force(&PROGRAM);
    on_gmp(|| async {
        let server = serve();
        let (all, url) = (numbers(), url(&server, "numbers.bin"));
        let mut clients = JoinSet::new();
        for i in 0..20 {
            let (all, url) = (all.clone(), url.clone());
            clients.spawn(async move {
                let client = client();
                let whole = client.get(&url).send().await.expect("a response").bytes().await.expect("a body");
                assert!(whole == all, "{} bytes", whole.len());
                let (first, last) = (i * 100_000, i * 100_000 + 199_999);
                let part = client.get(&url).header(RANGE, format!("bytes={first}-{last}")).send().await;
                let part = part.expect("a response");
                assert_eq!(part.status(), StatusCode::PARTIAL_CONTENT);
                assert_eq!(part.headers()[CONTENT_RANGE], format!("bytes {first}-{last}/{}", all.len()));
                assert!(part.bytes().await.expect("a body") == all[first..=last]);
            });
        }
        clients.join_all().await;
        let beyond = client().get(&url).header(RANGE, "bytes=4000000-").send().await.expect("a response");
        assert_eq!(beyond.status(), StatusCode::RANGE_NOT_SATISFIABLE);
        end(server);
    });
}

async fn ask(client: &Client, method: &str, url: String, body: impl Into<Body>) -> StatusCode {
    let method = Method::from_bytes(method.as_bytes()).expect("a method");
    client.request(method, url).body(body).send().await.expect("a response").status()
}

#[test]
fn what_is_uploaded_is_found_packed_and_removed() {
    LazyLock::force(&PROGRAM);
    on_gmp(|| async {
        let (server, client) = (serve(), client());
        assert_eq!(ask(&client, "MKCOL", url(&server, "burrow"), "").await, StatusCode::CREATED);
        let mut uploads = JoinSet::new();
        for i in 0..20 {
            let (client, url) = (client.clone(), url(&server, &format!("burrow/{i}.txt")));
            uploads.spawn(async move {
                let body = format!("tunnel {i}\n").repeat(10_000);
                assert_eq!(ask(&client, "PUT", url.clone(), body.clone()).await, StatusCode::CREATED);
                assert!(get(&client, url).await == body);
            });
        }
        uploads.join_all().await;
        let found = get(&client, url(&server, "?q=7.txt&simple")).await;
        assert_eq!(found.lines().collect::<Vec<_>>(), ["burrow/7.txt", "burrow/17.txt"]);
        let packed = client.get(url(&server, "burrow?zip")).send().await.expect("a response");
        assert!(packed.bytes().await.expect("a body").starts_with(b"PK"));

        assert_eq!(ask(&client, "DELETE", url(&server, "burrow"), "").await, StatusCode::NO_CONTENT);
        assert!(!server.directory().join("files/burrow").exists());
        end(server);
    });
}

/// A download is in progress, and its client has stopped reading.
#[test]
fn ctrl_c_ends_it_while_it_serves() {
    LazyLock::force(&PROGRAM);
    on_gmp(|| async {
        let server = serve();
        let mut response = client().get(url(&server, "numbers.bin")).send().await.expect("a response");
        response.chunk().await.expect("a chunk").expect("not the end");
        end(server);
        while response.chunk().await.is_ok_and(|chunk| chunk.is_some()) {}
    });
}
