import TapeTrust
import Testing

@testable import WiretapeCLI

@Suite struct NamespaceChoiceTests {
    private static let authority = Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)
    private static let plan = NamespacePlan(bundle: "b", holder: "h", files: ["f"], folders: [], roots: [])
    private static let advice = NamespaceAdvice(reason: "REASON", remedy: "REMEDY")

    private func make(_ means: TrustMeans, isInstalled: Bool = false, obstacle: NamespaceAdvice? = nil) throws -> NamespaceChoice {
        try NamespaceChoice.make(means, authority: Self.authority, systemRoots: { isInstalled ? Self.authority : [] }) { _ in
            obstacle
        } prepare: {
            Self.plan
        }
    }

    @Test func autoTakesANamespaceWhereItCanBeHad() throws {
        #expect(try self.make(.auto) == NamespaceChoice(plan: Self.plan))
        #expect(try self.make(.auto, obstacle: Self.advice) == NamespaceChoice(notice: Self.advice.notice))
    }

    @Test func autoNeedsNoneWhereTheSystemTrustsTheAuthority() throws {
        #expect(try self.make(.auto, isInstalled: true) == NamespaceChoice())
        #expect(try self.make(.namespace, isInstalled: true) == NamespaceChoice(plan: Self.plan), "it was asked for")
    }

    @Test func envTriesNothing() throws { #expect(try self.make(.env, obstacle: Self.advice) == NamespaceChoice()) }

    @Test func aNamespaceThatWasAskedForAndCannotBeHadIsAnError() throws {
        #expect(trustProblem { _ = try self.make(.namespace, obstacle: Self.advice) } == Self.advice.refusal)
    }

    @Test func whatCannotBePreparedStopsOnlyWhoAskedForIt() throws {
        func make(_ means: TrustMeans) throws -> NamespaceChoice {
            try NamespaceChoice.make(means, authority: Self.authority, systemRoots: { [] }) { _ in
                nil
            } prepare: { () throws(TrustError) in
                throw TrustError("no room.")
            }
        }
        #expect(try make(.auto) == NamespaceChoice(notice: "no room."))
        #expect(trustProblem { _ = try make(.namespace) } == "no room.")
    }

    #if os(Linux)
    @Test func aProgramThatIsThereIsRunInIt() throws {
        let choice = NamespaceChoice(plan: Self.plan)
        #expect(choice.command(["sh", "x"], path: "/nowhere:/bin") == ["/proc/self/exe"] + Self.plan.arguments(for: ["sh", "x"]))
        #expect(choice.command(["/bin/sh"]).first == "/proc/self/exe")
        #expect(choice.command(["none"], path: "/bin") == ["none"] && choice.command(["/bin/none"]) == ["/bin/none"])
        #expect(NamespaceChoice().command(["sh"]) == ["sh"])
    }

    @Test func theSystemsRootsAreRead() { #expect(NamespaceChoice.systemRoots().isEmpty == SystemRoots.files().isEmpty) }
    #endif
}
