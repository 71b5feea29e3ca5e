//! Progress of long work: a bar with rate and time left on a terminal, a plain line now and then in a log.

use std::fmt::Write;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

/// How often a log hears of it.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Shows how far some work is, on standard error.
pub(crate) struct Bar {
    label: &'static str,
    bar: Option<ProgressBar>,
    started: Instant,
    last_line: Instant,
}

impl Bar {
    pub(crate) fn new(label: &'static str) -> Self {
        let now = Instant::now();
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = "{prefix} {wide_bar} {human_pos}/{human_len} {rate} {eta}";
            // The template is a constant that parses; if it did not, the default style would do.
            let style = ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
            let style = style.with_key("rate", |state: &ProgressState, text: &mut dyn Write| {
                // A bar that lacks a number is a bar.
                let _ = write!(text, "{:.1}/s", state.per_sec());
            });
            ProgressBar::new(0).with_style(style).with_prefix(label)
        });
        Self { label, bar, started: now, last_line: now }
    }

    /// `done` of `total` steps are behind us.
    pub(crate) fn at(&mut self, done: u64, total: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(total);
            bar.set_position(done);
        } else if self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            let millis = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
            let rate = done.saturating_mul(1000) / millis;
            let left = total.saturating_sub(done) / rate.max(1);
            eprintln!("{}: {done} of {total}, {rate}/s, {left} s left", self.label);
        }
    }

    /// The work is done; the bar goes away.
    pub(crate) fn finish(self) -> Duration {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        self.started.elapsed()
    }
}
