//! A task as a line of JSON.

use std::fmt::{self, Write};
use std::panic::Location;

use super::info::TaskInfo;
use super::waits::{Descriptor, WaitsFor};

/// A task as an object of JSON, in one line; see [`TaskInfo::json`].
#[derive(Clone, Copy, Debug)]
pub struct TaskJson<'a>(&'a TaskInfo);

impl TaskInfo {
    /// The task as an object of JSON, in one line: for a file of lines that other programs read.
    ///
    /// The keys are `id`, `state` (`running`, `scheduled` or `waiting`), `file`, `line`, `column`,
    /// `blocking`, `polls`, and if they are known `name`, `age_ms`, `queued_ms`, `worker`, `stuck_ms` and
    /// `waits`.
    /// The last one is a list of [what it waits for](TaskInfo::waits_for): objects with one of the
    /// keys `timer_ms`, `readable_fd`, `writable_fd`, `task`, `any_of`, `sync` and `place`. With a
    /// descriptor, `peer` or `listens_at` may be an address of its socket, and `unanswered_ms` a number;
    /// with `sync`, `amount` is a number, `created` may be a place, and `holder` a task, with the place
    /// `locked_at` (and `locked_elsewhere`, if that is true) and the numbers `other_holders` and `held`.
    /// `waits_for_more` is there and true if there is more.
    /// `lost` is there and true if the task can never run again. Keys may be added.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread().build().unwrap();
    /// runtime.spawn(async {});
    /// for task in runtime.handle().tasks() {
    ///     println!("{}", task.json());
    ///     // {"id":1,"state":"scheduled","file":"src/main.rs","line":4,"column":9,"blocking":false,"polls":0}
    ///     assert!(task.json().to_string().contains(r#","state":"scheduled","file":""#));
    /// }
    /// ```
    pub fn json(&self) -> TaskJson<'_> {
        TaskJson(self)
    }
}

impl fmt::Display for TaskJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TaskJson(info) = self;
        let (file, line, column) = (Quoted(info.location.file()), info.location.line(), info.location.column());
        write!(f, r#"{{"id":{},"state":"{}","file":{file},"line":{line},"column":{column}"#, info.id, info.state)?;
        if let Some(name) = &info.name {
            write!(f, r#","name":{}"#, Quoted(name))?;
        }
        write!(f, r#","blocking":{},"polls":{}"#, info.is_blocking, info.polls)?;
        number(f, "age_ms", info.age.map(|age| age.as_millis()))?;
        number(f, "queued_ms", info.queued.map(|queued| queued.as_millis()))?;
        number(f, "worker", info.worker)?;
        number(f, "stuck_ms", info.stuck.map(|stuck| stuck.as_millis()))?;
        f.write_str(if info.is_lost { r#","lost":true"# } else { "" })?;
        waits_for(f, info)?;
        f.write_char('}')
    }
}

fn waits_for(f: &mut fmt::Formatter<'_>, info: &TaskInfo) -> fmt::Result {
    for (index, what) in info.waits_for.iter().enumerate() {
        f.write_str(if index == 0 { r#","waits":[{"# } else { ",{" })?;
        wait(f, what)?;
        f.write_char('}')?;
    }
    f.write_str(if info.waits_for.is_empty() { "" } else { "]" })?;
    f.write_str(if info.waits_for_more { r#","waits_for_more":true"# } else { "" })
}

fn wait(f: &mut fmt::Formatter<'_>, wait: &WaitsFor) -> fmt::Result {
    match wait {
        WaitsFor::Timer(left) => write!(f, r#""timer_ms":{}"#, left.as_millis()),
        WaitsFor::Readable(descriptor) => socket(f, "readable_fd", descriptor),
        WaitsFor::Writable(descriptor) => socket(f, "writable_fd", descriptor),
        WaitsFor::Task(id) => write!(f, r#""task":{id}"#),
        WaitsFor::AnyOf(count) => write!(f, r#""any_of":{count}"#),
        WaitsFor::Sync { resource, amount, created, holder, locked_at, locked_elsewhere, other_holders, held } => {
            write!(f, r#""sync":"{resource:?}","amount":{amount}"#)?;
            place_of(f, "created", *created)?;
            number(f, "holder", *holder)?;
            place_of(f, "locked_at", holder.and(*locked_at))?;
            f.write_str(if holder.is_some() && *locked_elsewhere { r#","locked_elsewhere":true"# } else { "" })?;
            number(f, "other_holders", holder.map(|_| other_holders))?;
            number(f, "held", holder.map(|_| held))
        }
        WaitsFor::Place(at) => {
            f.write_str(r#""place":"#)?;
            place(f, at)
        }
    }
}

fn socket(f: &mut fmt::Formatter<'_>, name: &str, descriptor: &Descriptor) -> fmt::Result {
    write!(f, r#""{name}":{}"#, descriptor.fd)?;
    for (name, address) in [("peer", descriptor.peer), ("listens_at", descriptor.listens_at)] {
        if let Some(address) = address {
            write!(f, r#","{name}":"{address}""#)?;
        }
    }
    number(f, "unanswered_ms", descriptor.unanswered.map(|ago| ago.as_millis()))
}

fn place(f: &mut fmt::Formatter<'_>, place: &Location<'_>) -> fmt::Result {
    write!(f, "{}", Quoted(&format!("{}:{}", place.file(), place.line())))
}

fn place_of(f: &mut fmt::Formatter<'_>, name: &str, at: Option<&Location<'_>>) -> fmt::Result {
    let Some(at) = at else { return Ok(()) };
    write!(f, r#","{name}":"#)?;
    place(f, at)
}

fn number(f: &mut fmt::Formatter<'_>, name: &str, value: Option<impl fmt::Display>) -> fmt::Result {
    value.map_or(Ok(()), |value| write!(f, r#","{name}":{value}"#))
}

/// A string. RFC 8259, section 7: the quotation mark, the backslash and control characters are escaped.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c))?,
                _ => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn what_json_does_not_allow_in_a_string_is_escaped() {
        assert_eq!(Quoted("src/main.rs").to_string(), r#""src/main.rs""#);
        assert_eq!(Quoted("a\"b\\c\nd\u{1f}é").to_string(), r#""a\"b\\c\u000ad\u001fé""#);
        // Terminals obey these, too.
        assert_eq!(Quoted("\u{7f}\u{9b}31m").to_string(), r#""\u007f\u009b31m""#);
    }

    #[test]
    fn unknown_values_are_left_out() {
        struct Numbers(Option<u32>);
        impl fmt::Display for Numbers {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                number(f, "n", self.0)
            }
        }
        assert_eq!(Numbers(None).to_string(), "");
        assert_eq!(Numbers(Some(5)).to_string(), r#","n":5"#);
    }
}
