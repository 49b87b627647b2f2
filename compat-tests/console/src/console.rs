//! console-subscriber with a client, as two processes would have them: over a socket.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use console_api::instrument::instrument_client::InstrumentClient;
use console_api::instrument::{InstrumentRequest, Update};
use console_subscriber::{ConsoleLayer, Server};
use tempfile::TempDir;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::NoSubscriber;
use tracing::{Dispatch, dispatcher, trace_span};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;

use crate::view::{MARK, View};

/// No state of a program takes so long to be shown.
const DEADLINE: Duration = Duration::from_secs(60);

/// A console that is connected to a subscriber.
#[derive(Debug)]
pub struct Console {
    subscriber: Dispatch,
    /// `None` only while it is dropped.
    updates: Option<Receiver<Update>>,
    server: Option<JoinHandle<()>>,
    view: View,
    _folder: TempDir,
    _alone: MutexGuard<'static, ()>,
}

/// Held as long as a console exists. A subscriber may miss a place in the source that another
/// thread uses for the first time while the subscriber is made, and would then ignore its spans.
/// Programs have one subscriber, and make it first.
static ALONE: Mutex<()> = Mutex::new(());

impl Console {
    /// Starts a console, and returns the subscriber that it shows. The filter is that of
    /// `console_subscriber::init`.
    pub fn start() -> (Dispatch, Console) {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let socket = folder.path().join("console");
        let builder = ConsoleLayer::builder().server_addr(socket.clone()).publish_interval(Duration::from_millis(20));
        let (layer, server) = builder.build();
        let filter = Targets::new().with_targets([("tokio", LevelFilter::TRACE), ("runtime", LevelFilter::TRACE)]);
        let subscriber = Dispatch::new(tracing_subscriber::registry().with(layer.with_filter(filter)));
        let (sender, updates) = channel();
        let mut console = Console {
            subscriber: subscriber.clone(),
            updates: Some(updates),
            server: Some(thread::spawn(move || serve(server, socket, sender))),
            view: View::default(),
            _folder: folder,
            _alone: alone,
        };
        console.receive(Instant::now() + DEADLINE);
        (subscriber, console)
    }

    /// Waits until the console shows what is asked for.
    ///
    /// # Panics
    ///
    /// If the console does not show it within a minute.
    pub fn wait_until(&mut self, mut is_shown: impl FnMut(&View) -> bool) -> &View {
        let deadline = Instant::now() + DEADLINE;
        while !is_shown(&self.view) {
            self.receive(deadline);
        }
        &self.view
    }

    /// Waits until everything that has happened up to now is shown.
    pub fn wait(&mut self) -> &View {
        // The subscriber's thread takes its events in order, some at a time.
        let marks = self.view.marks();
        dispatcher::with_default(
            &self.subscriber,
            || trace_span!(target: "tokio::mark", "runtime.spawn", kind = %MARK),
        );
        self.wait_until(|view| view.marks() > marks)
    }

    fn receive(&mut self, deadline: Instant) {
        let updates = self.updates.as_ref().expect("the console exists");
        match updates.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(update) => self.view.add(update),
            Err(RecvTimeoutError::Timeout) => panic!("not shown: {:#?}", self.view),
            Err(RecvTimeoutError::Disconnected) => panic!("the console's connection has ended"),
        }
    }
}

impl Drop for Console {
    /// Ends the server, which would run beside the next console.
    fn drop(&mut self) {
        drop(self.updates.take());
        // If it has panicked, the test has failed for that reason.
        let _ = self.server.take().map(JoinHandle::join);
    }
}

/// The subscriber must not see its own server.
fn serve(server: Server, socket: PathBuf, updates: Sender<Update>) {
    let _unseen = tracing::subscriber::set_default(NoSubscriber::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        tokio::select! {
            result = server.serve() => result.expect("the server runs"),
            () = watch(socket, updates) => {}
        }
    });
}

async fn watch(socket: PathBuf, updates: Sender<Update>) {
    let address = format!("unix:{}", socket.display());
    let mut client = loop {
        match InstrumentClient::connect(address.clone()).await {
            Ok(client) => break client,
            // The server is about to listen.
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    };
    let stream = client.watch_updates(InstrumentRequest {}).await.expect("the server answers");
    let mut stream = stream.into_inner();
    while let Ok(Some(update)) = stream.message().await {
        if updates.send(update).is_err() {
            return;
        }
    }
}
