//! Names of threads, by which dashboards, log filters and `top -H` go.

use std::thread;

use tokio::runtime::{Builder, Runtime};

async fn names(runtime: &Runtime) -> [Option<String>; 2] {
    let name = || thread::current().name().map(str::to_owned);
    [runtime.spawn(async move { name() }).await.unwrap(), runtime.spawn_blocking(name).await.unwrap()]
}

#[test]
fn the_default_name_is_tokios() {
    let runtime = Runtime::new().unwrap();
    assert_eq!(runtime.block_on(names(&runtime)), [(); 2].map(|()| Some("tokio-rt-worker".to_owned())));
}

#[test]
fn the_name_of_the_user_comes_first() {
    let runtime = Builder::new_multi_thread().thread_name("mine").build().unwrap();
    assert_eq!(runtime.block_on(names(&runtime)), [(); 2].map(|()| Some("mine".to_owned())));
}
