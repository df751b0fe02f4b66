import Testing

@testable import CassetteRedaction

/// Secrets in settings: TOML, YAML, properties.
@Suite struct SettingsPlacesTests {
    @Test(arguments: [
        ("text/plain", "passwords = [\"h7nter2Xq\", \"b\"]\n"),
        ("text/plain", "password = [\"h7nter2Xq\"]\n"),
        ("text/plain", "tokens = [\n  \"h7nter2Xq\",\n]\n"),
        ("text/plain", "api_keys = ['h7nter2Xq']\n"),
        ("text/plain", "password = { value = \"h7nter2Xq\" }\n"),
        ("text/plain", "password = { current = \"h7nter2Xq\", old = 'x' }\n"),
        ("text/plain", "[password]\nvalue = \"h7nter2Xq\"\n"),
        ("text/plain", "[db.password]\nvalue = \"h7nter2Xq\"\nx = 1\n"),
        ("text/plain", "[[password]]\nvalue = 'h7nter2Xq'\n"),
        ("text/plain", "[secrets]\nfoo = \"h7nter2Xq\"\n"),
        ("text/plain", "[password]\ndescription = \"a\"\nvalue = h7nter2Xq\n"),
        ("text/plain", "[passwords]\nada = h7nter2Xq\n"),
        ("text/plain", "spring.datasource.password=h7nter2Xq\n"),
        ("text/plain", "spring.datasource.password=h7nter2Xq\nspring.x=1"),
        ("text/plain", "a=1\nspring.datasource.password = h7nter2Xq\n"),
        ("text/plain", "spring.datasource.password: h7nter2Xq\n"),
        ("text/plain", "db.default.password=\"h7nter2Xq\"\n"),
        ("text/plain", "java -Dspring.datasource.password=h7nter2Xq -jar x"),
        ("text/plain", "{\"a\":{\"spring.datasource.password\":\"h7nter2Xq\"}}"),
        ("text/plain", "{\"spring.datasource.password\": {\"value\": \"h7nter2Xq\"}}"),
        ("text/plain", "password: &pw h7nter2Xq\nx: *pw\n"),
        ("text/plain", "password: !!str h7nter2Xq\n"),
        ("text/plain", "password: &a !!str 'h7nter2Xq'\n"),
        ("text/plain", "password: ! h7nter2Xq\n"),
        ("text/plain", "x:\n  - password: &p \"h7nter2Xq\"\n"),
        ("text/plain", "\"password\": !!str h7nter2Xq\n"),
        ("text/plain", "{password: h7nter2Xq, a: 1}\n"),
        ("text/plain", "db: {user: a, password: h7nter2Xq}\n"),
        ("text/plain", "passwords: [h7nter2Xq, b]\n"),
        ("text/plain", "passwords: [\"h7nter2Xq\", b]\n"),
    ])
    func valuesOfSettings(type: String, text: String) { HiddenPlace.check(text, type: type) }

    @Test(arguments: [
        ("text/plain", "password: &p\n  value: h7nter2Xq\n"),
        ("text/plain", "password: !!str |\n  h7nter2Xq\n"),
        ("text/plain", "env:\n- name: DB_PASSWORD\n  value: h7nter2Xq\n- name: A\n  value: b\n"),
        ("text/plain", "  - name: ADMIN_PASSWORD\r\n    value: \"h7nter2Xq\"\r\n"),
    ])
    func blocksOfYAML(type: String, text: String) { HiddenPlace.check(text, type: type, inJSON: false) }

    @Test(arguments: [
        ("text/plain", "password: !vault |\n  \n"),
        ("text/plain", "password: !Ref DbPassword\n"),
        ("text/plain", "password: *anchor\n"),
        ("text/plain", "password: !Sub \"${DbPassword}\"\n"),
        ("text/plain", "[password]\nmin-length = 8\npolicy = \"strong1\"\n"),
        ("text/plain", "[tokens]\nmax = 4096\n"),
        ("text/plain", "tokens = [\"the\", \"cat\"]\n"),
        ("text/plain", "password = [\"is too short\"]\n"),
        ("text/plain", "spring.datasource.password=${DB_PASSWORD}\n"),
        ("text/plain", "x.token.next=1\nx.token.length=12\n"),
        ("text/plain", "config.password = get(1)\n"),
        ("text/plain", "user.password = user.newPassword1\n"),
        ("text/plain", "the token(abc) and password(x) of key(1)\n"),
        ("text/plain", "[Token]\nname = foo\n"),
        ("text/plain", "a list of tokens: [the, cat, sat12]\n"),
        ("text/plain", "key: [a, b]\n"),
    ])
    func settingsWithoutASecret(type: String, text: String) { HiddenPlace.stays(text, type: type) }
}
