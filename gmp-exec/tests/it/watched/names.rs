//! Names of tasks, as the dump and the reports show them.

use std::future::pending;
use std::sync::mpsc;
use std::time::Duration;

use gmp_exec::runtime::{Handle, Leaks, Runtime};
use gmp_exec::task::{Builder, Id, JoinSet, LocalSet};

use crate::support::{current, multi, wait_until};

fn name_of(handle: &Handle, task: Id) -> Option<String> {
    handle.tasks().find(|info| info.id == task)?.name.map(String::from)
}

fn waits_with_name(runtime: &Runtime, task: Id, name: &str) {
    wait_until(|| name_of(runtime.handle(), task).as_deref() == Some(name));
}

#[test]
fn a_name_lives_as_long_as_its_task() {
    let runtime = multi(2).build().unwrap();
    let task = Builder::new().name("waits").spawn_on(pending::<()>(), runtime.handle()).unwrap();
    let id = task.id();
    waits_with_name(&runtime, id, "waits");
    let text = runtime.handle().tasks().next().unwrap().json().to_string();
    assert!(text.contains(r#","name":"waits""#), "{text}");
    task.abort();
    assert!(runtime.block_on(task).unwrap_err().is_cancelled());
    assert_eq!(name_of(runtime.handle(), id), None);
}

#[test]
fn a_task_without_a_name_has_none() {
    let runtime = multi(1).build().unwrap();
    let named = Builder::new().name("other").spawn_on(pending::<()>(), runtime.handle()).unwrap();
    let task = Builder::new().spawn_on(pending::<()>(), runtime.handle()).unwrap();
    waits_with_name(&runtime, named.id(), "other");
    wait_until(|| runtime.handle().tasks().any(|info| info.id == task.id()));
    assert_eq!(name_of(runtime.handle(), task.id()), None);
}

#[test]
fn every_way_to_spawn_gives_the_name() {
    let runtime = current().build().unwrap();
    let named = |name| Builder::new().name(name);
    runtime.block_on(async {
        let handle = Handle::current();
        let (own, other) = (handle.clone(), handle.clone());
        let sees = move || own.tasks().find(|info| info.id == gmp_exec::task::id()).unwrap().name;
        let seen = named("future").spawn({
            let sees = sees.clone();
            async move { sees() }
        });
        assert_eq!(seen.unwrap().await.unwrap().as_deref(), Some("future"));
        let seen = named("closure").spawn_blocking_on(sees.clone(), &other).unwrap();
        assert_eq!(seen.await.unwrap().as_deref(), Some("closure"));

        let set = LocalSet::new();
        let on = named("on a set").spawn_local_on(pending::<()>(), &set).unwrap();
        let inside = set.run_until(async { named("in a set").spawn_local(pending::<()>()).unwrap().id() }).await;
        set.run_until(gmp_exec::task::yield_now()).await;
        assert_eq!(name_of(&handle, on.id()).as_deref(), Some("on a set"));
        assert_eq!(name_of(&handle, inside).as_deref(), Some("in a set"));

        let mut joined = JoinSet::new();
        joined.build_task().name("joined").spawn(async move { sees() }).unwrap();
        assert_eq!(joined.join_next().await.unwrap().unwrap().as_deref(), Some("joined"));
    });
}

#[test]
fn groups_are_apart_by_name() {
    let runtime = multi(1).build().unwrap();
    for name in ["red", "blue", "red"] {
        Builder::new().name(name).spawn_on(pending::<()>(), runtime.handle()).unwrap();
    }
    let text = || runtime.handle().tasks().groups().to_string();
    wait_until(|| text().contains(r#"2 waiting "red", spawned at "#) && text().contains(r#"1 waiting "blue", "#));
}

#[test]
fn the_report_of_blocked_tasks_has_the_name() {
    let runtime = multi(2).blocking_threshold(Duration::from_millis(5)).build().unwrap();
    let (sender, receiver) = mpsc::channel::<()>();
    let blocks = async move { receiver.recv().unwrap() };
    let task = Builder::new().name("blocks").spawn_on(blocks, runtime.handle()).unwrap();
    let entry = || runtime.handle().blocked_report().entries.into_iter().find(|entry| entry.task == task.id());
    wait_until(|| entry().is_some());
    assert_eq!(entry().unwrap().name.as_deref(), Some("blocks"));
    assert!(entry().unwrap().to_string().contains(r#"task "blocks", spawned at "#));
    sender.send(()).unwrap();
    runtime.block_on(task).unwrap();
}

#[test]
fn the_report_of_lost_tasks_has_the_name() {
    let runtime = current().leaks(Leaks::Warn).build().unwrap();
    let _lost = Builder::new().name("waits for nobody").spawn_on(pending::<()>(), runtime.handle()).unwrap();
    runtime.block_on(gmp_exec::task::yield_now());
    let lost = runtime.handle().lost_tasks();
    assert_eq!(lost.tasks[0].name.as_deref(), Some("waits for nobody"));
    assert!(lost.to_string().contains(r#" "waits for nobody", spawned at "#), "{lost}");
}
