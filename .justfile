# The handful of verbs a contributor needs. `just` alone lists them.

_list:
    @just --list --unsorted

# A test bank with people in it, on http://127.0.0.1:8080
run *FLAGS:
    cargo run --release -- demo {{FLAGS}}

# Everything that must hold
test *FLAGS:
    cargo test {{FLAGS}}

# What is checked before anything lands
check:
    cargo fmt --check
    cargo clippy --all-targets -- -D warnings

# Every fault and attack at full size, as many rows at once as processors (hours); `just torture T2 T3` for some. Writes tests/TORTURE.md
torture *ROWS:
    TORTURE_ROWS="{{ROWS}}" cargo test --test it -- --ignored --exact torture::run --nocapture

# The bank's ordinary work for hours, under kills and lost connections; the slopes of memory and lag at the end
soak HOURS:
    SOAK_MINUTES=$(awk 'BEGIN { print int({{HOURS}} * 60) }') cargo test --test it -- --ignored --exact torture::soak::for_hours --nocapture

# Transfers a second in process and over HTTP, beside pgbench on the same Postgres
bench *FLAGS:
    cargo run --release -- bench {{FLAGS}}

# Renew .sqlx after a change to SQL or migrations; DATABASE_URL names a database to scribble in
sqlx-prepare:
    SQLX_OFFLINE=true cargo run -- migrate --database-url "$DATABASE_URL"
    rm -rf .sqlx && mkdir .sqlx
    touch commands/src/lib.rs projections/src/lib.rs
    SQLX_OFFLINE=false SQLX_OFFLINE_DIR="$PWD/.sqlx" DATABASE_URL="$DATABASE_URL$(printf '%s' "$DATABASE_URL" | grep -q '?' && echo '&' || echo '?')options=-c%20search_path%3Djournal,read,reference" cargo check --workspace

# Renew the committed OpenAPI document
openapi:
    UPDATE_SNAPSHOTS=1 cargo test -p bursar-api openapi
