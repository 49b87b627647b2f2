/* For programs without gmp, which has these functions. */
__attribute__((weak)) void __sanitizer_cov_trace_pc_guard(void *guard) { (void)guard; }
__attribute__((weak)) void __sanitizer_cov_trace_pc_guard_init(void *start, void *end) { (void)start, (void)end; }
