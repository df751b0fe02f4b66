import CassetteModel
import ClientCapabilities
import Foundation
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct DoctorCommandTests {
    @Test func itPrintsItsFindingsAndExitsWith0() throws {
        let end = try Wiretape.run(["doctor"])
        #expect(end.status == 0 && end.errors.isEmpty, "\(end.errors)")
        #expect(end.outputText.hasPrefix("wiretape \(Version.current) on ") && end.outputText.contains("authority"))
    }

    @Test func programsReadIt() throws {
        let end = try Wiretape.run(["doctor", "--json", "--require", "authority"])
        #expect(end.status == 0, "\(end.errors)")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(end.output)) as? [String: Any])
        #expect((object["capabilities"] as? [Any])?.isEmpty == false)
    }

    @Test func unmetRequirementExitsWith1() throws {
        let folder = try TemporaryFolder()
        let end = try Wiretape.run(["doctor", "--require", "authority", "--require", "system-trust", "--ca-dir", folder.file("ca")])
        #expect(end.status == 1)
        #expect(end.errors.contains("\"authority\" is required") && end.errors.contains("\"system-trust\" is required"), "\(end.errors)")
        #expect(try folder.names(in: ".") == [])
    }

    @Test func otherRequirementsAreWrongUsage() throws { #expect(try Wiretape.run(["doctor", "--require", "luck"]).status == 64) }
}

@Suite struct CheckupPageTests {
    private func page(_ change: (inout CheckupReadings) -> Void = { _ in }) -> CheckupPage {
        CheckupPage(checkup: Checkup(CheckupFixtures.readings(change)))
    }

    @Test func itsLinesFitTheScreen() {
        let advice = NamespaceAdvice(NamespaceObstacle(step: .unshareUser, number: 1), NamespaceFacts(seccomp: 2))
        for page in [self.page(), self.page { $0.obstacle = advice }, self.page { $0.facts.swift = nil }] {
            for line in page.lines { #expect(line.count <= CheckupPage.width && line.last != " ", "\(line)") }
            #expect(page.lines.joined().unicodeScalars.allSatisfy { $0.isASCII })
        }
    }

    @Test func fatalCapabilitiesComeFirst() throws {
        let lines = self.page().lines
        #expect(lines.first == "wiretape \(Version.current) on Linux")
        #expect(lines.contains("ok       swift      6.3.1, the one in PATH."))
        let headings = lines.filter { $0.hasPrefix("URLSession with Swift 6.3.1: ") }.map { $0.dropFirst(29) }
        #expect(headings == ["ends or hangs the process", "does not work", "works in part", "works"])
        let fatal = try #require(lines.firstIndex(of: "  download tasks that a URLProtocol answers"))
        let next = try #require(lines.firstIndex(of: "URLSession with Swift 6.3.1: does not work"))
        #expect(fatal < next)
        #expect(lines.joined(separator: " ").contains("(Swift before 6.3.2.)"))
    }

    @Test func textContinuesAfterTheHead() {
        let lines = CheckupPage.wrapped(String(repeating: "word ", count: 30), after: "head    ")
        #expect(lines.count == 3 && lines[0].hasPrefix("head    word") && lines[1].hasPrefix("        word"))
        #expect(CheckupPage.wrapped(String(repeating: "x", count: 100), after: "  ") == ["  " + String(repeating: "x", count: 100)])
        #expect(CheckupPage.wrapped("", after: "a") == ["a"])
    }

    /// A path or a variable can contain any character.
    @Test func controlCharactersDoNotReachTheTerminal() {
        let page = self.page { $0.bundles = [.init(variable: "A", path: "/a\u{1B}[2J", hasAuthority: nil)] }
        #expect(!page.lines.joined().contains("\u{1B}"))
    }

    @Test func programsGetOneObject() throws {
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(self.page { $0.proxyListens = false }.json.utf8)) as? [String: Any])
        #expect(object["system"] as? String == "linux" && object["swift"] as? String == "6.3.1" && object["libcurl"] as? String == "7.88.1")
        let findings = try #require(object["findings"] as? [[String: Any]])
        #expect(findings.last?["mark"] as? String == "problem" && findings.last?["remedy"] != nil)
        #expect((object["capabilities"] as? [Any])?.count == self.page().checkup.report.capabilities.count)
    }
}
