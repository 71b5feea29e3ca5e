//! The binary `bursar`: everything is in the library.

fn main() -> std::process::ExitCode {
    bursar_api::cli::run(std::env::args_os())
}
