//! The registers and the stack of a thread that computes, taken by a signal: the kernel says
//! nothing about such a thread.
//!
//! The handler copies and does nothing else: it takes no lock, and makes two system calls. One
//! thread is interrupted at a time (`blocked::request`). The signal is SIGURG (`sys::sigurg`).
//!
//! A thread that sleeps is never interrupted on purpose: it is asked about only if the kernel calls
//! it runnable. If it falls asleep in the microsecond between that answer and the signal, most
//! system calls go on afterwards (`SA_RESTART`), but a few return `EINTR`: those with a time limit.
//! That is why `GMP_BLOCKED=signal` must ask for it.
#![allow(unsafe_code, reason = "runs in a signal handler, and sends the signal")]

use std::ffi::c_void;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering::*;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use std::{slice, thread};

use gmp_insight::stack::{Copy, MOST_BYTES, PROGRAM_COUNTER, Register};

use crate::blocked::request::Request;
use crate::sys::sigurg::{self, Sent};
use crate::sys::thread_state::ThreadId;
use registers::{REGISTERS, value};

const SIGNAL: libc::c_int = libc::SIGURG;
/// How long a thread that is given no core may take to run its handler.
const PATIENCE: Duration = Duration::from_millis(200);
/// How often the report thread looks for the answer.
const PAUSE: Duration = Duration::from_micros(50);

/// The registers that are copied, and the numbers by which the unwinder knows them. The stack pointer
/// is the first.
#[cfg(target_arch = "x86_64")]
mod registers {
    use gmp_insight::stack::{PROGRAM_COUNTER, Register, X86_64};

    pub(super) const REGISTERS: [(usize, Register); 8] = [
        (libc::REG_RSP as usize, X86_64::RSP),
        (libc::REG_RIP as usize, PROGRAM_COUNTER),
        (libc::REG_RBP as usize, X86_64::RBP),
        (libc::REG_RBX as usize, X86_64::RBX),
        (libc::REG_R12 as usize, X86_64::R12),
        (libc::REG_R13 as usize, X86_64::R13),
        (libc::REG_R14 as usize, X86_64::R14),
        (libc::REG_R15 as usize, X86_64::R15),
    ];

    pub(super) fn value(context: &libc::ucontext_t, register: usize) -> u64 {
        context.uc_mcontext.gregs[register] as u64
    }
}

#[cfg(target_arch = "aarch64")]
mod registers {
    use gmp_insight::stack::{AArch64, PROGRAM_COUNTER, Register};

    const STACK_POINTER: usize = 31;
    const HERE: usize = 32;

    pub(super) const REGISTERS: [(usize, Register); 14] = [
        (STACK_POINTER, AArch64::SP),
        (HERE, PROGRAM_COUNTER),
        (19, AArch64::X19),
        (20, AArch64::X20),
        (21, AArch64::X21),
        (22, AArch64::X22),
        (23, AArch64::X23),
        (24, AArch64::X24),
        (25, AArch64::X25),
        (26, AArch64::X26),
        (27, AArch64::X27),
        (28, AArch64::X28),
        (29, AArch64::X29),
        (30, AArch64::X30),
    ];

    pub(super) fn value(context: &libc::ucontext_t, register: usize) -> u64 {
        match register {
            STACK_POINTER => context.uc_mcontext.sp,
            HERE => context.uc_mcontext.pc,
            other => context.uc_mcontext.regs[other],
        }
    }
}

/// Their values when the thread was interrupted.
type Registers = [(Register, u64); REGISTERS.len()];

/// So many bytes below the stack pointer may be in use (System V ABI of x86-64, section 3.2.2).
const RED_ZONE: u64 = 128;

/// Where the handler writes. It is never freed: a signal may come late.
struct Capture {
    request: Request,
    /// `/proc/self/mem`: where the stack ends, reading it gives fewer bytes and no fault.
    memory: File,
    registers: [AtomicU64; REGISTERS.len()],
    /// [`MOST_BYTES`] bytes, and how many of them are the stack's.
    bytes: AtomicPtr<u8>,
    length: AtomicUsize,
}

static CAPTURE: OnceLock<Capture> = OnceLock::new();
/// Held by the report thread that asks.
static ASKING: Mutex<()> = Mutex::new(());

/// Interrupts the thread for some microseconds.
///
/// # Errors
///
/// Why there is nothing, in words.
pub(super) fn interrupt(thread: ThreadId) -> Result<(Registers, Copy), String> {
    let _asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    let capture = Capture::get()?;
    sigurg::install(&sigurg::STACKS, on_signal)?;
    capture.ask(thread)?;
    // SAFETY: the request has been answered, so no handler writes until the next one, which the
    // lock excludes.
    Ok(unsafe { capture.answer() })
}

/// Where the handler with this context has interrupted the thread.
pub(super) fn program_counter(context: *const c_void) -> Option<u64> {
    // SAFETY: the kernel passes a valid context to a handler with `SA_SIGINFO`.
    let context = unsafe { context.cast::<libc::ucontext_t>().as_ref() }?;
    let (register, _) = REGISTERS.into_iter().find(|(_, register)| *register == PROGRAM_COUNTER)?;
    Some(value(context, register))
}

impl Capture {
    fn get() -> Result<&'static Capture, String> {
        if let Some(capture) = CAPTURE.get() {
            return Ok(capture);
        }
        let memory = File::open("/proc/self/mem").map_err(|error| format!("/proc/self/mem: {error}"))?;
        let bytes = Box::leak(vec![0_u8; MOST_BYTES].into_boxed_slice()).as_mut_ptr();
        Ok(CAPTURE.get_or_init(|| Capture {
            request: Request::new(),
            memory,
            registers: Default::default(),
            bytes: AtomicPtr::new(bytes),
            length: AtomicUsize::new(0),
        }))
    }

    fn ask(&self, thread: ThreadId) -> Result<(), String> {
        let id = thread.as_raw() as u32;
        self.request.ask(id);
        let process = std::process::id() as libc::pid_t;
        // SAFETY: it has no preconditions. A thread that has ended is an error.
        let sent = unsafe { libc::syscall(libc::SYS_tgkill, process, thread.as_raw(), SIGNAL) };
        let deadline = Instant::now() + PATIENCE;
        while !self.request.is_answered() {
            let is_over = sent != 0 || Instant::now() > deadline;
            if is_over && self.request.give_up(id) {
                return Err("the thread does not answer the signal".to_owned());
            }
            thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// # Safety
    ///
    /// No handler writes.
    unsafe fn answer(&self) -> (Registers, Copy) {
        let values: [u64; REGISTERS.len()] = std::array::from_fn(|index| self.registers[index].load(Relaxed));
        // SAFETY: the buffer has `MOST_BYTES` bytes, of which the handler has written so many, and
        // is not written to now.
        let bytes = unsafe { slice::from_raw_parts(self.bytes.load(Relaxed), self.length.load(Relaxed)) };
        let registers = std::array::from_fn(|index| (REGISTERS[index].1, values[index]));
        (registers, Copy::new(values[0] - RED_ZONE, bytes.to_vec()))
    }

    /// Called by the handler.
    fn answer_to(&self, thread: u32, context: &libc::ucontext_t) {
        if self.request.begin(thread) {
            self.fill(context);
            self.request.end(thread);
        }
    }

    fn fill(&self, context: &libc::ucontext_t) {
        for (copied, (register, _)) in self.registers.iter().zip(REGISTERS) {
            copied.store(value(context, register), Relaxed);
        }
        let start = (self.registers[0].load(Relaxed) - RED_ZONE) as libc::off_t;
        let bytes = self.bytes.load(Relaxed).cast();
        // SAFETY: the buffer is valid for so many bytes, and no other thread accesses it between
        // `begin` and `end`. `pread` may be called in a handler.
        let length = unsafe { libc::pread(self.memory.as_raw_fd(), bytes, MOST_BYTES, start) };
        self.length.store(usize::try_from(length).unwrap_or(0), Relaxed);
    }
}

/// May do only what is async-signal-safe: loads and stores of atomics, `gettid`, and `pread`.
fn on_signal(sent: &Sent) {
    // SAFETY: it has no preconditions.
    let thread = unsafe { libc::syscall(libc::SYS_gettid) } as u32;
    // SAFETY: the kernel passes a valid context to a handler with `SA_SIGINFO`.
    let context = unsafe { sent.context.cast::<libc::ucontext_t>().as_ref() };
    if let Some((capture, context)) = CAPTURE.get().zip(context) {
        capture.answer_to(thread, context);
    }
}
