//! warp: filters, its own server, its graceful end.

use tokio::sync::oneshot;
use tokio::task::JoinSet;
use warp::Filter;

use crate::support::{client, get, listen, on_gmp};

#[test]
fn filters_answer_many_until_the_graceful_end() {
    on_gmp(|| async {
        let greet = warp::path!("hello" / String).map(|name: String| format!("hello {name}"));
        let wait = warp::path!("wait" / u64).then(|millis| async move {
            tokio::time::sleep(std::time::Duration::from_millis(millis)).await;
            "waited"
        });
        let (listener, server) = listen().await;
        let (stop, stopped) = oneshot::channel();
        let serving = warp::serve(greet.or(wait))
            .incoming(listener)
            .graceful(async { stopped.await.expect("told to stop") })
            .run();
        let serving = tokio::spawn(serving);

        let mut tasks = JoinSet::new();
        for i in 0..50 {
            tasks.spawn(async move {
                let client = client();
                assert_eq!(get(&client, format!("http://{server}/hello/{i}")).await, format!("hello {i}"));
                assert_eq!(get(&client, format!("http://{server}/wait/{}", i % 5)).await, "waited");
            });
        }
        tasks.join_all().await;
        stop.send(()).expect("it serves");
        serving.await.expect("a clean end");
    });
}
