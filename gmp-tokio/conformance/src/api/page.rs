//! Reads the declarations on a page of rustdoc's, as text that can be parsed.

use scraper::{ElementRef, Html, Node, Selector};

/// The declarations on an item's page.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// The item's own declaration. A module has none.
    pub(crate) declaration: Option<String>,
    pub(crate) impls: Vec<Impl>,
}

/// An `impl` block. On a trait's page, only the head of one.
#[derive(Debug)]
pub(crate) struct Impl {
    pub(crate) header: String,
    /// Methods, associated types and constants. The methods of a trait are left out, because only
    /// the trait decides them.
    pub(crate) members: Vec<String>,
}

/// Reads a page. Paths into the crate `root` then begin with `tokio`.
pub(crate) fn read(html: &str, root: &str) -> Page {
    let document = Html::parse_document(html);
    let mut page = Page::default();
    for element in document.select(&selector("pre.item-decl, section > .code-header")) {
        let text = text_of(element, root);
        let Some(section) = element.parent().and_then(ElementRef::wrap) else { continue };
        let is = |class| section.value().classes().any(|own| own == class);
        if element.value().name() == "pre" {
            page.declaration = Some(text);
        } else if is("impl") {
            page.impls.push(Impl { header: text, members: Vec::new() });
        } else if let Some(block) = page.impls.last_mut().filter(|_| !(is("method") && is("trait-impl"))) {
            block.members.push(text);
        }
    }
    page
}

/// The pages of all items, from rustdoc's list of items.
pub(crate) fn items(html: &str) -> Vec<String> {
    let document = Html::parse_document(html);
    let links = selector("ul.all-items a");
    document.select(&links).filter_map(|link| link.value().attr("href")).map(str::to_owned).collect()
}

/// The declarations of a module's re-exports under another path.
pub(crate) fn re_exports(html: &str) -> Vec<String> {
    let document = Html::parse_document(html);
    document.select(&selector("[id^='reexport.'] code")).map(|export| export.text().collect()).collect()
}

fn selector(text: &str) -> Selector {
    Selector::parse(text).expect("a valid selector")
}

fn text_of(element: ElementRef<'_>, root: &str) -> String {
    let mut text = String::new();
    add_text(element, root, &mut text);
    text
}

/// Adds the element's text, with the full path for each link to an item, and without parts that are
/// only visual.
fn add_text(element: ElementRef<'_>, root: &str, text: &mut String) {
    for child in element.children() {
        match child.value() {
            Node::Text(own) => text.push_str(own),
            Node::Element(_) => ElementRef::wrap(child).into_iter().for_each(|child| add_element(child, root, text)),
            _ => {}
        }
    }
}

fn add_element(element: ElementRef<'_>, root: &str, text: &mut String) {
    let name = element.value().name();
    if name == "summary" || element.value().classes().any(|class| class == "tooltip") {
        return;
    }
    if name == "div" {
        text.push('\n');
    }
    match path_of(element, root) {
        Some(path) => {
            // If a list has two items of one name, rustdoc writes their paths itself, up to the
            // link.
            let prefix = text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_' || c == ':').len();
            if text.ends_with("::") {
                text.truncate(prefix);
            }
            text.push_str(&path);
        }
        None => add_text(element, root, text),
    }
}

/// Kinds of items whose path code can name.
const NAMEABLE: [&str; 5] = ["struct", "enum", "trait", "type", "union"];

/// The path of the item that a link leads to, if the link's text is the item's name: the link's
/// title is "struct std::fs::File", for example.
fn path_of(link: ElementRef<'_>, root: &str) -> Option<String> {
    let (kind, path) = link.value().attr("title")?.split_once(' ')?;
    let name: String = link.text().collect();
    if !NAMEABLE.contains(&kind) || link.value().classes().any(|class| class == "associatedtype") {
        return None;
    }
    let (_, last) = path.rsplit_once("::")?;
    let path = match path.strip_prefix(root) {
        Some(rest) if rest.starts_with("::") => format!("tokio{rest}"),
        _ => path.to_owned(),
    };
    (last == name).then_some(path)
}
