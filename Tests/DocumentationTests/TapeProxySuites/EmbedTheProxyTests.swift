import Foundation
import TapeProxy
import TapeTestSupport
import Testing

@Suite struct EmbedTheProxyTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    @Test func aProxyRecordsAndStops() async throws {
        let file = self.folder.file("pets.json")
        // snippet: proxy-record
        let cassette = try OpenCassette(file, mode: .all, version: "my tool 1.0")
        let proxy = try await ProxyServer.start(ProxyConfiguration(), cassette: cassette)
        print("http_proxy=http://\(proxy.address)")
        // … run what is to be recorded …
        await proxy.stop()
        try cassette.close()
        // snippet end
        #expect(proxy.port > 0)
        #expect(try RecordedCassette(path: file).count == 0)
    }

    @Test func aProxyReplays() async throws {
        let file = Repository.path("Cassettes/pets.json")
        // snippet: proxy-replay
        let cassette = try OpenCassette(file, mode: .none, version: "my tool 1.0")
        let proxy = try await ProxyServer.start(ProxyConfiguration(), cassette: cassette)
        // snippet end
        let answer = try Self.curl("http://127.0.0.1:42427/pets", proxy: proxy.address)
        await proxy.stop()
        #expect(answer.contains("보리"))
        // snippet: proxy-verdict
        let verdict = cassette.session.verdict()
        print(verdict.hits, "answered", verdict.misses, "missed", verdict.unused.count, "left")
        // snippet end
        #expect(verdict.hits == 1)
        #expect(verdict.unused.count == 1)
    }

    @Test func aProxyEndsWithItsTask() async throws {
        let session = try CassetteSession(mode: .passthrough)
        let proxy = try await ProxyServer.start(ProxyConfiguration(), session: session)
        func work(through address: String) async { #expect(address == proxy.address) }
        // snippet: proxy-run
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await proxy.run() }
            await work(through: proxy.address)
            group.cancelAll()
        }
        // snippet end
        #expect(try Self.curl("http://127.0.0.1:42427/pets", proxy: proxy.address).isEmpty, "nobody listens any more")
    }

    private static func curl(_ url: String, proxy: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["curl", "-sS", "--noproxy", "", "--max-time", "20", "-x", "http://\(proxy)", url]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: bytes, as: UTF8.self)
    }
}
