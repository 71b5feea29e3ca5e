//! The binary `bursar`: everything is in the library.

/// Many small allocations by many tasks is what a server does.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    bursar_api::cli::run(std::env::args_os())
}
