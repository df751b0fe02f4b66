import Testing

@testable import CassetteRedaction

/// Manifests of Kubernetes, commands of Windows and csh, and files of hashes.
@Suite struct ManifestPlacesTests {
    @Test(arguments: [
        "kind: Secret\nstringData:\n  value: h7nter2Xq\n", "stringData:\n  config: h7nter2Xq\n  b: true\n",
        "apiVersion: v1\nkind: Secret\ndata:\n  foo: aDdudGVyMlhx\n", "data:\n  foo: h7nter2Xq\ntype: Opaque\nkind: Secret\n",
        "kind: ConfigMap\ndata:\n  a: b2\n---\nkind: Secret\ndata:\n  foo: h7nter2Xq\n",
        "items:\n- kind: Secret\n  data:\n    foo: \"h7nter2Xq\"\n- kind: ConfigMap\n  data:\n    bar: x1\n",
    ])
    func valuesOfManifests(text: String) {
        let redacted = RedactionFixtures.body(text, type: "application/yaml")
        #expect(redacted.contains("{{secret:1}}") && !redacted.contains("h7nter2Xq") && !redacted.contains("aDdudGVyMlhx"), "\(redacted)")
        #expect(!redacted.contains("{{secret:2}}"), "\(redacted)")
        #expect(RedactionFixtures.body(redacted, type: "application/yaml") == redacted)
    }

    @Test func eachManifestOfAFileIsRead() {
        let text =
            "kind: Secret\ndata:\n  a: h7nter2Xq\n---\ndata:\n  b: second7Xq\nkind: Secret\n---\nkind: ConfigMap\ndata:\n  c: third3Xq\n"
        let expected = text.replacing("h7nter2Xq", with: "{{secret:1}}").replacing("second7Xq", with: "{{secret:2}}")
        #expect(RedactionFixtures.body(text, type: "application/yaml") == expected)
    }

    @Test(arguments: [
        "kind: ConfigMap\ndata:\n  foo: h7nter2Xq\n", "kind: SecretStore\ndata:\n  foo: h7nter2Xq\n",
        "kind: Secret\nmetadata:\n  data:\n    foo: h7nter2Xq\n", "kind: Secret\n---\nkind: ConfigMap\ndata:\n  foo: h7nter2Xq\n",
        "kind: ConfigMap\ndata:\n  foo: h7nter2Xq\n---\nkind: Secret\n",
        "items:\n- kind: Secret\n  type: Opaque\n- kind: ConfigMap\n  data:\n    foo: h7nter2Xq\n",
        "kind: Secret agents\ndata:\n  foo: h7nter2Xq\n",
    ])
    func otherManifestsStay(text: String) { HiddenPlace.stays(text, type: "application/yaml") }

    @Test(arguments: [
        "setx API_KEY h7nter2Xq", "setx DB_PASSWORD \"h7nter2Xq\" /M\n", "C:\\>setx API_KEY h7nter2Xq", "setenv API_TOKEN h7nter2Xq\n",
        "ConvertTo-SecureString \"h7nter2Xq\" -AsPlainText -Force", "$p = ConvertTo-SecureString -String 'h7nter2Xq' -AsPlainText",
    ])
    func commandsOfShells(text: String) { HiddenPlace.check(text, type: "text/plain", inJSON: !text.contains("\\")) }

    @Test(arguments: [
        "setx PATH h7nter2Xq", "setx API_KEY %VALUE%", "the env token here", "setenv EDITOR vim2abc", "ConvertTo-SecureString $password",
        "ConvertTo-SecureString \"$env:PW\" -AsPlainText",
    ])
    func otherCommandsStay(text: String) { HiddenPlace.stays(text, type: "text/plain") }

    @Test(arguments: [
        (
            "bob:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\nada:{SSHA}b2xkc2FsdHlwYXNzd29yZA==\n",
            "bob:{SHA}{{password:1}}\nada:{SSHA}{{password:2}}\n"
        ),
        ("bob:$apr1$x8Vq1$WZ5aVfxpNt9P1y6E0O7gJ/\n", "bob:$apr1${{password:1}}\n"),
        ("bob:$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC\n", "bob:$2y${{password:1}}\n"),
        ("root:$6$salt$hashhashhash12:19000:0:99999:7:::\n", "root:$6${{password:1}}:19000:0:99999:7:::\n"),
    ])
    func filesOfHashes(text: String, expected: String) { #expect(RedactionFixtures.body(text, type: "text/plain") == expected) }

    @Test(arguments: ["note:{A}b2c3d4e5f6\n", "bob:$5 and more words\n", "price:$12$\n", "x:{SHA}\n"])
    func otherLinesStay(text: String) { HiddenPlace.stays(text, type: "text/plain") }
}
