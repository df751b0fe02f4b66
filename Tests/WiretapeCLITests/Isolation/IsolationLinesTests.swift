import Foundation
@testable import TapeIsolation
import Testing

@testable import WiretapeCLI

@Suite struct IsolationLinesTests {
    private static func report(_ change: (inout IsolationReport) -> Void = { _ in }) -> IsolationReport {
        var report = IsolationReport()
        report.proxied = 14
        report.seen = 3
        report.programs = ["curl", "node"]
        change(&report)
        return report
    }

    private static let refusal = IsolationReport.Refusal(
        transport: .udp, host: "1.1.1.1", port: 443, reason: .datagram,
        program: IsolatedProgram(path: "/usr/lib/chromium/chromium", id: 77, user: 1000), count: 2)

    @Test func aRunWithoutRefusalsIsOneLine() {
        let lines = IsolationLines(report: Self.report(), isReplay: false).lines
        #expect(lines == ["isolated: 14 requests through the proxy, 3 seen without it (2 programs), nothing refused."])
        #expect(IsolationLines(report: Self.report(), isReplay: true).verdict.hasPrefix("isolated, no network used: "))
    }

    @Test func refusalsNameProgramAndCount() {
        let lines = IsolationLines(report: Self.report { $0.refused = [Self.refusal] }, isReplay: true).lines
        #expect(lines[0].hasSuffix("refused: 2 attempts to get past it."))
        #expect(lines[1].hasPrefix("refused: udp 1.1.1.1:443 × 2 by chromium (pid 77); this is QUIC"))
    }

    @Test func aPassageIsNotOffline() throws {
        let lines = IsolationLines(report: Self.report { $0.passed = [.init(host: "::1", port: 5432)] }, isReplay: true)
        #expect(lines.verdict.hasPrefix("isolated: ") && lines.verdict.contains("passed through: tcp [::1]:5432 × 1"))
        let json = try #require(try JSONSerialization.jsonObject(with: Data(lines.json)) as? [String: Any])
        #expect(json["offline"] as? Bool == false)
    }

    @Test func manyRefusalsAreCutInTextAndWholeInJSON() throws {
        let refused = (0..<30).map { IsolationReport.Refusal(transport: .tcp, host: "a.test", port: UInt16($0), reason: .silent) }
        let lines = IsolationLines(
            report: Self.report {
                $0.refused = refused
                $0.unlisted = 5
            }, isReplay: false)
        #expect(lines.refusals.count == IsolationLines.limit + 1 && lines.refusals.last == "refused: 15 more.")
        let json = try #require(try JSONSerialization.jsonObject(with: Data(lines.json)) as? [String: Any])
        #expect((json["refused"] as? [Any])?.count == 30 && json["refusals"] as? Int == 35)
    }

    @Test func theMemberIsAddedToAReport() throws {
        let lines = IsolationLines(report: Self.report { $0.refused = [Self.refusal] }, isReplay: true)
        let whole = lines.added(toJSON: Array("{\n  \"hits\": 1\n}\n".utf8))
        let json = try #require(try JSONSerialization.jsonObject(with: Data(whole)) as? [String: Any])
        #expect(json["hits"] as? Int == 1)
        let isolation = try #require(json["isolation"] as? [String: Any])
        let refused = try #require((isolation["refused"] as? [[String: Any]])?.first)
        #expect(refused["program"] as? String == "/usr/lib/chromium/chromium" && refused["pid"] as? Int == 77)
        #expect(whole.last == 0x0A)
    }

    @Test func anInheritedSocketIsNamedByItsDescriptor() throws {
        let sockets = [
            IsolationReport.Refusal(transport: .tcp, host: "2001:db8::1", port: 80, reason: .inherited, descriptor: 3),
            .init(transport: .family(17), host: "", port: nil, reason: .inherited, descriptor: 12),
        ]
        let lines = IsolationLines(report: Self.report { $0.refused = sockets }, isReplay: true)
        #expect(
            lines.refusals[0].hasPrefix("refused: descriptor 3 (tcp [2001:db8::1]:80), a socket of this machine's network; it is closed"))
        #expect(lines.refusals[1].hasPrefix("refused: descriptor 12 (packet), a socket"))
        let json = try #require(try JSONSerialization.jsonObject(with: Data(lines.json)) as? [String: Any])
        let refused = try #require(json["refused"] as? [[String: Any]])
        #expect(json["refusals"] as? Int == 2 && refused.map { $0["descriptor"] as? Int } == [3, 12])
        #expect(
            refused[0]["host"] as? String == "2001:db8::1" && refused[1]["host"] == nil && refused[1]["protocol"] as? String == "packet")
        #expect(lines.check(isFailure: true).problems.count == 2)
    }

    @Test func adviceFitsTheReason() {
        func advice(_ reason: IsolationReport.Reason, _ port: UInt16) -> String {
            IsolationLines.advice(.init(transport: .tcp, host: "a.test", port: port, reason: reason))
        }
        #expect(advice(.silent, 8080).contains("sent nothing for two seconds") && advice(.notHTTP, 8080).contains("this is not HTTP"))
        // No option passes these through.
        for reason in [IsolationReport.Reason.silent, .notHTTP] { #expect(!advice(reason, 53).contains("--allow")) }
    }

    @Test func theCheckFailsOnlyIfEscapesFailTheRun() {
        let lines = IsolationLines(report: Self.report { $0.refused = [Self.refusal] }, isReplay: true)
        #expect(lines.check(isFailure: true).problems.count == 1 && lines.check(isFailure: false).problems.isEmpty)
        #expect(lines.check(isFailure: false).name.contains("2 attempts refused"))
    }
}
