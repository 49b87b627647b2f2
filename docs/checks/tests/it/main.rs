//! Tests of the files in Markdown.

mod links;
mod readme_test;
mod repository;
mod settings;

/// Documentation tests omit code under `#[test]`, so README.md's test is a file here.
#[test]
fn the_test_in_the_readme_is_the_one_that_runs() {
    let (readme, test) = (include_str!("../../../../README.md"), include_str!("readme_test.rs"));
    assert!(readme.contains(&format!("```rust\n{test}```")), "README.md does not contain readme_test.rs");
}
