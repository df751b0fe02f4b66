import Foundation
import Testing
@testable import WiretapeCLI
import TapeTestSupport

/// `env`, read by the shells and programs for which it is meant.
@Suite struct EnvCommandTests {
    private let folder: TemporaryFolder
    private var environment: [String: String]

    init() throws {
        self.folder = try TemporaryFolder()
        self.environment = ["WIRETAPE_CA_DIR": self.folder.file("it's a folder/ca")]
    }

    /// The environment of a child of a shell that has read the lines.
    private func variables(_ line: String, _ more: [String: String] = [:]) throws -> [String: String] {
        let script = "wiretape=$1; \(line)\nexec python3 -c 'import json, os; print(json.dumps(dict(os.environ)))'"
        let end = try ExternalProgram.run(
            "/bin/sh", ["-c", script, "sh", try Programs.wiretape()], environment: self.environment.merging(more) { $1 })
        try #require(end.status == 0 && end.errors.isEmpty, "\(end.errors)")
        return try #require(try JSONSerialization.jsonObject(with: Data(end.output)) as? [String: String])
    }

    @Test func aShellTakesAllOver() throws {
        let variables = try self.variables("eval \"$(\"$wiretape\" env --proxy 127.0.0.1:7070)\"", ["NO_PROXY": "localhost,x.test"])
        for name in ["http_proxy", "HTTPS_PROXY", "ALL_PROXY"] { #expect(variables[name] == "http://127.0.0.1:7070") }
        #expect(variables["NO_PROXY"] == "x.test" && variables["NODE_USE_ENV_PROXY"] == "1")
        #expect(variables["PERL_LWP_ENV_PROXY"] == "1" && variables["MOJO_PROXY"] == "1")
        let bundle = try #require(variables["SSL_CERT_FILE"])
        #expect(bundle.hasPrefix(self.folder.file("it's a folder/ca/trust/bundle-")))
        let names = [
            "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "AWS_CA_BUNDLE", "PIP_CERT",
            "CARGO_HTTP_CAINFO", "DENO_CERT", "PERL_LWP_SSL_CA_FILE", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "BUNDLE_SSL_CA_CERT",
            "NIX_SSL_CERT_FILE", "SYSTEM_CERTIFICATE_PATH",
        ]
        for name in names { #expect(variables[name] == bundle, "\(name)") }
        #expect(variables["HTTPLIB2_CA_CERTS"] == nil)
        #expect(variables["JAVA_TOOL_OPTIONS"]?.contains("-Dhttps.proxyPort=7070 -Dhttp.nonProxyHosts=") == true)
    }

    @Test func anEvalWithoutQuotesTakesAllOverToo() throws {
        let plain = try self.variables("eval $(\"$wiretape\" env --proxy 127.0.0.1:7070)")
        let quoted = try self.variables("eval \"$(\"$wiretape\" env --proxy 127.0.0.1:7070)\"")
        let names = ChildEnvironment.proxyNames + ChildTrust.names + ["NODE_USE_ENV_PROXY", "WGETRC", "JAVA_TOOL_OPTIONS"]
        for name in names { #expect(plain[name] != nil && plain[name] == quoted[name], "\(name)") }
    }

    @Test func takenOverTwiceIsTheSameButForTheBundlesName() throws {
        let line = "eval \"$(\"$wiretape\" env --proxy 127.0.0.1:7070)\"\n"
        let twice = try self.variables(line + line, ["JAVA_TOOL_OPTIONS": "-Xmx1g"])
        #expect(twice["JAVA_TOOL_OPTIONS"]?.hasPrefix("-Xmx1g ") == true)
        #expect(twice["JAVA_TOOL_OPTIONS"]?.components(separatedBy: "trustStore=").count == 2)
        let thrice = try self.variables(line + line + line, ["JAVA_TOOL_OPTIONS": "-Xmx1g"])
        #expect(twice["SSL_CERT_FILE"] == thrice["SSL_CERT_FILE"])
    }

    @Test func phpReadsItsOwnSettingsAndTheBundle() throws {
        let line = "eval \"$(\"$wiretape\" env --proxy 127.0.0.1:7070)\"\n"
        let plain = try self.variables(line)
        let folder = try #require(plain["PHP_INI_SCAN_DIR"]?.dropFirst())
        #expect(plain["PHP_INI_SCAN_DIR"]?.first == ":" && folder.hasPrefix("/"))
        let text = try String(contentsOfFile: "\(folder)/wiretape.ini", encoding: .utf8)
        #expect(text.contains("curl.cainfo = \"\(plain["SSL_CERT_FILE"] ?? "")\"\n"))
        #expect(try self.variables(line, ["PHP_INI_SCAN_DIR": "/a:/b"])["PHP_INI_SCAN_DIR"] == "/a:/b:\(folder)")
    }

    @Test func pythonLoadsTheBundle() throws {
        let script = "import os, ssl; c = ssl.create_default_context(); print(any('Wiretape' in str(a) for a in c.get_ca_certs()))"
        let end = try ExternalProgram.run(
            "/bin/sh", ["-c", "eval \"$(\"$1\" env --proxy [::1]:7070)\"; exec python3 -c \"$2\"", "sh", try Programs.wiretape(), script],
            environment: self.environment)
        #expect(end.status == 0 && end.outputText == "True\n", "\(end.errors)")
    }

    @Test func theAddressCanComeFromTheEnvironmentWithItsCredentials() throws {
        let end = try Wiretape.run(
            ["env"],
            environment: self.environment.merging(["WIRETAPE_PROXY": "0.0.0.0:7070", "WIRETAPE_PROXY_AUTH": "bori:x@y"]) { $1 })
        #expect(end.outputText.hasPrefix("export http_proxy='http://bori:x%40y@127.0.0.1:7070';\n"), "\(end.outputText)\(end.errors)")
        #expect(end.outputText.contains("-Dhttp.proxyHost=127.0.0.1 ") && !end.outputText.contains("-Dhttp.proxyHost=bori"))
    }

    @Test func withoutAnAddressItIsWrongUsage() throws {
        for value in ["", "nowhere"] {
            let end = try Wiretape.run(["env"], environment: self.environment.merging(["WIRETAPE_PROXY": value]) { $1 })
            #expect(end.status == 64 && end.errors.contains("127.0.0.1:7070"), "\(end.errors)")
        }
        #expect(!self.folder.exists("it's a folder"))
    }

    @Test func otherShellsHaveTheirOwnLines() throws {
        let fish = try Wiretape.run(
            ["env", "--proxy", "127.0.0.1:1"], environment: self.environment.merging(["SHELL": "/bin/fish"]) { $1 })
        #expect(fish.outputText.hasPrefix("set -gx http_proxy 'http://127.0.0.1:1';\n") && fish.outputText.contains(#"/it\'s a folder/"#))
        let power = try Wiretape.run(["env", "--proxy", "127.0.0.1:1", "--shell", "powershell"], environment: self.environment)
        #expect(power.outputText.hasPrefix("$env:http_proxy = 'http://127.0.0.1:1'\n") && power.outputText.contains("/it''s a folder/"))
    }
}

@Suite struct ShellTests {
    private static let values = ["", "plain", "a b", "it's", "\"x\" $HOME `id` \\ \\' * ~", "a\nb", "-Dx='a b'", "한국어 é"]

    @Test(arguments: Self.values)
    func aRealShellReadsTheValueBack(value: String) throws {
        let line = Shell.sh.line("X", value)
        let end = try ExternalProgram.run("/bin/sh", ["-c", "\(line)\nexec sh -c 'printf %s \"$X\"'"])
        #expect(end.status == 0 && end.outputText == value, "\(line)")
    }

    @Test(arguments: [("it's \\ x", #"set -gx X 'it\'s \\ x';"#), ("$a", "set -gx X '$a';")])
    func fishEndsAStringAtAQuoteAlone(value: String, line: String) {
        #expect(Shell.fish.line("X", value) == line)
    }

    @Test(arguments: [("it's", "$env:X = 'it''s'"), ("a\u{2019}b", "$env:X = 'a\u{2019}\u{2019}b'"), ("$a `b", "$env:X = '$a `b'")])
    func powerShellDoublesEachOfItsQuotes(value: String, line: String) {
        #expect(Shell.powershell.line("X", value) == line)
    }

    @Test(arguments: [("/usr/bin/fish", Shell.fish), ("/bin/zsh", .sh), ("/bin/fish-like", .sh), (nil, .sh)] as [(String?, Shell)])
    func theShellIsTheUsers(path: String?, shell: Shell) {
        #expect(Shell.standard(environment: path.map { ["SHELL": $0] } ?? [:]) == shell)
    }

    @Test func eachShellHasAWayToTakeTheLinesOver() {
        #expect(Shell.sh.evaluation("wiretape env") == "eval \"$(wiretape env)\"")
        #expect(Shell.fish.evaluation("wiretape env") == "wiretape env | source")
        #expect(Shell.powershell.evaluation("wiretape env").hasSuffix("Invoke-Expression"))
    }
}
