import Testing

/// What a program that is run through the proxy finds in its environment.
@Suite struct EnvironmentTests {
    private func environment(_ parent: [String: String], _ options: [String] = []) throws -> [String: String] {
        let folder = try TemporaryFolder()
        let end = try Wiretape.run(["record", folder.file("x.json")] + options + ["--", "env"], environment: parent)
        try #require(end.status == 0, "\(end.errors)")
        var variables: [String: String] = [:]
        for line in end.outputText.split(separator: "\n") {
            let pair = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if pair.count == 2 { variables[String(pair[0])] = String(pair[1]) }
        }
        return variables
    }

    @Test func allNamesOfTheProxyAreSetAndTheRestIsKept() throws {
        let variables = try self.environment(["OWN": "kept = so", "http_proxy": "http://other.test:1", "NO_COLOR": ""])
        let proxy = try #require(variables["http_proxy"])
        #expect(proxy.hasPrefix("http://127.0.0.1:"))
        for name in ["HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] { #expect(variables[name] == proxy) }
        #expect(variables["OWN"] == "kept = so")
        #expect(variables["NO_COLOR"] == "")
        #expect(variables["no_proxy"] == nil)
    }

    @Test func exceptionsForLoopbackGoAndOthersStay() throws {
        let variables = try self.environment([
            "NO_PROXY": "localhost, 127.0.0.1,example.test,[::1],.internal,127.0.0.1:8080,10.0.0.0/8", "no_proxy": "*",
        ])
        #expect(variables["NO_PROXY"] == "example.test,.internal,10.0.0.0/8")
        #expect(variables["no_proxy"] == "")
    }

    @Test func aListenerOnEveryAddressIsReachedByLoopback() throws {
        let variables = try self.environment(["WIRETAPE_PROXY_AUTH": "bori:x@y"], ["--listen", "0.0.0.0:0", "--allow-remote"])
        #expect(variables["http_proxy"]?.hasPrefix("http://bori:x%40y@127.0.0.1:") == true, "\(variables["http_proxy"] ?? "")")
    }
}
