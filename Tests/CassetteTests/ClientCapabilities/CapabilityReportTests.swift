@testable import ClientCapabilities
import Foundation
@testable import TapeBytes
import Testing

@Suite struct CapabilityReportTests {
    private func report(_ swift: SwiftRelease?) -> CapabilityReport { CapabilityReport(PlatformFacts(system: .linux, swift: swift)) }

    @Test func capabilitiesThatEndTheProcessAreFatal() {
        let fatal = Set(self.report(SwiftRelease(6, 3, 1)).fatal.map(\.subject))
        #expect(
            fatal == [
                .adapterDownloads, .adapterAsync, .adapterRedirects, .adapterThreads, .adapterNestedTasks, .adapterCancellation,
                .basicChallenge,
                .streamedUploads, .nilUploads, .streamErrors, .trailers, .invalidatedSessions,
            ])
    }

    @Test func aCorrectedReleaseIsToldApart() {
        #expect(self.report(SwiftRelease(6, 3, 1))[.basicChallenge]?.isFatal == true)
        #expect(self.report(SwiftRelease(6, 3, 2))[.basicChallenge]?.state == .limited)
        #expect(self.report(SwiftRelease(6, 3, 9))[.trailers]?.isFatal == true)
        #expect(self.report(SwiftRelease(6, 4))[.trailers]?.isFatal == false)
        #expect(self.report(nil)[.basicChallenge]?.isFatal == true, "what is not known may be the worst")
    }

    @Test(
        arguments: [
            (true, false, Capability.State.yes, "among the system's roots, which"), (false, true, .yes, "mount namespace of its own"),
            (false, false, .limited, "not permitted here"), (nil, nil, .limited, "not known"),
        ] as [(Bool?, Bool?, Capability.State, String)])
    func howHTTPSIsRecordedDependsOnTheMachine(trusts: Bool?, permits: Bool?, state: Capability.State, sentence: String) throws {
        let facts = PlatformFacts(system: .linux, permitsNamespace: permits, trustsAuthority: trusts)
        let capability = try #require(CapabilityReport(facts)[.recordHTTPS])
        #expect(capability.state == state && capability.sentence.contains(sentence))
        #expect(CapabilityReport(facts).capabilities.filter { $0.subject == .recordHTTPS }.count == 1)
    }

    @Test func libcurlSaysWhatItWasBuiltWith() {
        func report(_ protocols: Set<String>, hasHTTP2: Bool) -> CapabilityReport {
            let libcurl = LibcurlFacts(version: "8.14.1", protocols: protocols, hasHTTP2: hasHTTP2)
            return CapabilityReport(PlatformFacts(system: .linux, libcurl: libcurl))
        }
        #expect(report(["https", "ws"], hasHTTP2: true)[.webSocket]?.state == .yes)
        #expect(report(["https"], hasHTTP2: true)[.webSocket]?.state == .no)
        #expect(report([], hasHTTP2: true)[.http2]?.state == .yes && report([], hasHTTP2: false)[.http2]?.state == .no)
        #expect(self.report(nil)[.http2] == nil, "nobody knows")
    }

    @Test(arguments: [PlatformFacts.System.macOS, .iOS]) func applesPlatformsHaveTheirOwn(system: PlatformFacts.System) {
        let report = CapabilityReport(PlatformFacts(system: system, swift: SwiftRelease(6, 2)))
        #expect(report.fatal.isEmpty)
        #expect(report[.proxyDictionary]?.state == .yes && report[.adapterWebSocket]?.state == .no && report[.trailers] == nil)
    }

    @Test func itIsWrittenAsJSON() throws {
        var writer = JSONWriter()
        let report = self.report(SwiftRelease(6, 3, 1))
        report.write(into: &writer)
        let objects = try #require(try JSONSerialization.jsonObject(with: Data(writer.bytes)) as? [[String: Any]])
        #expect(objects.count == report.capabilities.count)
        let trailers = try #require(objects.first { $0["subject"] as? String == "trailers" })
        #expect(trailers["state"] as? String == "no" && trailers["fatal"] as? Bool == true)
        #expect(trailers["releases"] as? String == "Swift before 6.4" && (trailers["remedy"] as? String)?.isEmpty == false)
    }
}
