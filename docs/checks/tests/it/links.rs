//! Every relative link in a committed Markdown file leads to a file, and to a heading of that file
//! if the link names one. Links to the web are not followed: a test must not depend on other
//! servers.

use std::fs;
use std::path::Path;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::repository::{files, top};

#[test]
fn every_relative_link_leads_somewhere() {
    let files = files("*.md");
    assert!(files.contains(&top().join("README.md")), "{files:?}");
    let dead: Vec<String> = files.iter().flat_map(|file| dead_links(file)).collect();
    assert!(dead.is_empty(), "links that lead nowhere:\n{}", dead.join("\n"));
}

#[test]
fn headings_are_named_as_forges_name_them() {
    assert_eq!(anchors("# tokio's tests\n\n## A `code` heading, 2nd\n"), ["tokios-tests", "a-code-heading-2nd"]);
}

#[test]
fn a_dead_link_is_found() {
    let file = top().join("README.md");
    let links = ["ARCHITECTURE.md", "#two-commands", "no/such/file.md", "README.md#no-such-heading", "https://a.b"];
    let dead = links.map(|link| !leads_somewhere(&file, link));
    assert_eq!(dead, [false, false, true, true, false]);
}

fn dead_links(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).expect("a text");
    let dead = links(&text).into_iter().filter(|link| !leads_somewhere(file, link));
    dead.map(|link| format!("{}: {link}", file.display())).collect()
}

fn links(text: &str) -> Vec<String> {
    let events = Parser::new_ext(text, Options::ENABLE_TABLES);
    events
        .filter_map(|event| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url.into_string()),
            _ => None,
        })
        .collect()
}

fn leads_somewhere(file: &Path, link: &str) -> bool {
    if link.contains("://") {
        return true;
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if path.is_empty() { file.to_owned() } else { file.parent().expect("in a folder").join(path) };
    match fs::read_to_string(&target) {
        Ok(text) => anchor.is_empty() || anchors(&text).iter().any(|heading| heading == anchor),
        Err(_) => anchor.is_empty() && target.exists(),
    }
}

/// The form of headings in links: lower case, with hyphens, without other punctuation.
fn anchors(text: &str) -> Vec<String> {
    let (mut anchors, mut heading) = (Vec::new(), None::<String>);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => heading.iter_mut().for_each(|heading| heading.push_str(&text)),
            Event::End(TagEnd::Heading(_)) => anchors.extend(heading.take().map(|heading| anchor(&heading))),
            _ => {}
        }
    }
    anchors
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}
