//! How, when and on which machine each part was measured.

use gmp_benches::report::Column;
use maud::{Markup, html};

use super::html::words_table;
use crate::about::About;
use crate::part::Part;

const COLUMNS: [Column<(Part, About)>; 6] = [
    ("part", 0, |(part, _)| part.name().to_owned()),
    ("date", 0, |(_, about)| about.date.clone()),
    ("took", 0, |(_, about)| format!("{} s", about.seconds)),
    ("load before", 0, |(_, about)| about.load_before.clone().unwrap_or_default()),
    ("load of others", 0, |(_, about)| about.others_before.map_or(String::new(), |load| format!("{load:.2}"))),
    ("commands", 0, |(_, about)| about.commands.join("\n")),
];

/// The machine and the commands of every part that was measured by this program.
pub(crate) fn body(about: &[(Part, About)]) -> Markup {
    html! {
        p {
            "Both sides run the same text and take turns, in an order that rotates, and mostly in one process. \
             Processes of their own have Go, whose text is another one, the row memory_idle_task, each repetition of \
             it, and the servers of the HTTP mix; each repetition of the ticker is a runtime of its own. The numbers \
             of the table are medians, each with the distance between the quartiles in percent of the median. The \
             ratio is gmp's median over tokio's in the same run: times drift with the machine, the ratio less so. \
             Latencies of HTTP requests count from the moment at which a request was due, whether or not it \
             could be sent then."
        }
        @for (facts, parts) in machines(about) {
            dl {
                dt { "parts" } dd { (parts.join(", ")) }
                @for (name, value) in facts { dt { (name) } dd { (value) } }
            }
        }
        (words_table(&COLUMNS, about))
    }
}

/// The facts about a machine, by name.
type Facts = Vec<(&'static str, String)>;

/// One list for all parts that were measured on the same machine.
fn machines(about: &[(Part, About)]) -> Vec<(Facts, Vec<&str>)> {
    let mut machines: Vec<(Facts, Vec<&str>)> = Vec::new();
    for (part, about) in about {
        let facts = facts(about);
        match machines.iter_mut().find(|machine| machine.0 == facts) {
            Some(machine) => machine.1.push(part.name()),
            None => machines.push((facts, vec![part.name()])),
        }
    }
    machines
}

fn facts(about: &About) -> Facts {
    let facts = [
        ("gmp", Some(about.gmp.clone())),
        ("tokio", Some(about.tokio.clone())),
        ("Rust", about.rustc.clone()),
        ("Go", about.go.clone()),
        ("cores", about.cores.map(|cores| cores.to_string())),
        ("processor", about.cpu.clone()),
        ("memory", about.memory.clone()),
        ("system", about.kernel.clone()),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
