#![no_main]

bursar_fuzz::target!();
