//! T54 again, with a fuzzer that sees which way each input goes through the bank's readers ([`readers`](super::readers)), and so
//! gets further into them than chance does: cargo-fuzz, which is libFuzzer. It finds panics, and whatever takes ten seconds or
//! two gigabytes. The targets are in `tests/fuzz`.
//!
//! They are built by the bank's own compiler and without a sanitizer. Those need a nightly compiler, and look for what safe Rust
//! does not do; what libFuzzer has to see, every compiler can tell it. So it is done in one way wherever there is Rust, and with a
//! C++ compiler for libFuzzer itself.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Once;

use super::malformed::{TIME, good};
use super::readers::{READERS, TRUSTING};
use super::{scratch, top};
use crate::support::Scratch;
use crate::support::chance::{Chance, did, scaled};

/// Of cargo-fuzz.
const VERSION: &str = "0.13.2";

/// What the control may take; it needs a second or two.
const CONTROL_SECONDS: u64 = 60;

/// What the fuzzer makes: the targets, what it found worth keeping, its logs.
fn home() -> PathBuf {
    scratch().join("fuzz")
}

/// cargo-fuzz, about the targets.
fn cargo_fuzz(verb: &str) -> Command {
    let mut command = Command::new(scratch().join("cargo-fuzz/bin/cargo-fuzz"));
    command.args([verb, "--fuzz-dir", "tests/fuzz", "--sanitizer", "none", "--target-dir"]);
    // Where it panics is said without one, and at the end of what it says.
    command.arg(home().join("build")).current_dir(top()).env("RUST_BACKTRACE", "0");
    command
}

/// Installs cargo-fuzz when it is not there (never in CI, where no registry may be asked), and builds all targets: minutes the
/// first time.
fn built() {
    static BUILT: Once = Once::new();
    BUILT.call_once(|| {
        let root = scratch().join("cargo-fuzz");
        if !root.join("bin/cargo-fuzz").exists() {
            println!("installing cargo-fuzz ...");
            let mut install = Command::new("cargo");
            install.args(["install", "--quiet", "--locked", "cargo-fuzz", "--version", VERSION, "--root"]);
            assert!(install.arg(root).status().unwrap().success(), "cargo install cargo-fuzz");
        }
        // Everything in the versions that the bank has it in.
        std::fs::copy(top().join("Cargo.lock"), top().join("tests/fuzz/Cargo.lock")).unwrap();
        println!("building the fuzz targets ...");
        assert!(cargo_fuzz("build").status().unwrap().success(), "cargo fuzz build");
    });
}

/// What came of a target.
struct Ran {
    inputs: usize,
    /// The end of what it said.
    said: String,
    /// The input that it did not survive, when it ended badly.
    found: Option<PathBuf>,
    ended_well: bool,
}

/// Runs a target for so long. It begins with `seeds` and with what else is in `corpus`, where it leaves what is worth keeping; what
/// is wrong it leaves in `findings`.
fn ran(name: &str, seconds: u64, seed: u64, seeds: &[Vec<u8>], corpus: &Path, findings: &Path) -> Ran {
    built();
    for directory in [corpus, findings] {
        std::fs::create_dir_all(directory).unwrap();
    }
    for (n, seed) in seeds.iter().enumerate() {
        std::fs::write(corpus.join(format!("good-{n}")), seed).unwrap();
    }
    let log = home().join(format!("{name}.log"));
    let out = File::create(&log).unwrap();
    let mut run = cargo_fuzz("run");
    run.arg(name).arg(corpus).args(["--", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"]);
    run.args([format!("-max_total_time={seconds}"), format!("-seed={seed}")]);
    run.arg(format!("-artifact_prefix={}/", findings.display()));
    run.stdin(Stdio::null()).stdout(out.try_clone().unwrap()).stderr(out);
    let ended_well = run.status().unwrap().success();
    let said = String::from_utf8_lossy(&std::fs::read(log).unwrap()).into_owned();
    let after = |what: &str| said.lines().rev().find_map(|line| line.split_once(what)).map(|(_, rest)| rest);
    let inputs = after("stat::number_of_executed_units:").map_or(0, |count| count.trim().parse().unwrap());
    let found = after("Test unit written to ").map(|path| PathBuf::from(path.trim()));
    let last = said.lines().count().saturating_sub(40);
    let said = said.lines().skip(last).collect::<Vec<_>>().join("\n");
    Ran { inputs, said, found, ended_well }
}

#[test]
#[ignore = "just torture"]
fn nothing_that_a_fuzzer_comes_upon_makes_the_bank_panic() {
    let mut chance = Chance::new();
    // The fuzzer counts in seconds, and takes zero to be for ever.
    let seconds = (TIME * u32::try_from(scaled(1)).unwrap()).as_secs().max(1);
    let (mut inputs, mut wrong) = (0, Vec::new());
    for (n, (name, _)) in READERS.iter().enumerate() {
        println!("[{}/{}] {name}: {seconds} s ...", n + 1, READERS.len());
        let (corpus, findings) = (home().join("corpus").join(name), home().join("findings").join(name));
        let seed = chance.between(1, u32::MAX.into());
        let ran = ran(name, seconds, seed, &good(name), &corpus, &findings);
        println!(
            "[{}/{}] {name}: {} inputs, {} a second",
            n + 1,
            READERS.len(),
            ran.inputs,
            ran.inputs as u64 / seconds
        );
        inputs += ran.inputs;
        if !ran.ended_well || ran.inputs == 0 {
            let mut again = cargo_fuzz("run");
            again.arg(name).args(&ran.found);
            let found = ran.found.unwrap_or_default();
            wrong.push(format!("{name}: {}\nonce more: {again:?}\n{}", found.display(), ran.said));
        }
    }
    did(inputs, "inputs to 8 fuzz targets");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Control: so is a reader that trusts a length only behind four letters, none of which the fuzzer has been told.
#[test]
#[ignore = "just torture"]
fn a_reader_that_believes_what_only_a_fuzzer_would_tell_it_is_found_out() {
    let scratch = Scratch::new("trusting");
    let (corpus, findings) = (scratch.path().join("corpus"), scratch.path().join("findings"));
    let ran = ran(TRUSTING.0, CONTROL_SECONDS, 1, &[b"LOAN\x03abc".to_vec()], &corpus, &findings);
    let found = ran.found.unwrap_or_else(|| panic!("nobody noticed: {}", ran.said));
    assert!(!ran.ended_well && ran.said.contains("out of range for slice"), "{}", ran.said);
    assert!(std::fs::read(found).unwrap().starts_with(b"BANK"));
}

/// A reader without a target would be one that nobody fuzzes.
#[test]
fn every_reader_is_a_fuzz_target() {
    let manifest = std::fs::read_to_string(top().join("tests/fuzz/Cargo.toml")).unwrap();
    let bins = manifest.split("[[bin]]").skip(1);
    let targets: Vec<&str> = bins.map(|bin| bin.split('"').nth(1).unwrap()).collect();
    let readers: Vec<&str> = READERS.iter().chain([&TRUSTING]).map(|(name, _)| *name).collect();
    assert_eq!(targets, readers);
}
