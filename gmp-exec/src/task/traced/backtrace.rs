//! Stacks, and the names of their frames.

use std::ffi::c_void;
use std::path::{Path, PathBuf};

use super::leaf::TraceMeta;

/// The frames of a future under the leaf that calls, without names, which take long to find.
pub(super) fn stack(meta: &TraceMeta) -> Vec<backtrace::BacktraceFrame> {
    let mut frames = Vec::new();
    let mut is_leaf_passed = false;
    backtrace::trace(|frame| {
        let function = frame.symbol_address().cast_const();
        let is_root = meta.root_addr == Some(function);
        if is_leaf_passed && !is_root {
            frames.push(frame.clone().into());
        }
        is_leaf_passed |= function == meta.trace_leaf_addr;
        !is_root
    });
    frames
}

/// The calls above one leaf future, the innermost first. See
/// [`Trace::resolve_backtraces`](super::Trace::resolve_backtraces) for an example.
#[derive(Clone, Debug)]
pub struct Backtrace {
    frames: Box<[BacktraceFrame]>,
}

/// One call, with the functions that were inlined into it. See
/// [`Trace::resolve_backtraces`](super::Trace::resolve_backtraces) for an example.
#[derive(Clone, Debug)]
pub struct BacktraceFrame {
    ip: Address,
    symbol_address: Address,
    symbols: Box<[BacktraceSymbol]>,
}

/// A function of a [`BacktraceFrame`], as far as the program's debug information names it. See
/// [`Trace::resolve_backtraces`](super::Trace::resolve_backtraces) for an example.
#[derive(Clone, Debug)]
pub struct BacktraceSymbol {
    name_raw: Option<Box<[u8]>>,
    name_demangled: Option<Box<str>>,
    address: Option<Address>,
    filename: Option<PathBuf>,
    line: Option<u32>,
    column: Option<u32>,
}

/// An address in the program's code. A number, so that it may go to other threads.
#[derive(Clone, Copy, Debug)]
struct Address(usize);

impl Address {
    fn of(pointer: *mut c_void) -> Address {
        Address(pointer.addr())
    }

    fn pointer(self) -> *mut c_void {
        std::ptr::without_provenance_mut(self.0)
    }
}

impl Backtrace {
    /// Finds the names. Takes milliseconds for the first stack of a program, because the program's
    /// debug information is read.
    pub(super) fn resolve(frames: &[backtrace::BacktraceFrame]) -> Backtrace {
        let mut resolved = backtrace::Backtrace::from(frames.to_vec());
        resolved.resolve();
        Backtrace { frames: resolved.frames().iter().map(BacktraceFrame::of).collect() }
    }

    /// The calls, the innermost first.
    pub fn frames(&self) -> impl Iterator<Item = &BacktraceFrame> {
        self.frames.iter()
    }
}

impl BacktraceFrame {
    fn of(frame: &backtrace::BacktraceFrame) -> BacktraceFrame {
        BacktraceFrame {
            ip: Address::of(frame.ip()),
            symbol_address: Address::of(frame.symbol_address()),
            symbols: frame.symbols().iter().map(BacktraceSymbol::of).collect(),
        }
    }

    /// The address to which the callee returns.
    pub fn ip(&self) -> *mut c_void {
        self.ip.pointer()
    }

    /// The address at which the function begins.
    pub fn symbol_address(&self) -> *mut c_void {
        self.symbol_address.pointer()
    }

    /// The function, behind those that were inlined into it, the innermost first. Empty if the
    /// program has no names.
    pub fn symbols(&self) -> impl Iterator<Item = &BacktraceSymbol> {
        self.symbols.iter()
    }
}

impl BacktraceSymbol {
    fn of(symbol: &backtrace::BacktraceSymbol) -> BacktraceSymbol {
        let name = symbol.name();
        BacktraceSymbol {
            name_raw: name.as_ref().map(|name| name.as_bytes().into()),
            name_demangled: name.as_ref().map(|name| name.to_string().into()),
            address: symbol.addr().map(Address::of),
            filename: symbol.filename().map(Path::to_owned),
            line: symbol.lineno(),
            column: symbol.colno(),
        }
    }

    /// The function's name as it is in the program's file.
    pub fn name_raw(&self) -> Option<&[u8]> {
        self.name_raw.as_deref()
    }

    /// The function's name as it is in the source, with the hash that the compiler adds.
    pub fn name_demangled(&self) -> Option<&str> {
        self.name_demangled.as_deref()
    }

    /// The address at which the function begins.
    pub fn addr(&self) -> Option<*mut c_void> {
        self.address.map(Address::pointer)
    }

    /// The file of the call.
    pub fn filename(&self) -> Option<&Path> {
        self.filename.as_deref()
    }

    /// The line of the call, from 1.
    pub fn lineno(&self) -> Option<u32> {
        self.line
    }

    /// The column of the call, from 1.
    pub fn colno(&self) -> Option<u32> {
        self.column
    }
}
