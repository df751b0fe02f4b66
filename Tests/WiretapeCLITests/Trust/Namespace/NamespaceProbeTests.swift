#if os(Linux)
import Testing

@testable import WiretapeCLI

@Suite struct NamespaceProbeTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func obstacle(_ files: [String], folders: [String] = []) throws -> NamespaceObstacle? {
        let bundle = try self.folder.write("ours".utf8, to: "bundle.pem")
        let plan = NamespacePlan(bundle: bundle, holder: self.folder.path, files: files, folders: folders, roots: [])
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
