//! A new migration is compiled in: `sqlx::migrate!` looks at the files that there were when it was last compiled.

fn main() {
    println!("cargo:rerun-if-changed=../migrations");
}
