//! The compiler's messages about right and wrong uses of the attributes.

#[test]
fn wrong_uses_are_explained_where_they_are() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail/*.rs");
}
