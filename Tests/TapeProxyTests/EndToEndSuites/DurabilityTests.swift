import Foundation
import Platform
import TapeTestSupport
import Testing

@testable import TapeProxy

/// The effect on the traffic if a recording must be on the disk before an answer ends.
@Suite struct DurabilityTests {
    @Test func withFullDurabilityTheAnswerEndsAfterTheFileIsSynced() throws {
        let origin = try RawOrigin { connection in
            for path in ["/1", "/2"] {
                try connection.expectRequest("GET \(path)")
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let proxy = try RunningProxy { $0.durability = .full }
        let client = try proxy.connect()
        for count in 1...2 {
            try client.send(origin.request("GET", "/\(count)"))
            #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasSuffix("ok"))
            #expect(try RecordedExchanges.read(proxy.folder.file("tape.json")).count == count)
        }
        origin.finish()
    }

    #if compiler(>=6.3) && os(Linux)
    /// Runs in a process of its own, because a limit on the size of files applies to the whole process.
    @Test(arguments: [ProxyConfiguration.DiskFullPolicy.pass, .refuse])
    func trafficOnAFullDiskPassesOrIsRefusedAsAsked(policy: ProxyConfiguration.DiskFullPolicy) async {
        let refuses = policy == .refuse
        await #expect(processExitsWith: .success) { [refuses = refuses as Bool] in
            signal(SIGXFSZ, SIG_IGN)
            let body = String(repeating: "x", count: 30_000)
            let origin = try RawOrigin { connection in
                for _ in 0..<(refuses ? 1 : 2) {
                    try connection.expectRequest("GET /")
                    try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 30000\r\n\r\n\(body)")
                }
            }
            let proxy = try RunningProxy {
                $0.diskFullPolicy = refuses ? .refuse : .pass
                $0.durability = .full
            }
            var limit = rlimit(rlim_cur: 20_000, rlim_max: 20_000)
            getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            limit.rlim_cur = 20_000
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            // An answer that did not reach the disk is refused, or cut if it has begun.
            let first = try proxy.ask(origin.request("GET", "/", "Connection: close"))
            #expect(first.hasSuffix(body) == !refuses)
            let second = try proxy.ask(origin.request("GET", "/", "Connection: close"))
            #expect(
                refuses ? second.hasPrefix("HTTP/1.1 507 Insufficient Storage\r\nWiretape-Error: disk-full\r\n") : second.hasSuffix(body))
            #expect(proxy.recorder?.currentStatus.isDiskFull == true)
            origin.finish()
        }
    }
    #endif
}
