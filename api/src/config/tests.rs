use super::*;

fn env(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

#[test]
fn later_sources_win() {
    let config = Loader::new()
        .toml("sandbox = true\n[auth]\naccess_seconds = 60\nissuer = \"file\"\n", "bursar.toml")
        .and_then(|l| l.environment(env(&[("BURSAR_AUTH_ACCESS_SECONDS", "70"), ("PATH", "/bin")])))
        .and_then(|l| l.set("server", "listen", "0.0.0.0:9000", "--listen"))
        .and_then(Loader::finish);
    let config = config.unwrap_or_else(|e| panic!("{e}"));
    assert!(config.sandbox);
    assert_eq!((config.auth.access_seconds, config.auth.issuer.as_str()), (70, "file"));
    assert_eq!(config.server.listen, "0.0.0.0:9000".parse().unwrap());
    assert_eq!(config.limits.writes_per_minute, 300);
}

#[test]
fn our_own_variable_beats_database_url() {
    let variables = env(&[("BURSAR_DATABASE_URL", "postgres://ours"), ("DATABASE_URL", "postgres://theirs")]);
    let config = Loader::new().environment(variables).and_then(Loader::finish).ok().unwrap();
    assert!(config.database.url.unwrap().expose() == "postgres://ours");
}

#[test]
fn an_unknown_key_is_an_error_that_names_it() {
    let error = |result: Result<Loader, ConfigError>| result.err().map(|e| e.to_string()).unwrap();
    let file = error(Loader::new().toml("[auth]\nacces_seconds = 1", "bursar.toml"));
    assert!(file.starts_with("bursar.toml: unknown field `acces_seconds`"), "{file}");
    let variable = error(Loader::new().environment(env(&[("BURSAR_AUTH_ACCES_SECONDS", "1")])));
    assert!(variable.starts_with("BURSAR_AUTH_ACCES_SECONDS: no such setting"), "{variable}");
    let value = error(Loader::new().environment(env(&[("BURSAR_AUTH_ACCESS_SECONDS", "soon")])));
    assert!(value.starts_with("BURSAR_AUTH_ACCESS_SECONDS: expected a whole number"), "{value}");
}

#[test]
fn a_contradiction_is_found_at_the_end() {
    let loader = Loader::new().set("auth", "require_client_token", "true", "--flag").ok().unwrap();
    assert!(loader.finish().is_err());
}

#[test]
fn the_reference_is_itself_a_valid_file_and_names_every_field() {
    let text = reference();
    assert!(Loader::new().toml(&text, "reference").and_then(Loader::finish).is_ok(), "{text}");
    assert!(text.contains("access_seconds = 900"));
    assert!(text.contains("[BURSAR_AUTH_ACCESS_SECONDS]"));
    let documented = Config::SECTIONS.iter().map(|(_, fields)| fields.len()).sum::<usize>();
    let lines = text.lines().filter(|line| line.starts_with("# ") && line.contains("[BURSAR_")).count();
    assert_eq!(lines, documented);
}

#[test]
fn a_secret_is_written_as_stars() {
    let config =
        Loader::new().set("", "master_key", "hunter2", "flag").and_then(Loader::finish).ok().unwrap();
    let text = toml::to_string(&config).unwrap();
    assert!(!text.contains("hunter2") && text.contains("***"));
}
