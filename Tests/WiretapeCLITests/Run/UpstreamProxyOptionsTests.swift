import TapeProxy
import TapeTestSupport
import Testing
@testable import WiretapeCLI

@Suite struct UpstreamProxyOptionsTests {
    private func chain(_ arguments: [String], _ environment: [String: String] = [:]) throws -> (UpstreamChain, notices: [String]) {
        var notices: [String] = []
        let chain = try UpstreamProxyOptions.parse(arguments).chain(environment: environment) { notices.append($0) }
        return (chain, notices)
    }

    @Test func theOptionComesBeforeTheShell() throws {
        let (chain, _) = try self.chain(["--upstream-proxy", "socks5://a:1"], ["https_proxy": "http://b:2"])
        #expect(chain.http?.description == "socks5://a:1" && chain.https?.description == "socks5://a:1")
        #expect(try self.chain([], ["https_proxy": "http://b:2"]).0.https?.description == "http://b:2")
    }

    @Test func aPasswordOnTheCommandLineIsRefused() {
        let problem = #expect(throws: (any Error).self) { try self.chain(["--upstream-proxy", "http://me:hidden@a:1"]) }
        let message = problem.map { UpstreamProxyOptions.fullMessage(for: $0) } ?? ""
        #expect(!message.contains("hidden"), "\(message)")
        #expect(message.contains("WIRETAPE_UPSTREAM_PROXY_AUTH") && message.contains("--upstream-proxy-auth-file"))
    }

    @Test func thePasswordComesFromTheFileOrTheVariable() throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("file:pw\n".utf8), to: "auth")
        let variable = ["WIRETAPE_UPSTREAM_PROXY_AUTH": "variable:pw"]
        let option = ["--upstream-proxy", "http://a:1"]
        #expect(try self.chain(option, variable).0.http?.credentials == Array("variable:pw".utf8))
        let (fromFile, _) = try self.chain(option + ["--upstream-proxy-auth-file", folder.file("auth")], variable)
        #expect(fromFile.https?.credentials == Array("file:pw".utf8))
        let shell = ["http_proxy": "http://own:pw@a:1"]
        #expect(try self.chain([], shell).0.http?.credentials == Array("own:pw".utf8))
        #expect(try self.chain([], variable.merging(shell) { $1 }).0.http?.credentials == Array("variable:pw".utf8))
        #expect(try self.chain([], variable.merging(shell) { $1 }).0.https == nil)
        #expect(throws: TrustError.self) { try self.chain(option, ["WIRETAPE_UPSTREAM_PROXY_AUTH": "nocolon"]) }
    }

    @Test func anUnusableVariableIsReportedOnce() throws {
        let (chain, notices) = try self.chain([], ["all_proxy": "socks4://a:1"])
        #expect(chain.isEmpty && notices.count == 1 && notices[0].hasPrefix("all_proxy has the scheme \"socks4\""))
    }

    @Test func theProgramIsNotGivenThePassword() throws {
        let trust = ChildTrust(bundle: "b", javaStore: nil, wgetSettings: "w", notices: [])
        let environment = ChildEnvironment.through(
            proxy: "http://127.0.0.1:1", trust: trust, parent: ["WIRETAPE_UPSTREAM_PROXY_AUTH": "me:pw"])
        #expect(environment["WIRETAPE_UPSTREAM_PROXY_AUTH"] == nil)
    }
}
