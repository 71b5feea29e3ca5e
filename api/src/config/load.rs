//! From defaults, file, environment and flags to one [`Config`].

use std::path::Path;

use toml::{Table, Value};

use super::Config;

/// `BURSAR_...` variables that are not configuration: they say where to look for it and for Postgres.
const ELSEWHERE: &[&str] = &["BURSAR_CONFIG", "BURSAR_PG_BIN", "BURSAR_PG_SEARCH", "BURSAR_CACHE_DIR"];

/// What is wrong with the configuration, in one line that says where.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    File {
        /// Its path.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The file is not TOML. Quotes only the place, because the line may hold a secret.
    #[error("{path}: not TOML{place}: {message}")]
    Toml {
        /// Its path.
        path: String,
        /// Where in it.
        place: String,
        /// What the parser says.
        message: String,
    },
    /// A key that means nothing, or a value of the wrong kind.
    #[error("{origin}: {message}; `bursar config` lists every key")]
    Key {
        /// File, variable or flag.
        origin: String,
        /// What is wrong.
        message: String,
    },
}

/// Collects the sources, later ones win.
#[derive(Debug, Default)]
pub struct Loader {
    table: Table,
}

impl Loader {
    /// Defaults only.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a `bursar.toml`. With `must_exist` false, a missing file is an empty one.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn file(self, path: &Path, must_exist: bool) -> Result<Self, ConfigError> {
        let shown = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => self.toml(&text, &shown),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound && !must_exist => Ok(self),
            Err(source) => Err(ConfigError::File { path: shown, source }),
        }
    }

    /// Adds the text of a `bursar.toml`; `path` is for messages.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn toml(mut self, text: &str, path: &str) -> Result<Self, ConfigError> {
        let table: Table = text.parse().map_err(|e: toml::de::Error| ConfigError::Toml {
            path: path.to_owned(),
            place: e.span().map(|span| format!(" at byte {}", span.start)).unwrap_or_default(),
            message: e.message().to_owned(),
        })?;
        for (name, value) in table {
            match (value, self.table.get_mut(&name)) {
                (Value::Table(new), Some(Value::Table(old))) => old.extend(new),
                (value, _) => {
                    self.table.insert(name, value);
                }
            }
        }
        self.check(path)?;
        Ok(self)
    }

    /// Adds the variables named `BURSAR_SECTION_FIELD`, and `DATABASE_URL`.
    ///
    /// # Errors
    /// [`ConfigError::Key`], also for a variable that begins with `BURSAR_` and means nothing.
    pub fn environment(
        mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let mut variables: Vec<_> = variables.into_iter().collect();
        // DATABASE_URL sorts after every BURSAR_ name; ours is the more specific one and must win.
        variables.sort_by_key(|(name, _)| name != "DATABASE_URL");
        for (name, text) in variables {
            if name == "DATABASE_URL" && !text.is_empty() {
                self = self.set("database", "url", &text, &name)?;
            } else if name.starts_with("BURSAR_") && !ELSEWHERE.contains(&name.as_str()) {
                let Some((section, field)) = keys().find(|(s, f)| env_name(s, f) == name) else {
                    return Err(ConfigError::Key { origin: name, message: "no such setting".to_owned() });
                };
                self = self.set(section, field, &text, &name)?;
            }
        }
        Ok(self)
    }

    /// Sets one key from text, as a flag does. `section` is empty for a top-level key.
    ///
    /// # Errors
    /// [`ConfigError::Key`].
    pub fn set(mut self, section: &str, field: &str, text: &str, origin: &str) -> Result<Self, ConfigError> {
        let value = parse(default_of(section, field).as_ref(), text).map_err(|kind| ConfigError::Key {
            origin: origin.to_owned(),
            message: format!("expected {kind}"),
        })?;
        if section.is_empty() {
            self.table.insert(field.to_owned(), value);
        } else {
            let entry = self.table.entry(section).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(table) = entry {
                table.insert(field.to_owned(), value);
            }
        }
        self.check(origin)?;
        Ok(self)
    }

    /// The configuration.
    ///
    /// # Errors
    /// [`ConfigError::Key`], for settings that contradict each other.
    pub fn finish(self) -> Result<Config, ConfigError> {
        let config = self.check("configuration")?;
        if config.auth.require_client_token && config.auth.client_token.is_none() {
            return Err(ConfigError::Key {
                origin: "auth.require_client_token".to_owned(),
                message: "needs auth.client_token".to_owned(),
            });
        }
        Ok(config)
    }

    /// Whether what is collected so far is a configuration; checked at each source, so that a message names it.
    fn check(&self, origin: &str) -> Result<Config, ConfigError> {
        self.table.clone().try_into().map_err(|e: toml::de::Error| ConfigError::Key {
            origin: origin.to_owned(),
            message: e.message().to_owned(),
        })
    }
}

/// Every setting with its default, variable and meaning, as a commented `bursar.toml`.
#[must_use]
pub fn reference() -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    for (section, fields) in Config::SECTIONS {
        if !section.is_empty() {
            // Writing to a String cannot fail, here and below.
            let _ = writeln!(out, "\n[{section}]");
        }
        for (field, doc) in *fields {
            let _ = writeln!(out, "#{doc} [{}]", env_name(section, field));
            let _ = match default_of(section, field) {
                Some(value) => writeln!(out, "{field} = {value}"),
                None => writeln!(out, "# {field} ="),
            };
        }
    }
    out
}

fn keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    Config::SECTIONS
        .iter()
        .flat_map(|(section, fields)| fields.iter().map(move |(field, _)| (*section, *field)))
}

fn env_name(section: &str, field: &str) -> String {
    let dot = if section.is_empty() { "" } else { "_" };
    format!("BURSAR_{section}{dot}{field}").to_ascii_uppercase()
}

/// The default, unless it is "none".
fn default_of(section: &str, field: &str) -> Option<Value> {
    let defaults = Table::try_from(Config::default()).ok()?;
    if section.is_empty() { defaults.get(field).cloned() } else { defaults.get(section)?.get(field).cloned() }
}

/// Reads text as a value of the same kind as the default; what has no default is text.
fn parse(default: Option<&Value>, text: &str) -> Result<Value, &'static str> {
    match default {
        Some(Value::Integer(_)) => text.trim().parse().map(Value::Integer).map_err(|_| "a whole number"),
        Some(Value::Boolean(_)) => text.trim().parse().map(Value::Boolean).map_err(|_| "true or false"),
        Some(Value::Array(_)) => Ok(Value::Array(
            text.split(',')
                .map(str::trim)
                .filter(|t| !t.is_empty())
                .map(|t| Value::String(t.to_owned()))
                .collect(),
        )),
        _ => Ok(Value::String(text.to_owned())),
    }
}
