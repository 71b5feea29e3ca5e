//! The readers of the bank as targets of cargo-fuzz: libFuzzer sees which way each input goes through them, and looks for inputs
//! that go another way. `just torture T54` builds and runs them (`tests/it/torture/fuzz.rs`); nothing else does, for it takes
//! minutes and a C++ compiler.

#[path = "../it/torture/readers.rs"]
pub mod readers;

use std::cell::OnceCell;

/// Gives `bytes` to the reader of that name, which is made once.
pub fn read(name: &str, bytes: &[u8]) {
    thread_local! {
        static READS: OnceCell<readers::Reads> = const { OnceCell::new() };
    }
    READS.with(|reads| reads.get_or_init(|| readers::named(name))(bytes));
}

/// A target: the reader that is named as the binary.
#[macro_export]
macro_rules! target {
    () => {
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::read(env!("CARGO_BIN_NAME"), bytes));
    };
}
