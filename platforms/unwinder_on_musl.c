// What Debian's unwinder needs of glibc, for static programs of musl.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

// Its own references to these are weak, so the linker would leave them out.
__attribute__((used)) static void *const threads[] = {
    pthread_once, pthread_mutex_lock, pthread_mutex_unlock, pthread_getspecific, pthread_setspecific,
    pthread_key_create,
};

struct search {
    ElfW(Addr) address;
    struct dl_find_object *found;
};

static int look(struct dl_phdr_info *module, size_t size, void *data) {
    struct search *search = data;
    int is_here = 0;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &module->dlpi_phdr[i];
        ElfW(Addr) start = module->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && search->address - start < header->p_memsz)
            is_here = 1;
        if (header->p_type == PT_GNU_EH_FRAME)
            search->found->dlfo_eh_frame = (void *)start;
    }
    return is_here;
}

// It finds tables for unwinding through this function. musl has none.
int _dl_find_object(void *address, struct dl_find_object *found) {
    struct search search = {(ElfW(Addr))address, found};
    return dl_iterate_phdr(look, &search) ? 0 : -1;
}
