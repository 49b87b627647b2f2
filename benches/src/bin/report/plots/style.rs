//! The style sheet of all plots, for light and dark.
//!
//! Colours identify the side, but never alone: every line and bar also has its name at its end or a
//! shape of its own. Readers with any kind of colour blindness can distinguish blue and orange.
//! Each colour has two versions, chosen for a contrast of at least 4.5 to 1 with their background.

use gmp_benches::side::Side;

/// A class, its colour on a light background and on a dark one.
const INKS: [(&str, &str, &str); 8] = [
    ("ink", "#1f2328", "#e6edf3"),
    ("faint", "#59636e", "#9198a1"),
    ("gmp", "#0a5fb4", "#6cb6ff"),
    ("tokio", "#b14a00", "#ff9e57"),
    ("go", "#00705f", "#3fd0b6"),
    ("smol", "#8a3fa0", "#d59bea"),
    ("paper", "#ffffff", "#0d1117"),
    ("grid", "#d9dee3", "#2b323b"),
];

/// The rules that are the same for light and dark. `dashed` marks a second line of the same colour.
const SHAPES: &str = "\
.plot{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',Arial,sans-serif;\
font-variant-numeric:tabular-nums}
.plot .strong{font-weight:600}
.plot .title{font-size:14px;font-weight:600}
.plot .small{font-size:11px}
.plot line,.plot polyline{fill:none;stroke-width:1}
.plot polyline{stroke-width:2;stroke-linejoin:round}
.plot line.heavy{stroke-width:2}
.plot line.edge{stroke-width:5}
.plot .outlined{stroke-width:1.5}
.plot .dashed{stroke-dasharray:5 4}
.plot .dotted{stroke-dasharray:1.5 3}
";

/// The style sheet. The class of a colour applies to fills and strokes.
pub(crate) fn sheet() -> String {
    let [light, dark] = [INKS.map(|(class, light, _)| (class, light)), INKS.map(|(class, _, dark)| (class, dark))];
    let [light, dark] = [light, dark].map(|inks| inks.map(|(class, colour)| rules(class, colour)).concat());
    format!("{SHAPES}{light}@media (prefers-color-scheme:dark){{\n{dark}}}\n")
}

fn rules(class: &str, colour: &str) -> String {
    // A sign on a bar has an outline that separates the two.
    let outline = if class == "paper" { format!(".plot .outlined{{stroke:{colour}}}\n") } else { String::new() };
    format!(
        ".plot .{class}{{fill:{colour}}}.plot line.{class},.plot polyline.{class}{{fill:none;stroke:{colour}}}\n{outline}"
    )
}

/// The class for a side's colour.
pub(super) fn ink(side: Side) -> &'static str {
    match side {
        Side::Gmp | Side::GmpWithoutSysmon => "gmp",
        Side::Tokio => "tokio",
        Side::Go => "go",
    }
}

/// The approximate width of a text. No font is available here, and the reader's font is a different
/// one anyway. The estimate is rather too wide than too narrow.
pub(super) fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * 7.3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ink_can_be_read_on_its_paper() {
        let paper = INKS.iter().find(|ink| ink.0 == "paper").unwrap();
        for (class, light, dark) in INKS.iter().filter(|ink| !["paper", "grid"].contains(&ink.0)) {
            for (ink, paper) in [(light, paper.1), (dark, paper.2)] {
                let (ink, paper) = (luminance(ink), luminance(paper));
                let contrast = (ink.max(paper) + 0.05) / (ink.min(paper) + 0.05);
                assert!(contrast >= 4.5, "{class} has {contrast:.1}");
            }
        }
    }

    /// The luminance as WCAG defines it.
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }
}
