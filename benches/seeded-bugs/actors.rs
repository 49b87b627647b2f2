//! Actors: kameo and ractor.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use kameo::mailbox::bounded::{BoundedMailbox, BoundedMailboxReceiver};
use kameo::message::{Context, Message};
use kameo::request::MessageSend;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use crate::LIMIT;

/// A kameo actor whose mailbox has room for one message.
struct Small;

impl kameo::Actor for Small {
    type Mailbox = BoundedMailbox<Self>;

    fn new_mailbox() -> (BoundedMailbox<Self>, BoundedMailboxReceiver<Self>) {
        BoundedMailbox::new(1)
    }
}

impl Message<()> for Small {
    type Reply = ();

    async fn handle(&mut self, (): (), _: Context<'_, Self, ()>) {}
}

/// kameo #84: an actor that starts sends itself a message, for which there is no room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kameo_start() {
    let actor = kameo::spawn(Small);
    sleep(Duration::from_millis(1)).await;
    timeout(LIMIT, actor.ask(()).send()).await.expect("the actor does not start").unwrap();
}

/// A ractor actor that counts its messages.
struct Counting(Arc<AtomicUsize>);

impl Actor for Counting {
    type Msg = ();
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<()>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(&self, _: ActorRef<()>, (): (), (): &mut ()) -> Result<(), ActorProcessingErr> {
        self.0.fetch_add(1, SeqCst);
        Ok(())
    }
}

/// ractor #466: a message is accepted, and comes behind the mark at which the actor ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ractor_drain() {
    let handled = Arc::new(AtomicUsize::new(0));
    let (actor, ended) = Actor::spawn(None, Counting(handled.clone()), ()).await.unwrap();
    let other = actor.clone();
    let sending = tokio::spawn(async move { (0..3).filter(|_| other.cast(()).is_ok()).count() });
    actor.drain().unwrap();
    ended.await.unwrap();
    assert_eq!(sending.await.unwrap(), handled.load(SeqCst), "a message that was accepted is lost");
}

/// ractor #466: the second task that waits for an actor that has ended waits for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ractor_wait() {
    let (actor, ended) = Actor::spawn(None, Counting(Arc::default()), ()).await.unwrap();
    let waiting: Vec<_> = (0..2)
        .map(|_| {
            let actor = actor.clone();
            tokio::spawn(async move { actor.wait(Some(LIMIT)).await.expect("the actor has ended") })
        })
        .collect();
    yield_now().await;
    actor.stop(None);
    ended.await.unwrap();
    for task in waiting {
        task.await.unwrap();
    }
}
