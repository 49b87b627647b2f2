//! What the feature `tracing` costs, and console-subscriber's layer.
//!
//! A build with `--cfg tokio_unstable` turns the feature on in both libraries: tokio's does nothing
//! without the cfg. No other build needs the dependencies.

/// Whether both libraries make spans and events.
pub(crate) const IS_TRACED: bool = cfg!(tokio_unstable);

/// Makes console-subscriber's layer the subscriber of all threads. No server runs, so only the cost
/// for the threads of the program is counted: the layer has room for the events of the few tasks.
#[cfg(tokio_unstable)]
pub(crate) fn start() -> anyhow::Result<()> {
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::util::SubscriberInitExt;

    let (layer, server) = console_subscriber::ConsoleLayer::new();
    // Without a receiver the layer would drop each event at once.
    std::mem::forget(server);
    tracing_subscriber::registry().with(layer).try_init()?;
    Ok(())
}

#[cfg(not(tokio_unstable))]
pub(crate) fn start() -> anyhow::Result<()> {
    anyhow::bail!("--console needs a build with `--cfg tokio_unstable`")
}
