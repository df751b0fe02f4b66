import Testing

@testable import Wiretape

@Suite struct LoadingRuleTests {
    /// What is not taken goes to the network: everything is, but for what the system reads or connects by itself.
    private static let table: [(scheme: String?, upgrade: String?, apple: Bool, linux: Bool)] = [
        ("http", nil, true, true), ("HTTPS", nil, true, true), ("https", "h2c", true, true), ("ftp", nil, true, true),
        (nil, nil, true, true),
        ("ws", nil, false, true), ("wss", nil, false, true), ("https", "websocket", false, true), ("http", "h2c, WebSocket", false, true),
        ("data", nil, false, false), ("file", nil, false, false),
    ]

    @Test func requestsThatAreTaken() {
        for row in Self.table {
            #expect(LoadingRule.takes(scheme: row.scheme, upgrade: row.upgrade, on: .apple) == row.apple, "\(row)")
            #expect(LoadingRule.takes(scheme: row.scheme, upgrade: row.upgrade, on: .linux) == row.linux, "\(row)")
        }
    }

    @Test(arguments: URLSessionPlatform.allCases) func whatIsTakenIsAnsweredOrRefusedWithANextStep(platform: URLSessionPlatform) throws {
        for task in LoadingRule.TaskKind.allCases {
            let refusal = LoadingRule.refusal(scheme: "https", upgrade: nil, task: task, on: platform)
            switch task {
            case .data, .upload: #expect(refusal == nil)
            case .download: #expect((refusal == nil) == (platform == .apple))
            case .other: #expect(try #require(refusal).contains("use a data or an upload task"))
            }
        }
        for (scheme, upgrade) in [("wss", nil), ("http", "websocket")] {
            #expect(try #require(LoadingRule.refusal(scheme: scheme, upgrade: upgrade, task: .data, on: platform)).hasPrefix("web sockets"))
        }
        #expect(try #require(LoadingRule.refusal(scheme: "ftp", upgrade: nil, task: .data, on: platform)).hasPrefix("only http and https"))
    }
}
