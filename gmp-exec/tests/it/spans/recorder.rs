//! A subscriber that keeps what it sees.

use std::collections::HashMap;
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Dispatch, Event, Metadata, Subscriber};

/// What happened, in order: a line each, such as `enter 1`.
#[derive(Clone, Default)]
pub(super) struct Recorder(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    lines: Vec<String>,
    references: HashMap<u64, usize>,
    panics_at: Option<&'static str>,
}

impl Recorder {
    pub(super) fn dispatch(&self) -> Dispatch {
        Dispatch::new(self.clone())
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().lines.clone()
    }

    /// The lines that begin with this, without it.
    pub(super) fn of(&self, beginning: &str) -> Vec<String> {
        self.lines().iter().filter_map(|line| Some(line.strip_prefix(beginning)?.to_owned())).collect()
    }

    /// The number of the span whose first line contains this.
    pub(super) fn span(&self, part: &str) -> String {
        let spans = self.of("new ");
        let span = spans.iter().find(|line| line.contains(part));
        span.unwrap_or_else(|| panic!("no {part} among {spans:#?}")).split(' ').next().unwrap().to_owned()
    }

    /// From now on the subscriber panics at each line that begins with this.
    pub(super) fn panic_at(&self, beginning: &'static str) {
        self.0.lock().unwrap().panics_at = Some(beginning);
    }

    fn note(&self, line: String) {
        let mut seen = self.0.lock().unwrap();
        let panics = seen.panics_at.is_some_and(|beginning| line.starts_with(beginning));
        seen.lines.push(line);
        drop(seen);
        assert!(!panics, "the subscriber panics");
    }
}

impl Subscriber for Recorder {
    /// Threads without this subscriber, which run other tests, make no spans.
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        !metadata.target().starts_with("gmp")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let number = {
            let mut seen = self.0.lock().unwrap();
            let number = seen.references.len() as u64 + 1;
            seen.references.insert(number, 1);
            number
        };
        let metadata = span.metadata();
        let mut line = format!("new {number} {} {}", metadata.target(), metadata.name());
        span.record(&mut Fields(&mut line));
        self.note(line);
        Id::from_u64(number)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = format!("event {}", event.metadata().target());
        event.record(&mut Fields(&mut line));
        self.note(line);
    }

    fn enter(&self, span: &Id) {
        self.note(format!("enter {}", span.into_u64()));
    }

    fn exit(&self, span: &Id) {
        self.note(format!("exit {}", span.into_u64()));
    }

    fn clone_span(&self, span: &Id) -> Id {
        *self.0.lock().unwrap().references.get_mut(&span.into_u64()).unwrap() += 1;
        span.clone()
    }

    fn try_close(&self, span: Id) -> bool {
        let is_last = {
            let mut seen = self.0.lock().unwrap();
            let references = seen.references.get_mut(&span.into_u64()).unwrap();
            *references -= 1;
            *references == 0
        };
        if is_last {
            self.note(format!("close {}", span.into_u64()));
        }
        is_last
    }
}

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}
