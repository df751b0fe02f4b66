import ArgumentParser
import Testing

@testable import WiretapeCLI

@Suite struct ProxyOptionsTests {
    @Test func withoutOptionsAFreePortOfLoopbackIsTaken() throws {
        let options = try ProxyOptions.parse([])
        #expect(options.listen == ListenAddress(host: "127.0.0.1", port: 0))
        #expect(options.proxyAuth == nil)
        #expect(options.grace == 5)
        #expect(!options.allowRemote && !options.quiet && !options.verbose && !options.json)
    }

    @Test func everyOptionIsTaken() throws {
        let options = try ProxyOptions.parse([
            "--listen", "[::]:7070", "--allow-remote", "--proxy-auth", "bori:secret", "--json", "-v", "--grace", "3600",
        ])
        #expect(options.listen == ListenAddress(host: "::", port: 7070))
        #expect(options.proxyAuth == "bori:secret")
        #expect(options.grace == 3600)
        #expect(options.allowRemote && options.verbose && options.json)
        #expect(try ProxyOptions.parse(["-q", "--grace", "0"]).quiet)
    }

    @Test(arguments: [
        ["--listen", "nowhere"], ["--grace", "3601"], ["--grace=-1"], ["--grace", "x"], ["--quiet", "--verbose"], ["--proxy-auth"],
    ])
    func whatMeansNothingIsWrongUsage(arguments: [String]) {
        do {
            _ = try ProxyOptions.parse(arguments)
            Issue.record("taken")
        } catch {
            #expect(ProxyOptions.exitCode(for: error).rawValue == ExitStatus.usage)
        }
    }
}
