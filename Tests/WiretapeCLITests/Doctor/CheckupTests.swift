import ClientCapabilities
import Testing

@testable import WiretapeCLI

@Suite struct CheckupTests {
    private func finding(_ name: String, _ change: (inout CheckupReadings) -> Void) -> CheckupFinding? {
        Checkup(CheckupFixtures.readings(change)).findings.first { $0.name == name }
    }

    @Test func aMachineOnWhichAllIsWell() {
        let checkup = Checkup(CheckupFixtures.readings())
        #expect(checkup.findings.map(\.name) == ["swift", "libcurl", "namespace", "isolation", "authority", "system"])
        #expect(checkup.findings.allSatisfy { $0.mark == .ok && $0.remedy == nil })
        #expect(checkup.missing(CheckupRequirement.allCases) == [])
    }

    @Test func missingPartIsANoteWithARemedy() {
        let advice = NamespaceAdvice(reason: "REASON", remedy: "REMEDY")
        let changes: [(String, (inout CheckupReadings) -> Void)] = [
            ("swift", { $0.facts.swift = nil }), ("libcurl", { $0.facts.libcurl = nil }), ("namespace", { $0.obstacle = advice }),
            ("system", { $0.facts.trustsAuthority = false }), ("system", { $0.facts.trustsAuthority = nil }),
        ]
        for (name, change) in changes {
            let finding = self.finding(name, change)
            #expect(finding?.mark == .note && finding?.remedy?.isEmpty == false, "\(name)")
        }
        #expect(self.finding("namespace") { $0.obstacle = advice }?.text.contains("REASON") == true)
        #expect(self.finding("authority") { $0.authority = .missing }?.mark == .note)
    }

    @Test(arguments: [
        (CheckupReadings.Authority.unreadable("\"x\" is no certificate."), "is no certificate"),
        (.present(until: 1_700_000_000, warning: nil), "expired on 2023-11-14"),
        (.present(until: 1_800_000_000, warning: nil), "expired on"),
        (.present(until: 2_000_000_000, warning: "the key can be read by others."), "can be read"),
    ])
    func anAuthorityThatCannotBeUsedIsAProblem(authority: CheckupReadings.Authority, text: String) {
        let finding = self.finding("authority") { $0.authority = authority }
        #expect(finding?.mark == .problem && finding?.text.contains(text) == true)
    }

    @Test func variablesThatNameRootsAreLookedInto() {
        let checkup = Checkup(
            CheckupFixtures.readings {
                $0.bundles = [
                    .init(variable: "A", path: "/a", hasAuthority: true), .init(variable: "B", path: "/b", hasAuthority: false),
                    .init(variable: "C", path: "/c", hasAuthority: nil), .init(variable: "D", path: "/d", hasAuthority: true),
                ]
            })
        let findings = checkup.findings.suffix(3)
        #expect(findings.map(\.mark) == [.problem, .ok, .note] && findings.map(\.name) == ["C", "roots", "roots"])
        #expect(findings.first?.text.contains("\"/c\"") == true)
        #expect(findings.dropFirst().first?.text.contains("A, D") == true && findings.last?.text.contains("B") == true)
    }

    @Test func aProxyInCapitalsAloneIsIgnoredByLibcurl() {
        #expect(self.finding("HTTP_PROXY") { $0.variables = ["HTTP_PROXY": "http://a:1"] }?.mark == .problem)
        #expect(self.finding("HTTP_PROXY") { $0.variables = ["HTTP_PROXY": "http://a:1", "http_proxy": "http://a:1"] } == nil)
    }

    @Test func aProxyWithoutAListenerIsAProblem() {
        #expect(self.finding("proxy") { $0.proxyListens = false }?.mark == .problem)
        #expect(self.finding("proxy") { $0.proxyListens = true }?.mark == .ok)
    }

    @Test func exceptionsForThisMachineAreReported() {
        #expect(self.finding("no_proxy") { $0.variables = ["http_proxy": "http://a:1", "NO_PROXY": "localhost"] }?.mark == .note)
        #expect(self.finding("no_proxy") { $0.variables = ["http_proxy": "http://a:1", "NO_PROXY": "x.test"] } == nil)
        #expect(self.finding("no_proxy") { $0.variables = ["NO_PROXY": "localhost"] } == nil, "without a proxy nothing goes past it")
    }

    @Test func eachUnmetRequirementIsALine() {
        let checkup = Checkup(
            CheckupFixtures.readings {
                $0.authority = .missing
                $0.facts.trustsAuthority = false
                $0.facts.permitsNamespace = false
                $0.obstacle = NamespaceAdvice(reason: "REASON", remedy: "REMEDY")
            })
        #expect(checkup.missing([.swift, .libcurl]) == [])
        let lines = checkup.missing([.namespace, .authority, .systemTrust, .https])
        #expect(lines.count == 4 && lines[0] == "\"namespace\" is required: not permitted: REASON: REMEDY.")
        #expect(lines[3].contains("WIRETAPE_REVERSE"))
    }

    @Test func requirementThatTheSystemLacksIsReported() {
        let checkup = Checkup(CheckupFixtures.readings { $0.facts = PlatformFacts(system: .macOS, swift: SwiftRelease(6, 2)) })
        #expect(checkup.findings.allSatisfy { $0.name != "libcurl" && $0.name != "namespace" })
        #expect(checkup.missing([.namespace]) == ["\"namespace\" is required, but this system does not have it: omit it."])
    }
}
