//! The expansion of the attributes.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::{Result, ReturnType};

use crate::flavor::Attribute;
use crate::item::Function;
use crate::options::Options;

pub(crate) fn expand(attribute: Attribute, options: TokenStream, item: TokenStream) -> TokenStream {
    let function = match Function::parse(attribute, item.clone()) {
        Ok(function) => function,
        // An item that can't be parsed is returned unchanged, so that the compiler and editors can
        // report on it.
        Err(error) => return [item, error.into_compile_error()].into_iter().collect(),
    };
    match check(attribute, options, &function) {
        Ok(options) => on_a_runtime(attribute, &options, function),
        Err(error) => [never_run(function), error.into_compile_error()].into_iter().collect(),
    }
}

fn check(attribute: Attribute, options: TokenStream, function: &Function) -> Result<Options> {
    function.check(attribute)?;
    let options = Options::parse(attribute, options)?;
    if options.seeds.is_some() {
        function.check_for_seeds()?;
    }
    Ok(options)
}

fn on_a_runtime(attribute: Attribute, options: &Options, function: Function) -> TokenStream {
    let span = generated(&function);
    let builder = builder(attribute, options, span);
    let harness = match attribute {
        Attribute::Main => quote!(),
        Attribute::Test => quote!(#[::core::prelude::v1::test]),
    };
    let seeds = under_seeds(options, &function, span);
    let run = quote_spanned! {span=>
        #seeds
        #[allow(clippy::expect_used, clippy::diverging_sub_expression, clippy::needless_return)]
        {
            return #builder.enable_all().build().expect("Failed building the Runtime").block_on(body);
        }
    };
    function_with(harness, function, run)
}

/// Returns from the test when it has run under all seeds, unless this process is one of these runs.
fn under_seeds(options: &Options, function: &Function, span: Span) -> Option<TokenStream> {
    let seeds = options.seeds?.get();
    let (crate_path, name) = (&options.crate_path, &function.signature.ident);
    Some(quote_spanned! {span=>
        let path = ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name));
        if let ::core::option::Option::Some(passed) = #crate_path::seeds::each(path, #seeds) {
            return passed;
        }
    })
}

/// The function without any use of the runtime: the compiler checks its types, and reports no
/// further errors.
fn never_run(function: Function) -> TokenStream {
    let run = quote_spanned! {generated(&function)=>
        _ = body;
        ::core::unreachable!()
    };
    function_with(quote!(#[allow(unused)]), function, run)
}

fn builder(attribute: Attribute, options: &Options, span: Span) -> TokenStream {
    let crate_path = &options.crate_path;
    let constructor = options.flavor.constructor(span);
    let worker_threads = options.worker_threads.map(|number| quote_spanned!(span=> .worker_threads(#number)));
    let start_paused = options.start_paused.map(|paused| quote_spanned!(span=> .start_paused(#paused)));
    let test = (attribute == Attribute::Test).then(|| quote_spanned!(span=> .for_test()));
    let leaks = options.leaks.map(|leaks| leaks.variant(span));
    let leaks = leaks.map(|leaks| quote_spanned!(span=> .leaks(#crate_path::runtime::Leaks::#leaks)));
    let limit = options.deadlock_after.map(|limit| limit.duration(span));
    let limit = limit.map(|limit| quote_spanned!(span=> .deadlock_after(#limit)));
    let options = quote_spanned!(span=> #worker_threads #start_paused #test #leaks #limit);
    quote_spanned!(span=> #crate_path::runtime::Builder::#constructor() #options)
}

/// The function made synchronous: it binds its body, as a future, to the variable `body` and then
/// executes `run`.
fn function_with(added: TokenStream, function: Function, run: TokenStream) -> TokenStream {
    let span = generated(&function);
    let bind = bind_body(&function, span);
    let Function { attributes, visibility, mut signature, .. } = function;
    signature.asyncness = None;
    quote_spanned! {span=>
        #(#attributes)*
        #added
        #visibility #signature {
            #bind
            #run
        }
    }
}

/// Binds `body`, and states the type that it evaluates to. So errors mention the function's return
/// type, point into the body, and are reported once.
///
/// This needs a `dyn` future. It costs an indirect call whenever the body is polled, and saves
/// compiling a `block_on` for each of hundreds of tests.
fn bind_body(function: &Function, span: Span) -> TokenStream {
    let body = &function.body;
    let output = match &function.signature.output {
        ReturnType::Default => quote_spanned!(span=> ()),
        ReturnType::Type(_, output) => quote!(#output),
    };
    if !can_be_named(output.clone()) {
        return quote_spanned!(span=> let body = async #body;);
    }
    quote_spanned! {span=>
        let body: ::core::pin::Pin<&mut dyn ::core::future::Future<Output = #output>> =
            ::core::pin::pin!(async #body);
    }
}

/// Whether a type is allowed in `dyn Future<Output = ..>`. `impl Trait` and the never type are not.
fn can_be_named(output: TokenStream) -> bool {
    output.into_iter().all(|token| match token {
        TokenTree::Ident(word) => word != "impl",
        TokenTree::Punct(sign) => sign.as_char() != '!',
        TokenTree::Group(group) => can_be_named(group.stream()),
        TokenTree::Literal(_) => true,
    })
}

/// The span of generated code: errors in it point at the end of the body, and its variables are not
/// visible in the body.
fn generated(function: &Function) -> Span {
    Span::mixed_site().located_at(function.tail())
}
