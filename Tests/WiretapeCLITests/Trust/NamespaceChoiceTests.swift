import Foundation
import TapeTrust
import Testing
@testable import WiretapeCLI
import TapeTestSupport

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

    @Test func failedPreparationIsAnErrorOnlyIfTheNamespaceWasRequested() throws {
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

#if os(Linux)

@Suite struct NamespaceProbeTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func obstacle(_ files: [String], folders: [String] = []) throws -> NamespaceObstacle? {
        let bundle = try self.folder.write("ours".utf8, to: "bundle.pem")
        let holder = self.folder.file("empty")
        try FileManager.default.createDirectory(atPath: holder, withIntermediateDirectories: true)
        let plan = NamespacePlan(bundle: bundle, holder: holder, files: files, folders: folders, roots: [])
        return NamespaceProbe.obstacle(to: plan, program: try Programs.wiretape())
    }

    @Test(.enabled(if: Namespaces.arePermitted, "mount namespaces are forbidden here")) func aPlanThatWorksHasNone() throws {
        #expect(try self.obstacle([self.folder.write([], to: "a.crt")]) == nil)
    }

    @Test(.enabled(if: Namespaces.arePermitted, "mount namespaces are forbidden here")) func oneThatDoesNotSaysWhere() throws {
        #expect(try self.obstacle([self.folder.file("none.crt")]) == NamespaceObstacle(step: .cover, number: 2))
        #expect(try self.obstacle([], folders: [self.folder.file("none")]) == NamespaceObstacle(step: .folder, number: 2))
    }

    @Test func nothingToCoverIsOneToo() throws { #expect(try self.obstacle([])?.step == .nothingToCover) }

    @Test func aProgramThatSaysNothingIsOneToo() throws {
        let plan = NamespacePlan(bundle: "b", holder: "h", files: ["f"], folders: [], roots: [])
        #expect(NamespaceProbe.obstacle(to: plan, program: try Programs.find("false"))?.step == .unknown)
    }
}
#endif
