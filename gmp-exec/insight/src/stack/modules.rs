//! The program and its libraries: where each is mapped, and its tables for unwinding.
//!
//! All of it is read from memory, where the kernel and the dynamic linker have mapped it, so no
//! file is opened: the files may have been replaced since the program began. The dynamic linker is
//! not asked either, because its lock may be held by the very thread that is stuck.

use std::cell::OnceCell;
use std::io;
use std::ops::Range;

use gimli::{BaseAddresses, EhFrame, EhFrameHdr, FrameDescriptionEntry, NativeEndian, Pointer, UnwindSection, Vendor};
use object::elf::{FileHeader64, PT_GNU_EH_FRAME, PT_LOAD};
use object::read::elf::{FileHeader as _, ProgramHeader as _};

use super::memory::Memory;

pub(super) type Slice<'a> = gimli::EndianSlice<'a, NativeEndian>;
pub(super) type Entry<'a> = FrameDescriptionEntry<Slice<'a>>;

/// The ELF header and the program headers are at the beginning of a file.
const HEADERS: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Modules(Vec<Module>);

#[derive(Debug)]
pub(super) struct Module {
    name: String,
    range: Range<u64>,
    tables: OnceCell<Option<Tables>>,
}

/// `.eh_frame_hdr` and `.eh_frame`, with the addresses at which they are mapped.
#[derive(Debug)]
pub(super) struct Tables {
    header: Vec<u8>,
    frames: Vec<u8>,
    bases: BaseAddresses,
}

/// A segment of an ELF file in memory.
struct Segment {
    kind: u32,
    start: u64,
    length: u64,
}

impl Modules {
    pub(super) fn read() -> io::Result<Modules> {
        Ok(Modules(parse(&std::fs::read_to_string("/proc/self/maps")?)))
    }

    pub(super) fn find(&self, address: u64) -> Option<&Module> {
        self.0.iter().find(|module| module.range.contains(&address))
    }

    /// Where the function begins that contains this address.
    pub(super) fn start_of_function(&self, address: u64, memory: &Memory) -> Option<u64> {
        Some(self.find(address)?.tables(memory)?.entry(address)?.initial_address())
    }

    /// Where `addr2line -e MODULE OFFSET` finds it, given a program that was not stripped.
    pub(super) fn name(&self, address: u64) -> String {
        let Some(module) = self.find(address) else { return format!("{address:#x}") };
        format!("{}+{:#x}", module.name.rsplit('/').next().unwrap_or_default(), address - module.range.start)
    }

    /// Whether the address is in the module that this function is in, too.
    pub(super) fn is_in_program(&self, address: u64) -> bool {
        let this = Modules::read as fn() -> io::Result<Modules> as usize as u64;
        self.find(address).is_some_and(|module| module.range.contains(&this))
    }
}

/// Mappings of one file that follow each other are one module. The first one maps its beginning.
/// The same file may be mapped once more, as data: that is how it is searched for symbols.
fn parse(maps: &str) -> Vec<Module> {
    let mut modules: Vec<Module> = Vec::new();
    for (range, offset, name) in maps.lines().filter_map(parse_line) {
        if offset == 0 {
            modules.push(Module { name: name.to_owned(), range, tables: OnceCell::new() });
        } else if let Some(last) = modules.last_mut().filter(|last| last.name == name) {
            last.range.end = range.end;
        }
    }
    modules
}

/// `start-end permissions offset device inode path`, of mapped files (and the vDSO) only.
fn parse_line(line: &str) -> Option<(Range<u64>, u64, &str)> {
    let hexadecimal = |text| u64::from_str_radix(text, 16).ok();
    let name = &line[line.find(['/', '['])?..];
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let offset = hexadecimal(words.nth(1)?)?;
    Some((hexadecimal(start)?..hexadecimal(end)?, offset, name))
}

impl Module {
    pub(super) fn contains(&self, address: u64) -> bool {
        self.range.contains(&address)
    }

    /// `None`: the module can't be unwound.
    pub(super) fn tables(&self, memory: &Memory) -> Option<&Tables> {
        self.tables.get_or_init(|| Tables::read(memory, self.range.start)).as_ref()
    }
}

impl Tables {
    fn read(memory: &Memory, start: u64) -> Option<Tables> {
        let segments = segments(&memory.read(start, HEADERS), start)?;
        let header = segments.iter().find(|segment| segment.kind == PT_GNU_EH_FRAME)?;
        let bases = BaseAddresses::default().set_eh_frame_hdr(header.start);
        let bytes = header.read(memory, header.start);
        let parsed = EhFrameHdr::new(&bytes, NativeEndian).parse(&bases, 8).ok()?;
        let Pointer::Direct(frames) = parsed.eh_frame_ptr() else { return None };
        let holds = |segment: &&Segment| segment.kind == PT_LOAD && segment.range().contains(&frames);
        let frames_bytes = segments.iter().find(holds)?.read(memory, frames);
        Some(Tables { header: bytes, frames: frames_bytes, bases: bases.set_eh_frame(frames) })
    }

    pub(super) fn frames(&self) -> EhFrame<Slice<'_>> {
        let mut frames = EhFrame::new(&self.frames, NativeEndian);
        if cfg!(target_arch = "aarch64") {
            // Where return addresses are signed.
            frames.set_vendor(Vendor::AArch64);
        }
        frames
    }

    pub(super) fn bases(&self) -> &BaseAddresses {
        &self.bases
    }

    /// What the tables say of the function that contains this address.
    pub(super) fn entry(&self, address: u64) -> Option<Entry<'_>> {
        let header = EhFrameHdr::new(&self.header, NativeEndian).parse(&self.bases, 8).ok()?;
        let frames = self.frames();
        header.table()?.fde_for_address(&frames, &self.bases, address, EhFrame::cie_from_offset).ok()
    }
}

fn segments(bytes: &[u8], start: u64) -> Option<Vec<Segment>> {
    let header = FileHeader64::<object::NativeEndian>::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let headers = header.program_headers(endian, bytes).ok()?;
    let first = headers.iter().find(|header| header.p_type(endian) == PT_LOAD)?;
    let bias = start.wrapping_sub(first.p_vaddr(endian).checked_sub(first.p_offset(endian))?);
    let segment = |header: &object::elf::ProgramHeader64<_>| Segment {
        kind: header.p_type(endian),
        start: header.p_vaddr(endian).wrapping_add(bias),
        length: header.p_filesz(endian),
    };
    Some(headers.iter().map(segment).collect())
}

impl Segment {
    fn range(&self) -> Range<u64> {
        self.start..self.start + self.length
    }

    /// Its bytes from this address on.
    fn read(&self, memory: &Memory, from: u64) -> Vec<u8> {
        memory.read(from, usize::try_from(self.range().end - from).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_of_a_file_are_one_module() {
        let maps = "\
55d0a0000000-55d0a0001000 r--p 00000000 fe:00 77 /usr/bin/a program
55d0a0001000-55d0a0005000 r-xp 00001000 fe:00 77 /usr/bin/a program
55d0a1000000-55d0a1021000 rw-p 00000000 00:00 0 [heap]
7effffe00000-7f0000000000 r--p 00000000 fe:00 78 /usr/lib/libc.so.6
7f0000000000-7f0000028000 r--p 00000000 fe:00 78 /usr/lib/libc.so.6
7f0000028000-7f0000100000 r-xp 00028000 fe:00 78 /usr/lib/libc.so.6
7f0000100000-7f0000110000 rw-p 00000000 00:00 0
7ffd00000000-7ffd00001000 r-xp 00000000 00:00 0 [vdso]
";
        let modules = Modules(parse(maps));
        let name = |address| modules.find(address).map(|module| module.name.as_str());
        assert_eq!(name(0x55d0_a000_4fff), Some("/usr/bin/a program"));
        assert_eq!(name(0x55d0_a000_5000), None);
        assert_eq!(name(0x7f00_0002_8000), Some("/usr/lib/libc.so.6"));
        assert_eq!(modules.name(0x7f00_0002_8000), "libc.so.6+0x28000");
        assert_eq!(name(0x7f00_0010_8000), None);
        assert_eq!(name(0x7ffd_0000_0010), Some("[vdso]"));
    }

    #[test]
    fn the_tables_know_the_beginning_of_a_function() {
        let (memory, modules) = (Memory::open().unwrap(), Modules::read().unwrap());
        let function = the_tables_know_the_beginning_of_a_function as fn() as usize as u64;
        let tables = modules.find(function).unwrap().tables(&memory).unwrap();
        assert_eq!(tables.entry(function).unwrap().initial_address(), function);
        assert_eq!(tables.entry(function + 1).unwrap().initial_address(), function);
    }
}
