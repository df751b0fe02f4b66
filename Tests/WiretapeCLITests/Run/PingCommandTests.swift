import Foundation
import TapeTestSupport
import Testing
@testable import WiretapeCLI

@Suite struct PingCommandTests {
    @Test func aProxyIsKnownWithAndWithoutAPassword() throws {
        let folder = try TemporaryFolder()
        for variables in [[:], ["WIRETAPE_PROXY_AUTH": "user:password"]] {
            let (program, port) = try Wiretape.listening(["record", folder.file("a.json")], environment: variables)
            defer { program.stop() }
            let end = try Wiretape.run(["ping", "--proxy", "127.0.0.1:\(port)"])
            #expect(end.status == 0 && end.outputText == "wiretape listens on 127.0.0.1:\(port).\n", "\(end.errors)")
            #expect(try Wiretape.run(["ping"], environment: ["WIRETAPE_PROXY": "localhost:\(port)"]).status == 0)
        }
    }

    @Test func thePortOfSessionsIsKnown() throws {
        let served = try ServedSessions()
        #expect(try Wiretape.run(["ping", "--proxy", served.shared]).status == 0)
    }

    @Test func somethingElseIsNotWaitedFor() throws {
        let origin = try Python.origin("counting_origin.py")
        defer { origin.program.stop() }
        let end = try Wiretape.run(["ping", "--proxy", "127.0.0.1:\(origin.port)", "--wait", "3600"])
        #expect(end.status == 1 && end.errors.contains("it is not wiretape"))
    }

    @Test func aMissingProxyIsReported() throws {
        let end = try Wiretape.run(["ping", "--proxy", "127.0.0.1:1"])
        #expect(end.status == 1 && end.errors.contains("nothing listens on 127.0.0.1:1"))
        let quiet = try Wiretape.run(["ping", "--proxy", "127.0.0.1:1", "--quiet"])
        #expect(quiet.status == 1 && quiet.errors.isEmpty && quiet.outputText.isEmpty)
        #expect(try Wiretape.run(["ping"]).status == 64)
    }

    @Test func aProxyThatStartsLaterIsWaitedFor() throws {
        let folder = try TemporaryFolder()
        let (first, port) = try Wiretape.listening(["record", folder.file("a.json")])
        _ = try first.end()
        let waiting = try Wiretape.start(["ping", "--proxy", "127.0.0.1:\(port)", "--wait", "60"])
        defer { waiting.stop() }
        let proxy = try Wiretape.start(["record", folder.file("b.json"), "--listen", "127.0.0.1:\(port)"])
        defer { proxy.stop() }
        #expect(try waiting.wait().status == 0)
    }
}
